#pragma once

// Processes by an identity that survives pid reuse, and starting them without fork.
//
// A pid names a process only until it ends; (pid, start time, boot id) names it for ever. Code that
// kills or adopts by a remembered pid checks the identity first, or holds a pidfd. "Cannot tell" is
// an error here, never "dead": taking a live process for dead is how an attempt runs twice. Thread
// promise: every function is safe from any thread.

#include <sys/types.h>

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster {

struct ProcessIdentity {
  pid_t pid = 0;
  uint64_t start_time_ticks = 0;  // Clock ticks since boot, /proc/PID/stat field 22.
  std::string boot_id;            // /proc/sys/kernel/random/boot_id, a UUID.

  friend bool operator==(const ProcessIdentity&, const ProcessIdentity&) = default;
};

// What we need of /proc/PID/stat (proc(5)).
struct ProcessStat {
  char state = '?';  // R, S, D, Z, T, …
  pid_t parent_pid = 0;
  uint64_t start_time_ticks = 0;
};

// Parses one line of /proc/PID/stat; the command name may hold spaces, parentheses and newlines.
absl::StatusOr<ProcessStat> ParseProcessStat(std::string_view text);

// The UUID of the machine's current boot.
absl::StatusOr<std::string> ReadBootId();

// Who `pid` is now. NotFound when there is no such process.
absl::StatusOr<ProcessIdentity> ReadIdentity(pid_t pid);

// Whether that very process still runs. False when it ended, is a zombie, belongs to an earlier
// boot, or its pid is another process's; an error when /proc cannot tell.
absl::StatusOr<bool> IsAlive(const ProcessIdentity& process);

// A descriptor that names exactly `process`; readable when it ends. NotFound when it is gone.
absl::StatusOr<UniqueFd> OpenPidfd(const ProcessIdentity& process);

// The same of a child of ours that nobody has reaped: until then its pid is no other process's.
absl::StatusOr<UniqueFd> OpenChildPidfd(pid_t child);

// From now on no core of this process is written, and no process of its user may read its memory:
// for a process that holds keys. A program that it executes is as others are.
void HideMemory();

// Sends `signal` through a pidfd: cannot hit another process. NotFound when it has been reaped.
absl::Status SendSignal(const UniqueFd& pidfd, int signal);

// Tells the program that started us that we serve: a line on `fd`, which is then closed. Nothing
// for a descriptor below 0.
void SayReady(int fd);

// Gives the child `to` as a duplicate of our `from`.
struct FdMapping {
  int from = -1;
  int to = -1;
};

struct SpawnRequest {
  std::string program;                   // A path; PATH is not searched.
  std::vector<std::string> arguments;    // argv, the program's own name first.
  std::vector<std::string> environment;  // "NAME=value", the whole of it.
  std::string working_directory;         // Empty: ours.
  std::vector<FdMapping> fds;            // Above 2 the child gets these and no others.
  bool new_session = false;              // setsid(): no terminal's Ctrl-C reaches it.
};

// Starts a child by posix_spawn (vfork-like: the cost does not grow with our memory), with an empty
// signal mask and default signal handling. An exec that fails is an error here, not a child that
// exits. The caller reaps the pid.
absl::StatusOr<pid_t> Spawn(const SpawnRequest& request);

}  // namespace muster
