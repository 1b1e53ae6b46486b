#include "daemon/access/token_store.h"

#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "daemon/access/rights/local_accounts.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/file.h"
#include "scheduler/runtime/identity/compact_signature.h"
#include "scheduler/runtime/identity/private_file.h"
#include "scheduler/runtime/mac.h"

namespace muster::daemon {
namespace {

using Claims = nlohmann::json;

constexpr std::size_t kIdBytes = 9;  // twelve letters
// Names a token of the site's issuer, with its end.
constexpr const char* kSiteMark = "oidc:";

std::int64_t Seconds(Time time) {
  return std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
}

// The registered claims of RFC 7519, and of the user the number that the machine knows.
Claims ClaimsOf(const TokenGrant& grant, const std::string& issuer) {
  return {{"iss", issuer},
          {"sub", grant.user.name},
          {"uid", grant.user.uid},
          {"iat", Seconds(grant.issued)},
          {"exp", Seconds(grant.expires)},
          {"jti", grant.id},
          {"scope", grant.read_only ? "read" : "all"}};
}

absl::Status NotGood(const char* why) {
  return absl::UnauthenticatedError(absl::StrCat("token: ", why, "; make another: muster token"));
}

absl::StatusOr<TokenGrant> GrantOf(const Claims& row) {
  TokenGrant grant;
  const Claims id = row.value("id", Claims());
  const Claims name = row.value("user", Claims());
  const Claims uid = row.value("uid", Claims());
  const Claims issued = row.value("issued", Claims());
  const Claims expires = row.value("expires", Claims());
  const Claims read_only = row.value("read_only", Claims());
  if (!id.is_string() || !name.is_string() || !uid.is_number_unsigned() ||
      !issued.is_number_integer() || !expires.is_number_integer() || !read_only.is_boolean()) {
    return absl::DataLossError("an entry that is no token");
  }
  grant.id = id.get<std::string>();
  grant.user = User{uid.get<std::uint32_t>(), 0, name.get<std::string>()};
  grant.issued = Time(std::chrono::milliseconds(issued.get<std::int64_t>()));
  grant.expires = Time(std::chrono::milliseconds(expires.get<std::int64_t>()));
  grant.read_only = read_only.get<bool>();
  return grant;
}

// The Ed25519 key that follows from a secret: its PKCS #8 form (RFC 8410), of which the last 32
// bytes are the key itself.
absl::StatusOr<SigningKey> KeyOf(const std::string& secret) {
  constexpr std::string_view kHead(
      "\x30\x2e\x02\x01\x00\x30\x05\x06\x03\x2b\x65\x70\x04\x22\x04\x20", 16);
  const std::string key = absl::StrCat(std::string(kHead), MacOf(secret, {"muster tokens"}));
  return SigningKey::FromPem(absl::StrCat("-----BEGIN PRIVATE KEY-----\n", absl::Base64Escape(key),
                                          "\n-----END PRIVATE KEY-----\n"));
}

}  // namespace

absl::StatusOr<std::unique_ptr<TokenStore>> TokenStore::Open(const std::string& directory,
                                                             const std::string& cluster,
                                                             const Clock& clock, TokenShelf shelf) {
  const bool shared = shelf.read != nullptr;
  const std::string file = directory + "/token.key";
  const bool own = !shared && (shelf.secret.empty() || access(file.c_str(), F_OK) == 0);
  ASSIGN_OR_RETURN(SigningKey key, own ? SigningKey::Open(file, true) : KeyOf(shelf.secret));
  std::unique_ptr<TokenStore> store(
      new TokenStore(shared ? "the store's tokens" : directory + "/tokens.json", std::move(shelf),
                     std::move(key), absl::StrCat("muster:", cluster), clock));
  const MutexLock alone(&store->writes_);
  RETURN_IF_ERROR(store->Load());
  return store;
}

absl::Status TokenStore::Refresh() {
  const MutexLock alone(&writes_);
  return LoadShared();
}

// A leader before this one may have written last.
absl::Status TokenStore::LoadShared() {
  return shelf_.read == nullptr ? absl::OkStatus() : Load();
}

absl::Status TokenStore::Load() {
  const bool shared = shelf_.read != nullptr;
  const absl::StatusOr<std::string> text = shared ? shelf_.read() : ReadPrivateFile(path_);
  if (absl::IsNotFound(text.status()) || (shared && text.ok() && text->empty())) {
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(text.status());
  const Claims rows = Claims::parse(*text, nullptr, false);
  if (!rows.is_array()) {
    return absl::DataLossError(
        absl::StrCat(path_, ": not a list of tokens; remove it, and every token with it"));
  }
  std::map<std::string, TokenGrant> grants;
  for (const Claims& row : rows) {
    absl::StatusOr<TokenGrant> grant =
        row.is_object() ? GrantOf(row) : absl::DataLossError("an entry that is no token");
    if (!grant.ok()) {
      return absl::DataLossError(absl::StrCat(path_, ": ", std::string(grant.status().message()),
                                              "; remove the file, and every token with it"));
    }
    std::string id = grant->id;
    grants.emplace(std::move(id), *std::move(grant));
  }
  DropEnded(grants);
  const MutexLock lock(&mutex_);
  grants_ = std::move(grants);
  return absl::OkStatus();
}

std::map<std::string, TokenGrant> TokenStore::Counting() const {
  const MutexLock lock(&mutex_);
  std::map<std::string, TokenGrant> grants = grants_;
  DropEnded(grants);
  return grants;
}

absl::Status TokenStore::Write(std::map<std::string, TokenGrant> grants) {
  Claims rows = Claims::array();
  for (const auto& [id, grant] : grants) {
    rows.push_back({{"id", id},
                    {"user", grant.user.name},
                    {"uid", grant.user.uid},
                    {"issued", grant.issued.time_since_epoch().count()},
                    {"expires", grant.expires.time_since_epoch().count()},
                    {"read_only", grant.read_only}});
  }
  const std::string text = rows.dump(1) + "\n";
  RETURN_IF_ERROR(shelf_.read == nullptr ? WriteFileAtomically(path_, text) : shelf_.write(text));
  const MutexLock lock(&mutex_);
  grants_ = std::move(grants);
  return absl::OkStatus();
}

void TokenStore::DropEnded(std::map<std::string, TokenGrant>& grants) const {
  const Time now = clock_.Now();
  std::erase_if(grants, [now](const auto& entry) { return entry.second.expires <= now; });
}

absl::StatusOr<TokenStore::Minted> TokenStore::Mint(const User& user,
                                                    std::chrono::milliseconds lifetime,
                                                    bool read_only) {
  if (lifetime < std::chrono::seconds(1) || lifetime > kLifetimeMax) {
    return absl::InvalidArgumentError("a token lives for 1 second to 366 days");
  }
  ASSIGN_OR_RETURN(const std::string random, RandomBytes(kIdBytes));
  Minted made;
  made.grant = {absl::WebSafeBase64Escape(random), user, clock_.Now(), clock_.Now() + lifetime,
                read_only};
  ASSIGN_OR_RETURN(made.token, SignCompact(key_, ClaimsOf(made.grant, issuer_).dump()));
  const MutexLock alone(&writes_);
  RETURN_IF_ERROR(LoadShared());
  std::map<std::string, TokenGrant> grants = Counting();
  const auto owned = std::count_if(grants.begin(), grants.end(), [&user](const auto& entry) {
    return entry.second.user.uid == user.uid;
  });
  if (static_cast<std::size_t>(owned) >= kTokensMax) {
    return absl::ResourceExhaustedError(absl::StrCat(
        user.name, " has ", kTokensMax, " tokens already: end some by muster token --revoke ID"));
  }
  grants.emplace(made.grant.id, made.grant);
  RETURN_IF_ERROR(Write(std::move(grants)));
  return made;
}

void TokenStore::Trust(std::shared_ptr<const SiteTokens> site) {
  std::shared_ptr<const SiteTokens> gone;  // ends here, without the lock
  const MutexLock lock(&mutex_);
  gone = std::move(before_);
  before_ = std::move(site_);
  site_ = std::move(site);
}

std::shared_ptr<const SiteTokens> TokenStore::site() const {
  const MutexLock lock(&mutex_);
  return site_;
}

absl::StatusOr<TokenGrant> TokenStore::Judge(std::string_view token) const {
  const absl::StatusOr<std::string> payload = OpenCompact(key_, token);
  if (!payload.ok()) {
    if (const std::shared_ptr<const SiteTokens> site = this->site(); site != nullptr) {
      return JudgeSite(*site, token);
    }
  }
  const Claims claims =
      payload.ok() ? Claims::parse(*payload, nullptr, false) : Claims(Claims::value_t::discarded);
  if (!claims.is_object() || claims.value("iss", Claims()) != issuer_ ||
      !claims.value("jti", Claims()).is_string()) {
    return NotGood("not one of this cluster's");
  }
  TokenGrant grant;
  {
    const MutexLock lock(&mutex_);
    const auto found = grants_.find(claims.at("jti").get<std::string>());
    if (found == grants_.end()) {
      return NotGood("it has ended or was revoked");
    }
    grant = found->second;
  }
  if (clock_.Now() >= grant.expires) {
    return NotGood("it has ended");
  }
  // What the token itself says must be what the store says of it.
  if (claims != ClaimsOf(grant, issuer_)) {
    return NotGood("not one of this cluster's");
  }
  const User known = UserOf(grant.user.uid);
  if (known.name != grant.user.name) {
    return NotGood("its user is not there any more");
  }
  grant.user = known;
  return grant;
}

absl::StatusOr<TokenGrant> TokenStore::JudgeSite(const SiteTokens& site, std::string_view token) {
  ASSIGN_OR_RETURN(const SiteGrant said, site.Judge(token));
  const absl::StatusOr<User> user = UserNamed(said.user);
  if (!user.ok()) {
    return absl::UnauthenticatedError(
        "token of this site's issuer: its user is not known on the controller's machine");
  }
  if (!site.operators() && (user->uid == 0 || user->uid == geteuid())) {
    return absl::UnauthenticatedError(
        "token of this site's issuer: it speaks for an operator, which [oidc] does not let it; "
        "make one: muster token");
  }
  TokenGrant grant;
  grant.id = absl::StrCat(kSiteMark, said.expires.time_since_epoch().count(), ":", user->name);
  grant.user = *user;
  grant.expires = said.expires;
  grant.may_operate = site.operators();
  return grant;
}

absl::Status TokenStore::StillGood(const std::string& id) const {
  if (absl::StartsWith(id, kSiteMark)) {
    const std::string rest = id.substr(std::string(kSiteMark).size());
    std::int64_t expires = 0;
    return site() != nullptr && absl::SimpleAtoi(rest.substr(0, rest.find(':')), &expires) &&
                   clock_.Now() < Time(Duration(expires))
               ? absl::OkStatus()
               : NotGood("it has ended");
  }
  const MutexLock lock(&mutex_);
  const auto found = grants_.find(id);
  return found == grants_.end() || clock_.Now() >= found->second.expires
             ? NotGood("it has ended or was revoked")
             : absl::OkStatus();
}

std::vector<TokenGrant> TokenStore::List(std::optional<uid_t> of) const {
  std::vector<TokenGrant> list;
  const Time now = clock_.Now();
  {
    const MutexLock lock(&mutex_);
    for (const auto& [id, grant] : grants_) {
      if (grant.expires > now && (!of.has_value() || grant.user.uid == *of)) {
        list.push_back(grant);
      }
    }
  }
  std::sort(list.begin(), list.end(), [](const TokenGrant& a, const TokenGrant& b) {
    return std::tie(a.expires, a.id) < std::tie(b.expires, b.id);
  });
  return list;
}

absl::Status TokenStore::Revoke(const std::string& id, std::optional<uid_t> of) {
  const MutexLock alone(&writes_);
  RETURN_IF_ERROR(LoadShared());
  std::map<std::string, TokenGrant> grants = Counting();
  const auto found = grants.find(id);
  if (found == grants.end() || (of.has_value() && found->second.user.uid != *of)) {
    return absl::NotFoundError(absl::StrCat("no token ", id, " of yours; see muster token --list"));
  }
  grants.erase(found);
  return Write(std::move(grants));
}

}  // namespace muster::daemon
