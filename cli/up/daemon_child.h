#pragma once

// One daemon that `muster up` keeps running: how to start it, and what is known of it.
//
// The child gets a session of its own (no terminal's Ctrl-C reaches it), /dev/null as input, its
// log as output, and descriptor 3, on which it writes "ready". Thread promise: one owner.
// Invariants: a started child is reaped by Reap() alone; its pidfd names that very process.

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::cli {

struct DaemonSpec {
  std::string name;                    // for people: "the controller", "node2's agent"
  std::string program;                 // a path
  std::vector<std::string> arguments;  // without the program's name and --ready-fd
  std::string log;                     // a path; appended to
  int socket = -1;  // one that listens, as its descriptor 4; the caller keeps it open
};

class DaemonChild {
 public:
  static absl::StatusOr<DaemonChild> Start(const DaemonSpec& spec,
                                           const std::vector<std::string>& environment);

  pid_t pid() const { return pid_; }
  // Readable when the child ends.
  int end_fd() const { return pidfd_.get(); }
  // Readable when the child is ready, or ends.
  int ready_fd() const { return ready_.get(); }
  // True when the child has reported that it is ready; call it when ready_fd() is readable, once.
  bool TakeReady();
  // SIGTERM or SIGKILL; a child that has ended is not hit.
  void Signal(int signal) const;
  // "exit code 1" or "signal 9"; nothing while it runs.
  std::optional<std::string> Reap() const;
  // The last line that it wrote to its log since it was started; empty when it wrote none.
  std::string LastLogLine() const;

 private:
  pid_t pid_ = 0;
  UniqueFd pidfd_;
  UniqueFd ready_;
  UniqueFd log_;
  off_t log_start_ = 0;
};

// The path of `name` in `directory` or, where daemons are installed, the sbin beside that.
// NotFound names the place.
absl::StatusOr<std::string> ProgramNear(const std::string& directory, const std::string& name);
// The same for the directory of our own executable.
absl::StatusOr<std::string> SiblingProgram(const std::string& name);

}  // namespace muster::cli
