#pragma once

// The agent's child processes: the supervisors it spawned, and the orphans that come to it.
//
// As a subreaper the agent inherits the processes of a dead supervisor; a child that is no
// supervisor is such an orphan. Thread promise: the owner thread's; no other thread of the process
// waits for children. Invariant: a supervisor's pid stays known until it was reaped, so that its
// number cannot name another child meanwhile.

#include <sys/types.h>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "agent/supervisor/attempt/attempt_directory.h"
#include "scheduler/runtime/process.h"

namespace muster::agent {

class Children {
 public:
  // Asks the kernel to hand us the orphans among our descendants.
  static absl::Status BecomeSubreaper();

  // Starts `program` `what` `directory` in a session of its own, with nothing on its standard input
  // and its output in the directory's log. An error means that nothing was started.
  absl::StatusOr<pid_t> SpawnSupervisor(const std::string& program,
                                        const std::vector<std::string>& environment,
                                        const AttemptDirectory& directory,
                                        const char* what = "--dir");

  // Starts any other process of ours, which is known as the supervisors are until it was reaped.
  absl::StatusOr<pid_t> SpawnOwn(const SpawnRequest& request);

  // Takes a child that another process has made ours.
  void Add(pid_t pid) { supervisors_.insert(pid); }
  // The same, of one that we may not have heard of, if it is our child.
  void AddIfOurs(pid_t pid);

  // Of all that were started here.
  bool IsSupervisor(pid_t pid) const { return supervisors_.count(pid) != 0; }

  // Reaps every child that has ended. Never waits.
  void Reap();

  // How a reaped supervisor ended, once: "exited with code 3", "was killed by signal 9".
  std::optional<std::string> TakeEnd(pid_t pid);

  // Says that no caller will ask how `pid` ended.
  void Forget(pid_t pid);

 private:
  std::set<pid_t> supervisors_;
  std::set<pid_t> forgotten_;  // of those
  std::map<pid_t, std::string> ends_;
};

}  // namespace muster::agent
