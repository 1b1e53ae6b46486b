#pragma once

// The page's sessions: a one-time code becomes a session, and a session stands for a token.
//
// `muster web` leaves the token in a private file that is named after the code, and prints a link
// with the code; the page brings the code once and gets a session, which it shows instead of the
// token. Sessions live in this process alone: who gets hold of one has nothing when the gateway is
// gone, and with it its port. Invariants: (1) a code counts once, and for kCodeLife; (2) no token
// goes to a browser; (3) there are at most kSessionsMax.

#include <chrono>
#include <map>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "scheduler/runtime/clock.h"
#include "scheduler/runtime/mutex.h"

namespace muster::daemon {

class WebSessions {
 public:
  static constexpr std::chrono::minutes kCodeLife{5};
  static constexpr std::chrono::hours kSessionLife{12};
  static constexpr std::size_t kSessionsMax = 256;

  // `links` is the directory of the private files; empty: there are no links. `clock` outlives it.
  WebSessions(std::string links, const Clock& clock) : links_(std::move(links)), clock_(clock) {}

  // The file of a code, in the directory of links.
  static std::string FileOf(const std::string& code);

  // A session for the token that the code's file holds, which goes; Unauthenticated when there is
  // none.
  absl::StatusOr<std::string> Redeem(const std::string& code);
  // The token of a session; the text itself when it is none.
  [[nodiscard]] std::string TokenOf(const std::string& bearer) const;
  void End(const std::string& session);

 private:
  struct Session {
    std::string token;
    SteadyTime ends;
  };
  const std::string links_;
  const Clock& clock_;
  mutable Mutex mutex_;
  std::map<std::string, Session> sessions_ ABSL_GUARDED_BY(mutex_);  // by their codes
};

}  // namespace muster::daemon
