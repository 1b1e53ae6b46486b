#pragma once

// Starting one bound process: clone, bind, exec, and learn how it went.
//
// The child is born in its control group where the kernel can do that; else it enters it first.
// Between fork and exec the child calls async-signal-safe functions only; everything is prepared
// before. What the child has to say (its binding as it sees it, or why it could not be started)
// comes through a close-on-exec pipe: the pipe's end is the exec. The child leads a process
// group of its own in the supervisor's session, or with a terminal a session of its own, and dies
// with the supervisor. Thread promise: the supervisor's thread.

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "agent/supervisor/user_space/job_user.h"
#include "scheduler/runtime/unique_fd.h"
#include "topology/bind/bind.h"

namespace muster::agent {

struct LaunchRequest {
  std::vector<std::string> programs;     // paths, tried in turn as exec along PATH does
  std::vector<std::string> arguments;    // argv
  std::vector<std::string> environment;  // kPidPlaceholder in *_TASK_PID becomes the child's pid
  std::string work_dir;
  mode_t umask = 022;
  int standard_input = -1;  // descriptors of ours; they stay the caller's
  int standard_output = -1;
  int standard_error = -1;
  int channel = -1;                          // becomes its descriptor 3
  std::optional<topology::Binding> binding;  // absent: the child keeps ours
  int cgroup = -1;                           // descriptor of a cgroup.procs file to enter, or -1
  int mounts = -1;                           // descriptor of a mount namespace to enter, or -1
  // Descriptors of a container's namespaces of users and of mounts, which it enters last, as the
  // user: `work_dir` and `programs` are in there. -1: none.
  int container_users = -1;
  int container_mounts = -1;
  const JobUser* user = nullptr;  // whom it becomes for good; null: it stays what we are
  bool own_memory = false;        // its group may be frozen: one that shares ours would hold us up
  bool terminal = false;          // the standard streams are one, and become its own
  bool may_restore = false;       // as that user it keeps the one right that CRIU needs
  int cgroup_directory = -1;      // the same group's directory: to be started in it, where it can
  std::vector<SessionTraits::Limit> limits = {};  // --propagate: no hard limit is raised for them
};

// A child that was forked and has not reported yet how its exec went.
struct LaunchedChild {
  pid_t pid = 0;
  UniqueFd said;  // non-blocking; end of file once it has executed or failed
};

enum class LaunchStage : std::uint8_t {
  kBound = 0,  // not a failure: the child reports its binding
  kCgroup = 1,
  kDescriptors = 2,
  kWorkDir = 3,
  kExec = 4,
  kUser = 5,
  kMounts = 6,
  kContainer = 7,
};

// What a child reported up to its exec.
struct LaunchOutcome {
  std::optional<topology::KernelBinding> binding;
  LaunchStage failed_at = LaunchStage::kBound;
  int error = 0;  // errno, 0: it runs
};

// Forks the child. An error means that nothing was started.
absl::StatusOr<LaunchedChild> Launch(const LaunchRequest& request);

// What the bytes that came through LaunchedChild::said mean.
LaunchOutcome ParseOutcome(const std::string& said);

// The paths at which `command` may be, along the PATH of `environment`; a command with a slash is
// its own path, relative to the working directory.
std::vector<std::string> ProgramPaths(const std::string& command,
                                      const std::vector<std::string>& environment);

// The interpreter that the first line of a script names; nothing when it names none.
std::optional<std::string> InterpreterOf(const std::string& script);

}  // namespace muster::agent
