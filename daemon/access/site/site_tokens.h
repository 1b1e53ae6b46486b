#pragma once

// Tokens that the site's own issuer signed (OpenID Connect): [oidc] of the configuration.
//
//   [oidc]
//   issuer = "https://login.example.org"
//   audience = "muster"
//   jwks = "/etc/muster/jwks.json"      # or "https://login.example.org/keys"
//   user_claim = "preferred_username"   # whose value is the user's name here; default "sub"
//   operators = false                   # whether such a token may speak for an operator
//
// Invariants: (1) a token counts only if one of the issuer's
// keys signed it, by that key's own algorithm, and its issuer, audience and times fit; a header
// that says otherwise, or wants something that we do not know ("crit"), refuses it; (2) an error
// repeats nothing of the token.

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/access/site/key_source.h"
#include "scheduler/model/value/time.h"
#include "scheduler/runtime/clock.h"
#include "scheduler/runtime/config_file.h"
#include "scheduler/runtime/log.h"

namespace muster::daemon {

struct SiteIssuer {
  std::string issuer;  // empty: there is none
  std::string audience;
  std::string jwks;
  std::string user_claim = "sub";
  bool operators = false;
  friend bool operator==(const SiteIssuer&, const SiteIssuer&) = default;
};

// Errors are "FILE:LINE: KEY: PROBLEM".
absl::Status ReadSiteIssuer(ConfigFile& file, SiteIssuer& site);

// Longer ones are not read.
inline constexpr std::size_t kSiteTokenBytesMax = 7168;
// By so much clocks may differ.
inline constexpr std::chrono::seconds kClockSkew{60};

// What a good token says.
struct SiteGrant {
  std::string user;
  Time expires = kNoTime;
};

// Whom a token speaks for, by those keys at that time. Unauthenticated in words for its bearer;
// NotFound when it names a key that is not among them.
absl::StatusOr<SiteGrant> JudgeSiteToken(const SiteIssuer& site, const KeySet& keys,
                                         std::string_view token, Time now);

class SiteTokens {
 public:
  // What is referred to outlives it. REQUIRES: site.issuer is not empty.
  SiteTokens(SiteIssuer site, const Clock& clock, const Logger& log)
      : site_(std::move(site)), clock_(clock), keys_(site_.jwks, log) {}

  [[nodiscard]] absl::StatusOr<SiteGrant> Judge(std::string_view token) const;
  [[nodiscard]] const SiteIssuer& issuer() const { return site_; }
  [[nodiscard]] bool operators() const { return site_.operators; }

 private:
  const SiteIssuer site_;
  const Clock& clock_;
  const KeySource keys_;
};

}  // namespace muster::daemon
