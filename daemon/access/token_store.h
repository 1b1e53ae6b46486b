#pragma once

// Tokens: signed texts that speak for a user for a while, to the gateway and whoever else has
// nothing but a text to show.
//
// A token is a JSON Web Token, signed by a key of this controller's; it counts while the store has
// it, so that a revoked one is gone at once and a lost store lets nobody in. The store is one
// private file beside the state, or a text that controllers share, of which one writes; a token
// itself is nowhere kept. Thread promise: safe from any thread; Mint and Revoke wait for the disk.
// Invariants: (1) what Mint returned is in the file; (2) Judge takes no token that has ended, was
// revoked, or whose user has become somebody else; (3) of a user there are at most kTokensMax.
// Those of the site's issuer are judged by themselves (daemon/access/site), and end by themselves.

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/access/site/site_tokens.h"
#include "scheduler/model/job/job_spec.h"
#include "scheduler/runtime/clock.h"
#include "scheduler/runtime/identity/signing_key.h"
#include "scheduler/runtime/mutex.h"

namespace muster::daemon {

// The metadata of a call in which its token travels.
inline constexpr const char* kTokenMetadata = "muster-token";

struct TokenGrant {
  std::string id;  // names the token, and opens nothing
  User user;
  Time issued = Time();
  Time expires = Time();
  bool read_only = false;
  bool may_operate = true;  // it may speak for an operator
};

// What the key is made of, and where controllers that share a store keep its text.
struct TokenShelf {
  std::string secret;  // the cluster's; empty: the key is a file of its own
  std::function<absl::StatusOr<std::string>()> read = {};  // null: the text is a private file
  std::function<absl::Status(const std::string& store)> write = {};
};

class TokenStore {
 public:
  static constexpr std::size_t kTokensMax = 100;
  static constexpr std::chrono::hours kLifetimeDefault{12};
  static constexpr std::chrono::hours kLifetimeMax{366 * 24};

  // With the store in `directory` or on `shelf`. A key in `directory`, as older versions made one,
  // counts before the one that follows from the cluster's secret. `clock` outlives it.
  static absl::StatusOr<std::unique_ptr<TokenStore>> Open(const std::string& directory,
                                                          const std::string& cluster,
                                                          const Clock& clock,
                                                          TokenShelf shelf = {});
  // Takes tokens of this issuer of the site's, too, and of no other; null: of none.
  void Trust(std::shared_ptr<const SiteTokens> site);
  // The issuer in force; null: none.
  [[nodiscard]] std::shared_ptr<const SiteTokens> site() const;
  // Reads again what another controller may have written on the shelf.
  absl::Status Refresh();

  struct Minted {
    TokenGrant grant;
    std::string token;
  };
  // InvalidArgument on a lifetime that is none; ResourceExhausted when the user has too many.
  absl::StatusOr<Minted> Mint(const User& user, std::chrono::milliseconds lifetime, bool read_only);

  // Whom the token speaks for. Unauthenticated, in words that do not repeat it, when for nobody.
  [[nodiscard]] absl::StatusOr<TokenGrant> Judge(std::string_view token) const;
  // Not OK once the token of that name has ended or was revoked.
  [[nodiscard]] absl::Status StillGood(const std::string& id) const;

  // Those that count, of the user or of all, by their ends.
  [[nodiscard]] std::vector<TokenGrant> List(std::optional<uid_t> of) const;
  // NotFound when there is no such token, or it is not of `of`.
  absl::Status Revoke(const std::string& id, std::optional<uid_t> of);

 private:
  TokenStore(std::string path, TokenShelf shelf, SigningKey key, std::string issuer,
             const Clock& clock)
      : path_(std::move(path)),
        shelf_(std::move(shelf)),
        key_(std::move(key)),
        issuer_(std::move(issuer)),
        clock_(clock) {}
  absl::Status Load() ABSL_EXCLUSIVE_LOCKS_REQUIRED(writes_);
  absl::Status LoadShared() ABSL_EXCLUSIVE_LOCKS_REQUIRED(writes_);
  absl::Status Write(std::map<std::string, TokenGrant> grants)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(writes_);
  void DropEnded(std::map<std::string, TokenGrant>& grants) const;
  [[nodiscard]] static absl::StatusOr<TokenGrant> JudgeSite(const SiteTokens& site,
                                                            std::string_view token);

  const std::string path_;
  const TokenShelf shelf_;
  const SigningKey key_;
  const std::string issuer_;
  const Clock& clock_;
  std::map<std::string, TokenGrant> Counting() const;
  Mutex writes_;  // one change of the store after the other
  mutable Mutex mutex_;
  std::map<std::string, TokenGrant> grants_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<const SiteTokens> site_ ABSL_GUARDED_BY(mutex_);
  // What was in force before: who judges by it is not the one to wait for its end.
  std::shared_ptr<const SiteTokens> before_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace muster::daemon
