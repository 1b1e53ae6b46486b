#pragma once

// The session in its job: its server, its use, and its end.
//
// Runs as the job's script. Thread promise: the main thread's. Invariants: the door is open only
// while a program listens at the port, or for a shell alone; a session that cannot be measured is
// not ended.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/frame/verb.h"
#include "scheduler/model/value/time.h"

namespace muster::cli {

enum class WhenIdle { kEnd, kHold };

struct KeptSession {
  std::string script;        // of its server; empty: shells alone
  std::string url;           // {token} in it is replaced
  Duration idle_timeout{0};  // 0: it never ends by itself
  WhenIdle when_idle = WhenIdle::kEnd;
  std::vector<std::string> container = {};  // options of `muster run` for its server, or shells
};

// Until the server ends, the session is idle for too long or its last shell was left; the exit code
// of the job's script.
absl::StatusOr<int> KeepSession(const Invocation& invocation, const KeptSession& session);

// In the job: waits until the session's door is open.
absl::StatusOr<int> AwaitDoor(const Invocation& invocation);

// In the job: a shell on this terminal, which is in the session; in its container, if it has one, a
// shell of the image's instead.
absl::StatusOr<int> EnterSession(const Invocation& invocation,
                                 const std::vector<std::string>& shell);

}  // namespace muster::cli
