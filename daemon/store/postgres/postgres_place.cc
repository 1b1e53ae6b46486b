#include "daemon/store/postgres/postgres_place.h"

#include <libpq-fe.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace muster::daemon {
namespace {

constexpr std::array<std::string_view, 3> kSecrets = {"password", "sslpassword", "passwd"};

std::string Find(const PostgresPlace& place, std::string_view keyword) {
  for (const auto& [key, value] : place.settings) {
    if (key == keyword) {
      return value;
    }
  }
  return "";
}

bool IsLoopback(const std::string& host) {
  return absl::StartsWith(host, "/") || absl::StartsWith(host, "@") || host == "localhost" ||
         host == "::1" || absl::StartsWith(host, "127.");
}

// Nothing said: a unix socket, unless a service or the environment names a host.
bool StaysHere(const PostgresPlace& place) {
  const std::string hosts = absl::StrCat(Find(place, "host"), Find(place, "host").empty() ? "" : ",",
                                         Find(place, "hostaddr"));
  const std::vector<std::string> named = absl::StrSplit(hosts, ',', absl::SkipEmpty());
  return !named.empty() && std::all_of(named.begin(), named.end(), IsLoopback);
}

}  // namespace

bool IsPostgresUrl(const std::string& url) {
  return absl::StartsWith(url, "postgresql://") || absl::StartsWith(url, "postgres://");
}

absl::StatusOr<PostgresPlace> ReadPostgresUrl(const std::string& url) {
  char* why = nullptr;
  const std::unique_ptr<PQconninfoOption, decltype(&PQconninfoFree)> options(
      PQconninfoParse(url.c_str(), &why), &PQconninfoFree);
  const std::unique_ptr<char, decltype(&PQfreemem)> freed(why, &PQfreemem);
  if (options == nullptr) {
    // libpq repeats the URL, which may hold what nobody should read.
    return absl::InvalidArgumentError(
        "store: not a URL that libpq takes: write postgresql://HOST[:PORT]/DATABASE, with "
        "?service=NAME or ?passfile=FILE for what is secret");
  }
  PostgresPlace place;
  for (const PQconninfoOption* option = options.get(); option->keyword != nullptr; ++option) {
    if (option->val == nullptr || *option->val == '\0') {
      continue;
    }
    if (std::find(kSecrets.begin(), kSecrets.end(), option->keyword) != kSecrets.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("store: the URL has a ", option->keyword,
                       ", which others can read: put it into a file of mode 0600 and write "
                       "?passfile=FILE, or ?service=NAME"));
    }
    place.settings.emplace_back(option->keyword, option->val);
  }
  if (Find(place, "sslmode").empty() && !StaysHere(place)) {
    place.settings.emplace_back("sslmode", "verify-full");
  }
  if (absl::StrContains(Find(place, "host"), ',') && Find(place, "target_session_attrs").empty()) {
    place.settings.emplace_back("target_session_attrs", "read-write");
  }
  const std::string service = Find(place, "service");
  place.text = absl::StrCat("postgresql://", Find(place, "host"), "/", Find(place, "dbname"),
                            service.empty() ? "" : "?service=", service);
  return place;
}

}  // namespace muster::daemon
