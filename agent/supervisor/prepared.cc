#include "agent/supervisor/prepared.h"

#include <linux/sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "agent/supervisor/attempt/attempt_directory.h"
#include "agent/supervisor/attempt/copy_request.h"
#include "agent/supervisor/process_title.h"
#include "agent/supervisor/rehearsal.h"
#include "agent/supervisor/supervise.h"
#include "scheduler/runtime/process.h"
#include "scheduler/runtime/signals.h"

namespace muster::agent {
namespace {

// As fork(), but the child is our parent's, whom the kernel tells of its end. The C library's own
// fork does no more in a process of one thread; its record of the thread's number is at the address
// that the kernel clears when the thread ends.
pid_t ForkForParent() {
  std::uint64_t thread_number = 0;
  if (prctl(PR_GET_TID_ADDRESS, &thread_number, 0, 0, 0) != 0) {
    return -1;
  }
  clone_args arguments;
  std::memset(&arguments, 0, sizeof(arguments));
  arguments.flags = CLONE_PARENT | CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID;
  arguments.child_tid = thread_number;
  return static_cast<pid_t>(syscall(SYS_clone3, &arguments, sizeof(arguments)));
}

bool Say(int socket, pid_t pid, int error) {
  const CopyAnswer answer = {pid, error};
  return send(socket, &answer, sizeof(answer), MSG_NOSIGNAL) == sizeof(answer);
}

std::optional<CopyPurpose> PurposeOf(std::string_view packet) {
  const std::size_t end = packet.find('\0');
  if (end == std::string_view::npos || end + 1 == packet.size()) {
    return std::nullopt;
  }
  CopyPurpose purpose{std::string(packet.substr(0, end)), std::string(packet.substr(end + 1))};
  const bool known = purpose.what == "--dir" || purpose.what == "--epilog";
  return known ? std::optional<CopyPurpose>(std::move(purpose)) : std::nullopt;
}

}  // namespace

std::optional<CopyPurpose> ServeCopies(int socket) {
  std::array<char, kCopyRequestBytesMax> packet = {};
  if (!Say(socket, 0, 0)) {
    return std::nullopt;
  }
  while (true) {
    const ssize_t got = recv(socket, packet.data(), packet.size(), 0);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      return std::nullopt;
    }
    std::optional<CopyPurpose> purpose = PurposeOf({packet.data(), static_cast<std::size_t>(got)});
    const pid_t pid = purpose.has_value() ? ForkForParent() : -1;
    if (pid == 0) {
      return purpose;
    }
    const int error = !purpose.has_value() ? EINVAL : pid < 0 ? errno : 0;
    if (!Say(socket, pid > 0 ? pid : 0, error)) {
      return std::nullopt;
    }
  }
}

// A copy is in the control group of the process that it is a copy of, and leaves without the
// handlers that others have left for its end: it shares their memory, and has nothing to undo.
int MakeCopies(int argc, char** argv) {
  constexpr int kAgent = STDERR_FILENO + 1;
  close_range(kAgent + 1, ~0U, 0);
  umask(077);
  HideMemory();
  IgnoreBrokenPipes();
  JoinOtherSupervisors();
  const std::string program = argv[0];
  const ProcessTitle title(argc, argv);
  title.Show({program, "--prepared"});
  (void)ReadBootId();  // its copies know it then
  if (const absl::Status status = Rehearse(); !status.ok()) {
    std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
    return 1;
  }
  const std::optional<CopyPurpose> purpose = ServeCopies(kAgent);
  if (!purpose.has_value()) {
    return 0;
  }
  title.Show({program, purpose->what, purpose->directory});
  _exit(RunAttempt(AttemptDirectory(purpose->directory), purpose->what == "--epilog"));
}

}  // namespace muster::agent
