#include "daemon/access/site/site_tokens.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"

namespace muster::daemon {
namespace {

using Part = nlohmann::json;

absl::Status BadToken(const char* why) {
  return absl::UnauthenticatedError(absl::StrCat("token of this site's issuer: ", why));
}

// A base64url text without padding, in its one spelling.
bool DecodePart(std::string_view text, std::string* bytes) {
  if (!absl::WebSafeBase64Unescape(std::string(text), bytes)) {
    return false;
  }
  return absl::WebSafeBase64Escape(*bytes) == std::string(text);
}

absl::StatusOr<Part> ReadPart(std::string_view text) {
  std::string bytes;
  if (!DecodePart(text, &bytes)) {
    return BadToken("not in the form of a JSON Web Token");
  }
  Part part = Part::parse(bytes, nullptr, false);
  if (!part.is_object()) {
    return BadToken("not in the form of a JSON Web Token");
  }
  return part;
}

std::string WordOf(const Part& part, const std::string& name) {
  const auto found = part.find(name);
  return found != part.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// Seconds since 1970, which may have a fraction; nothing where it is no such number.
bool MomentOf(const Part& claims, const char* name, Time* moment) {
  constexpr double kFarthest = 1e11;
  const auto found = claims.find(name);
  if (found == claims.end() || !found->is_number()) {
    return false;
  }
  const double seconds = found->get<double>();
  if (!(std::fabs(seconds) < kFarthest)) {
    return false;
  }
  *moment = Time(Duration(static_cast<std::int64_t>(seconds * 1000)));
  return true;
}

bool IsMeantFor(const Part& claims, const std::string& audience) {
  const auto found = claims.find("aud");
  if (found == claims.end()) {
    return false;
  }
  return found->is_array() ? std::find(found->begin(), found->end(), audience) != found->end()
                           : *found == audience;
}

absl::StatusOr<SiteGrant> JudgeClaims(const SiteIssuer& site, const Part& claims, Time now) {
  if (WordOf(claims, "iss") != site.issuer) {
    return BadToken("another issuer's");
  }
  if (!IsMeantFor(claims, site.audience)) {
    return BadToken("made for another audience");
  }
  SiteGrant grant;
  if (!MomentOf(claims, "exp", &grant.expires)) {
    return BadToken("it does not say when it ends");
  }
  grant.expires += kClockSkew;
  if (now >= grant.expires) {
    return BadToken("it has ended");
  }
  for (const char* name : {"nbf", "iat"}) {
    Time begins = kNoTime;
    if (claims.contains(name) && (!MomentOf(claims, name, &begins) || begins > now + kClockSkew)) {
      return BadToken("it does not count yet");
    }
  }
  grant.user = WordOf(claims, site.user_claim);
  if (grant.user.empty()) {
    return BadToken("it does not name its user");
  }
  return grant;
}

}  // namespace

absl::Status ReadSiteIssuer(ConfigFile& file, SiteIssuer& site) {
  if (file.KeysUnder("oidc").empty()) {
    return absl::OkStatus();
  }
  const std::pair<const char*, std::string*> keys[] = {{"oidc.issuer", &site.issuer},
                                                       {"oidc.audience", &site.audience},
                                                       {"oidc.jwks", &site.jwks},
                                                       {"oidc.user_claim", &site.user_claim}};
  for (const auto& [key, value] : keys) {
    RETURN_IF_ERROR(file.ReadString(key, value));
    if (value->empty()) {
      return file.ErrorAt(file.Has(key) ? key : "oidc", absl::StrCat(key, " says nothing"));
    }
  }
  RETURN_IF_ERROR(file.ReadBool("oidc.operators", &site.operators));
  const absl::Status place = CheckKeyPlace(site.jwks);
  return place.ok() ? place : file.ErrorAt("oidc.jwks", std::string(place.message()));
}

absl::StatusOr<SiteGrant> JudgeSiteToken(const SiteIssuer& site, const KeySet& keys,
                                         std::string_view token, Time now) {
  const std::size_t first = token.find('.');
  const std::size_t second = first == std::string_view::npos ? first : token.find('.', first + 1);
  std::string signature;
  if (token.size() > kSiteTokenBytesMax || second == std::string_view::npos ||
      !DecodePart(token.substr(second + 1), &signature)) {
    return BadToken("not in the form of a JSON Web Token");
  }
  ASSIGN_OR_RETURN(const Part header, ReadPart(token.substr(0, first)));
  if (header.contains("crit")) {
    return BadToken("it wants something that is not known here");
  }
  const std::string algorithm = WordOf(header, "alg");
  const std::string id = WordOf(header, "kid");
  bool named = false;
  bool verified = false;
  for (const NamedKey& each : keys) {
    if (!id.empty() && each.id != id) {
      continue;
    }
    named = true;
    if (each.key.algorithm() == algorithm &&
        each.key.Verifies(token.substr(0, second), signature)) {
      verified = true;
      break;
    }
  }
  if (!named) {
    return absl::NotFoundError("token of this site's issuer: its key is not known, or not yet");
  }
  if (!verified) {
    return BadToken("none of the issuer's keys signed it");
  }
  ASSIGN_OR_RETURN(const Part claims, ReadPart(token.substr(first + 1, second - first - 1)));
  return JudgeClaims(site, claims, now);
}

absl::StatusOr<SiteGrant> SiteTokens::Judge(std::string_view token) const {
  const absl::StatusOr<std::shared_ptr<const KeySet>> keys = keys_.Now();
  if (!keys.ok()) {
    return absl::UnauthenticatedError(std::string(keys.status().message()));
  }
  absl::StatusOr<SiteGrant> grant = JudgeSiteToken(site_, **keys, token, clock_.Now());
  if (absl::IsNotFound(grant.status())) {
    keys_.Miss();
    return absl::UnauthenticatedError(std::string(grant.status().message()));
  }
  return grant;
}

}  // namespace muster::daemon
