#include "agent/supervisor/launch/launch.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "agent/supervisor/launch/criu_rights.h"
#include "agent/supervisor/launch/environment.h"
#include "agent/supervisor/user_space/child_setup.h"
#include "scheduler/base/status.h"

namespace muster::agent {
namespace {

constexpr const char* kDefaultPath = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin";
constexpr int kNotStarted = 127;
constexpr int kChannel = STDERR_FILENO + 1;
// Sanitizers keep notes on the stack that a child which shares it would leave behind.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSharesMemory = false;
#else
constexpr bool kSharesMemory = true;
#endif

// One message of the child; below PIPE_BUF, so it arrives whole.
struct ChildMessage {
  std::int32_t stage = 0;
  std::int32_t error = 0;
  topology::KernelBinding binding;
};

// A request as the child needs it: pointers only.
struct Prepared {
  std::vector<const char*> programs;
  std::vector<char*> arguments;
  std::vector<char*> environment;
  std::vector<char*> pid_slots;  // where the child writes its pid
  const LaunchRequest* request = nullptr;
  int say = -1;
  int channel = -1;
  bool in_cgroup = false;  // it was born there
};

std::vector<char*> PointersTo(const std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  pointers.reserve(strings.size() + 1);
  for (const std::string& text : strings) {
    pointers.push_back(const_cast<char*>(text.c_str()));  // exec's old signature
  }
  pointers.push_back(nullptr);
  return pointers;
}

Prepared Prepare(const LaunchRequest& request, int say) {
  Prepared prepared;
  prepared.request = &request;
  prepared.say = say;
  for (const std::string& program : request.programs) {
    prepared.programs.push_back(program.c_str());
  }
  prepared.arguments = PointersTo(request.arguments);
  prepared.environment = PointersTo(request.environment);
  const std::string ending = absl::StrCat("_TASK_PID=", kPidPlaceholder);
  for (std::size_t i = 0; i < request.environment.size(); ++i) {
    const std::string& text = request.environment[i];
    if (text.size() > ending.size() &&
        text.compare(text.size() - ending.size(), ending.size(), ending) == 0) {
      prepared.pid_slots.push_back(prepared.environment[i] + text.size() -
                                   std::strlen(kPidPlaceholder));
    }
  }
  return prepared;
}

// From here to RunChild: only async-signal-safe calls, in the child.

void Say(int fd, LaunchStage stage, int error, const topology::KernelBinding& binding) {
  ChildMessage message;
  message.stage = static_cast<std::int32_t>(stage);
  message.error = error;
  message.binding = binding;
  while (write(fd, &message, sizeof(message)) < 0 && errno == EINTR) {
  }
}

[[noreturn]] void Fail(int fd, LaunchStage stage, int error) {
  Say(fd, stage, error, topology::KernelBinding());
  _exit(kNotStarted);
}

void WritePid(char* slot) {
  char digits[16];
  int count = 0;
  for (pid_t pid = getpid(); pid > 0; pid /= 10) {
    digits[count++] = static_cast<char>('0' + pid % 10);
  }
  while (count > 0) {
    *slot++ = digits[--count];
  }
  *slot = '\0';
}

bool TakeDescriptors(const LaunchRequest& request, int channel) {
  if (dup2(request.standard_input, STDIN_FILENO) < 0 ||
      dup2(request.standard_output, STDOUT_FILENO) < 0 ||
      dup2(request.standard_error, STDERR_FILENO) < 0) {
    return false;
  }
  // Libraries of ours may have left descriptors that survive exec.
  if (close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC) != 0) {
    for (int fd = STDERR_FILENO + 1; fd < 1024; ++fd) {
      fcntl(fd, F_SETFD, FD_CLOEXEC);
    }
  }
  return channel < 0 || dup2(channel, kChannel) == kChannel;
}

// The submitter's soft limits, as far as the hard ones here let them.
void TakeLimits(const std::vector<SessionTraits::Limit>& limits) {
  for (const SessionTraits::Limit& limit : limits) {
    const auto resource = static_cast<__rlimit_resource_t>(limit.resource);
    rlimit now = {};
    if (getrlimit(resource, &now) == 0) {
      now.rlim_cur = limit.value.rlim_cur < now.rlim_max ? limit.value.rlim_cur : now.rlim_max;
      setrlimit(resource, &now);
    }
  }
}

// As execvpe: a candidate that is not there or not ours to run lets the next one try.
int Execute(const Prepared& prepared) {
  int error = ENOENT;
  for (const char* program : prepared.programs) {
    execve(program, prepared.arguments.data(), prepared.environment.data());
    if (errno == EACCES) {
      error = EACCES;
    } else if (errno != ENOENT && errno != ENOTDIR) {
      return errno;
    }
  }
  return error;
}

// Whoever owns the namespace of users has all rights in it, and so may enter that of mounts, too.
bool EnterContainer(const LaunchRequest& request) {
  return request.container_users < 0 || (setns(request.container_users, CLONE_NEWUSER) == 0 &&
                                         setns(request.container_mounts, CLONE_NEWNS) == 0);
}

[[noreturn]] void RunChild(const Prepared& prepared, pid_t parent) {
  const LaunchRequest& request = *prepared.request;
  ResetSignals();
  if (request.terminal) {
    setsid();
  } else {
    setpgid(0, 0);  // the session is the attempt's; one a rank would cost a scheduler group each
  }
  DieWithParent(parent);
  if (request.cgroup >= 0 && !prepared.in_cgroup && write(request.cgroup, "0", 1) != 1) {
    Fail(prepared.say, LaunchStage::kCgroup, errno);
  }
  if (request.mounts >= 0 && setns(request.mounts, CLONE_NEWNS) != 0) {
    Fail(prepared.say, LaunchStage::kMounts, errno);
  }
  if (!TakeDescriptors(request, prepared.channel) ||
      (request.terminal && ioctl(STDIN_FILENO, TIOCSCTTY, 0) != 0)) {
    Fail(prepared.say, LaunchStage::kDescriptors, errno);
  }
  if (request.user != nullptr) {
    if ((request.may_restore && !BeginKeepingRestoreRight()) || !BecomeForGood(*request.user) ||
        (request.may_restore && !KeepRestoreRightAlone())) {
      Fail(prepared.say, LaunchStage::kUser, errno);
    }
    DieWithParent(parent);  // the kernel forgot it with the old user
  }
  TakeLimits(request.limits);
  umask(request.umask);
  topology::KernelBinding found;
  if (request.binding.has_value()) {
    found = request.binding->Apply();
  } else {
    topology::ObserveSelf(&found);
  }
  if (!EnterContainer(request)) {
    Fail(prepared.say, LaunchStage::kContainer, errno);
  }
  DieWithParent(parent);  // it is forgotten with the rights that a user has in his own namespace
  if (chdir(request.work_dir.c_str()) != 0) {
    Fail(prepared.say, LaunchStage::kWorkDir, errno);
  }
  for (char* slot : prepared.pid_slots) {
    WritePid(slot);
  }
  Say(prepared.say, LaunchStage::kBound, 0, found);
  Fail(prepared.say, LaunchStage::kExec, Execute(prepared));
}

// The call itself, without a frame of its own: a child that shares our memory goes on in the frame
// of its caller, and must find ours whole when it has gone. Returns -errno.
[[gnu::always_inline]] inline long Clone(clone_args* arguments) {
#if defined(__x86_64__)
  long result = SYS_clone3;
  asm volatile("syscall"
               : "+a"(result)
               : "D"(arguments), "S"(sizeof(*arguments))
               : "rcx", "r11", "memory");
  return result;
#elif defined(__aarch64__)
  register long number asm("x8") = SYS_clone3;
  register long first asm("x0") = reinterpret_cast<long>(arguments);
  register long second asm("x1") = sizeof(*arguments);
  asm volatile("svc #0" : "+r"(first) : "r"(second), "r"(number) : "memory");
  return first;
#else
  arguments->flags &= ~static_cast<std::uint64_t>(CLONE_VM | CLONE_VFORK);
  const long result = syscall(SYS_clone3, arguments, sizeof(*arguments));
  return result < 0 ? -errno : result;
#endif
}

// Starts the child in its control group from its first instruction: nothing of it is charged to us,
// and no lock of the whole kernel is taken to move it. One that stays our own user runs in our
// memory until its exec, as of vfork(): nothing is copied, and nobody but us could hold it up
// there. One that becomes another user has a copy: he could stop it, and us with it. 0: it could
// not be started like that.
[[gnu::noinline]] pid_t StartChild(const Prepared& prepared, pid_t parent) {
  const LaunchRequest& request = *prepared.request;
  clone_args arguments;
  std::memset(&arguments, 0, sizeof(arguments));
  arguments.exit_signal = SIGCHLD;
  if (prepared.in_cgroup) {
    arguments.flags |= CLONE_INTO_CGROUP;
    arguments.cgroup = static_cast<std::uint64_t>(request.cgroup_directory);
  }
  // A change of the namespace of users concerns all who have that memory.
  if (kSharesMemory && !request.own_memory && request.user == nullptr &&
      request.container_users < 0) {
    arguments.flags |= CLONE_VM | CLONE_VFORK;
  }
  const long pid = Clone(&arguments);
  if (pid == 0) {
    RunChild(prepared, parent);
  }
  return pid < 0 ? 0 : static_cast<pid_t>(pid);
}

}  // namespace

absl::StatusOr<LaunchedChild> Launch(const LaunchRequest& request) {
  int ends[2] = {-1, -1};
  if (pipe2(ends, O_CLOEXEC) != 0) {
    return absl::ErrnoToStatus(errno, "cannot make a pipe");
  }
  LaunchedChild child;
  child.said.reset(ends[0]);
  UniqueFd say(ends[1]);
  UniqueFd channel;
  if (request.channel >= 0) {
    // Neither is to be the very descriptor that the child's channel becomes.
    say.reset(fcntl(say.get(), F_DUPFD_CLOEXEC, kChannel + 1));
    channel.reset(fcntl(request.channel, F_DUPFD_CLOEXEC, kChannel + 1));
  }
  if (fcntl(child.said.get(), F_SETFL, O_NONBLOCK) != 0) {
    return absl::ErrnoToStatus(errno, "cannot make a pipe");
  }
  Prepared prepared = Prepare(request, say.get());
  prepared.channel = channel.get();
  const pid_t parent = getpid();
  prepared.in_cgroup = request.cgroup_directory >= 0;
  child.pid = StartChild(prepared, parent);
  if (child.pid != 0) {
    return child;
  }
  prepared.in_cgroup = false;  // an older kernel, or a group that takes nobody: it will say why
  child.pid = fork();
  if (child.pid == 0) {
    RunChild(prepared, parent);
  }
  if (child.pid < 0) {
    return absl::ErrnoToStatus(errno, "cannot fork");
  }
  return child;
}

LaunchOutcome ParseOutcome(const std::string& said) {
  LaunchOutcome outcome;
  for (std::size_t at = 0; at + sizeof(ChildMessage) <= said.size(); at += sizeof(ChildMessage)) {
    ChildMessage message;
    std::memcpy(&message, said.data() + at, sizeof(message));
    if (static_cast<LaunchStage>(message.stage) == LaunchStage::kBound) {
      outcome.binding = message.binding;
    } else {
      outcome.failed_at = static_cast<LaunchStage>(message.stage);
      outcome.error = message.error;
    }
  }
  return outcome;
}

std::vector<std::string> ProgramPaths(const std::string& command,
                                      const std::vector<std::string>& environment) {
  if (command.find('/') != std::string::npos) {
    return {command};
  }
  std::string path = kDefaultPath;
  for (const std::string& assignment : environment) {
    if (assignment.rfind("PATH=", 0) == 0) {
      path = assignment.substr(5);
    }
  }
  std::vector<std::string> paths;
  for (const std::string& directory : std::vector<std::string>(absl::StrSplit(path, ':'))) {
    paths.push_back(absl::StrCat(directory.empty() ? "." : directory, "/", command));
  }
  return paths;
}

std::optional<std::string> InterpreterOf(const std::string& script) {
  if (script.rfind("#!", 0) != 0) {
    return std::nullopt;
  }
  const std::string line = script.substr(2, script.find('\n') - 2);
  const std::size_t begin = line.find_first_not_of(" \t");
  if (begin == std::string::npos) {
    return std::nullopt;
  }
  return line.substr(begin, line.find_first_of(" \t\r", begin) - begin);
}

}  // namespace muster::agent
