#include "cli/up/daemon_child.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/process.h"

namespace muster::cli {
namespace {

constexpr int kReadyFd = 3;
constexpr int kSocketFd = 4;
constexpr off_t kLogTailBytes = 8192;
// Of util-linux: has the daemon told to stop when we are killed. One left behind would hold the
// state directory against the next muster up.
constexpr const char* kSetpriv = "/usr/bin/setpriv";

}  // namespace

absl::StatusOr<std::string> ProgramNear(const std::string& directory, const std::string& name) {
  const std::filesystem::path beside = std::filesystem::path(directory) / name;
  const std::filesystem::path daemons =
      std::filesystem::path(directory).parent_path() / "sbin" / name;
  for (const std::filesystem::path& path : {beside, daemons}) {
    if (access(path.c_str(), X_OK) == 0) {
      return path.string();
    }
  }
  return absl::NotFoundError(
      absl::StrCat(beside.string(), ": not there: install ", name, " beside muster"));
}

absl::StatusOr<std::string> SiblingProgram(const std::string& name) {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  return ProgramNear(self.parent_path().string(), name);
}

absl::StatusOr<DaemonChild> DaemonChild::Start(const DaemonSpec& spec,
                                               const std::vector<std::string>& environment) {
  DaemonChild child;
  child.log_.reset(
      open(spec.log.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600));
  struct stat info = {};
  if (!child.log_.valid() || fstat(child.log_.get(), &info) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat(spec.log, ": cannot write the log"));
  }
  child.log_start_ = info.st_size;
  const UniqueFd nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
  std::array<int, 2> pipe = {};
  if (!nothing.valid() || pipe2(pipe.data(), O_CLOEXEC | O_NONBLOCK) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat(spec.name, ": cannot be started"));
  }
  child.ready_.reset(pipe[0]);
  const UniqueFd say_ready(pipe[1]);

  SpawnRequest request;
  request.program = spec.program;
  if (access(kSetpriv, X_OK) == 0 && access(spec.program.c_str(), X_OK) == 0) {
    request.program = kSetpriv;
    request.arguments = {kSetpriv, "--pdeathsig", "TERM", "--"};
  }
  request.arguments.push_back(spec.program);
  request.arguments.insert(request.arguments.end(), spec.arguments.begin(), spec.arguments.end());
  request.arguments.insert(request.arguments.end(), {"--ready-fd", std::to_string(kReadyFd)});
  request.environment = environment;
  request.fds = {{.from = nothing.get(), .to = STDIN_FILENO},
                 {.from = child.log_.get(), .to = STDOUT_FILENO},
                 {.from = child.log_.get(), .to = STDERR_FILENO},
                 {.from = say_ready.get(), .to = kReadyFd}};
  if (spec.socket >= 0) {
    request.arguments.insert(request.arguments.end(), {"--listen-fd", std::to_string(kSocketFd)});
    request.fds.push_back({.from = spec.socket, .to = kSocketFd});
  }
  request.new_session = true;
  ASSIGN_OR_RETURN(child.pid_, Spawn(request));
  ASSIGN_OR_RETURN(const ProcessIdentity identity, ReadIdentity(child.pid_));
  ASSIGN_OR_RETURN(child.pidfd_, OpenPidfd(identity));
  return child;
}

bool DaemonChild::TakeReady() {
  std::array<char, 16> text = {};
  const ssize_t got = read(ready_.get(), text.data(), text.size());
  ready_.reset();
  return got > 0;
}

void DaemonChild::Signal(int signal) const {
  // Not found means that it has ended, which is what a signal is for.
  (void)SendSignal(pidfd_, signal);
}

std::optional<std::string> DaemonChild::Reap() const {
  int status = 0;
  if (waitpid(pid_, &status, WNOHANG) != pid_) {
    return std::nullopt;
  }
  return WIFSIGNALED(status) ? absl::StrCat("signal ", WTERMSIG(status))
                             : absl::StrCat("exit code ", WEXITSTATUS(status));
}

std::string DaemonChild::LastLogLine() const {
  struct stat info = {};
  if (fstat(log_.get(), &info) != 0) {
    return "";
  }
  const off_t start = std::max(log_start_, info.st_size - kLogTailBytes);
  std::string tail(static_cast<std::size_t>(std::max<off_t>(info.st_size - start, 0)), '\0');
  const ssize_t got = pread(log_.get(), tail.data(), tail.size(), start);
  tail.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  while (!tail.empty() && tail.back() == '\n') {
    tail.pop_back();
  }
  const std::size_t newline = tail.rfind('\n');
  return newline == std::string::npos ? tail : tail.substr(newline + 1);
}

}  // namespace muster::cli
