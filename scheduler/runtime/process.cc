#include "scheduler/runtime/process.h"

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <memory>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/file.h"

namespace muster {
namespace {

// Fields of /proc/PID/stat counted from the state, which is field 3 of proc(5).
constexpr size_t kStateField = 0;
constexpr size_t kParentField = 1;
constexpr size_t kStartTimeField = 19;

absl::Status NoSuchProcess(pid_t pid) {
  return absl::NotFoundError(absl::StrCat("no process ", pid));
}

// The stat of `pid`. NotFound only when the process is really gone: a /proc mounted with hidepid
// hides other users' processes, and a hidden one must not pass for dead.
absl::StatusOr<ProcessStat> ReadProcessStat(pid_t pid) {
  if (pid <= 0) {
    return NoSuchProcess(pid);
  }
  const absl::StatusOr<std::string> text = ReadFile(absl::StrCat("/proc/", pid, "/stat"));
  if (text.ok()) {
    return ParseProcessStat(*text);
  }
  if (kill(pid, 0) == 0 || errno == EPERM) {
    return absl::UnavailableError(
        absl::StrCat("process ", pid, " exists but ", std::string(text.status().message())));
  }
  return NoSuchProcess(pid);
}

}  // namespace

absl::StatusOr<ProcessStat> ParseProcessStat(std::string_view text) {
  const size_t name_end = text.rfind(") ");
  if (name_end == std::string_view::npos) {
    return absl::InvalidArgumentError("process stat: no command name in parentheses");
  }
  const std::string rest(absl::StripAsciiWhitespace(std::string(text.substr(name_end + 2))));
  const std::vector<std::string> fields = absl::StrSplit(rest, ' ');
  ProcessStat stat;
  if (fields.size() <= kStartTimeField || fields[kStateField].size() != 1 ||
      !absl::SimpleAtoi(fields[kParentField], &stat.parent_pid) ||
      !absl::SimpleAtoi(fields[kStartTimeField], &stat.start_time_ticks)) {
    return absl::InvalidArgumentError("process stat: not the fields of proc(5)");
  }
  stat.state = fields[kStateField][0];
  return stat;
}

// It is the same as long as this process lives, and for those that are copied from it.
absl::StatusOr<std::string> ReadBootId() {
  static std::atomic<const std::string*> known = nullptr;
  if (const std::string* boot_id = known.load(std::memory_order_acquire); boot_id != nullptr) {
    return *boot_id;
  }
  ASSIGN_OR_RETURN(std::string text, ReadFile("/proc/sys/kernel/random/boot_id"));
  absl::StripAsciiWhitespace(&text);
  auto read = std::make_unique<const std::string>(text);
  const std::string* nothing = nullptr;
  if (known.compare_exchange_strong(nothing, read.get(), std::memory_order_acq_rel)) {
    (void)read.release();
  }
  return text;
}

absl::StatusOr<ProcessIdentity> ReadIdentity(pid_t pid) {
  ASSIGN_OR_RETURN(const ProcessStat stat, ReadProcessStat(pid));
  ASSIGN_OR_RETURN(std::string boot_id, ReadBootId());
  return ProcessIdentity{
      .pid = pid, .start_time_ticks = stat.start_time_ticks, .boot_id = std::move(boot_id)};
}

absl::StatusOr<bool> IsAlive(const ProcessIdentity& process) {
  ASSIGN_OR_RETURN(const std::string boot_id, ReadBootId());
  if (boot_id != process.boot_id) {
    return false;
  }
  const absl::StatusOr<ProcessStat> stat = ReadProcessStat(process.pid);
  if (absl::IsNotFound(stat.status())) {
    return false;
  }
  RETURN_IF_ERROR(stat.status());
  const bool ended = stat->state == 'Z' || stat->state == 'X';
  return !ended && stat->start_time_ticks == process.start_time_ticks;
}

absl::StatusOr<UniqueFd> OpenChildPidfd(pid_t child) {
  UniqueFd fd(static_cast<int>(syscall(SYS_pidfd_open, child, 0)));
  if (!fd.valid()) {
    if (errno == ESRCH || errno == EINVAL) {
      return NoSuchProcess(child);
    }
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot open a pidfd of ", child));
  }
  return fd;
}

absl::StatusOr<UniqueFd> OpenPidfd(const ProcessIdentity& process) {
  ASSIGN_OR_RETURN(UniqueFd fd, OpenChildPidfd(process.pid));
  // Checked after opening: the descriptor pins the process it names, so the answer cannot go stale.
  ASSIGN_OR_RETURN(const ProcessIdentity found, ReadIdentity(process.pid));
  if (found != process) {
    return NoSuchProcess(process.pid);
  }
  return fd;
}

void HideMemory() {
  prctl(PR_SET_DUMPABLE, 0);
}

absl::Status SendSignal(const UniqueFd& pidfd, int signal) {
  if (syscall(SYS_pidfd_send_signal, pidfd.get(), signal, nullptr, 0) == 0) {
    return absl::OkStatus();
  }
  if (errno == ESRCH) {
    return absl::NotFoundError("the process has ended");
  }
  return absl::ErrnoToStatus(errno, absl::StrCat("cannot send signal ", signal));
}

void SayReady(int fd) {
  if (fd >= 0) {
    [[maybe_unused]] const ssize_t written = write(fd, "ready\n", 6);
    close(fd);
  }
}

}  // namespace muster
