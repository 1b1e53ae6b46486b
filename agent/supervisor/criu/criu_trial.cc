#include "agent/supervisor/criu/criu_trial.h"

#include <fcntl.h>
#include <grp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "absl/strings/str_cat.h"
#include "agent/supervisor/criu/criu_images.h"
#include "agent/supervisor/criu/criu_run.h"
#include "agent/supervisor/launch/criu_rights.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::agent {
namespace {

constexpr uid_t kNobody = 65534;

// A directory of ours alone while it lives.
class TrialDirectory {
 public:
  TrialDirectory() {
    const char* const place = getenv("TMPDIR");  // NOLINT(concurrency-mt-unsafe): one thread
    path_ = absl::StrCat(place == nullptr ? "/tmp" : place, "/muster-criu.XXXXXX");
    made_ = mkdtemp(path_.data()) != nullptr;
  }
  TrialDirectory(const TrialDirectory&) = delete;
  TrialDirectory& operator=(const TrialDirectory&) = delete;
  ~TrialDirectory() {
    std::error_code ignored;
    if (made_) {
      std::filesystem::remove_all(path_, ignored);
    }
  }
  [[nodiscard]] bool made() const { return made_; }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
  bool made_ = false;
};

bool BecomeNobody() {
  return BeginKeepingRestoreRight() && setgroups(0, nullptr) == 0 &&
         setresgid(kNobody, kNobody, kNobody) == 0 && setresuid(kNobody, kNobody, kNobody) == 0 &&
         prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && KeepRestoreRightAlone();
}

// As a job's script is started: in a group of its own, its output in a file.
pid_t StartSleeper(const std::string& directory) {
  const UniqueFd null(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const UniqueFd out(
      open((directory + "/out").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  std::array<int, 2> ends = {-1, -1};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    return -1;
  }
  const UniqueFd executed(ends[0]);
  UniqueFd executes(ends[1]);
  const pid_t pid = fork();
  if (pid == 0) {
    setpgid(0, 0);
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0,
          0);  // a job's programs have no such right
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(null.get(), STDIN_FILENO);
    dup2(out.get(), STDOUT_FILENO);
    dup2(out.get(), STDERR_FILENO);
    close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
    execl("/bin/sleep", "sleep", "1000", nullptr);
    _exit(1);
  }
  executes.reset();
  char nothing = 0;
  while (read(executed.get(), &nothing, 1) < 0 && errno == EINTR) {
  }
  return pid;
}

void End(pid_t pid) {
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
}

// Runs `muster-criu restore`'s work in a child, whose sibling the sleeper becomes.
absl::Status Restore(const std::string& criu, const std::string& directory, pid_t sleeper) {
  const pid_t pid = fork();
  if (pid == 0) {
    _exit(BecomeRestore(criu, directory, "1"));
  }
  int status = 0;
  while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (pid < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    const UniqueFd images(open((directory + "/1").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    const std::string reason = ReasonIn(images.get(), kRestoreLog);
    return absl::InternalError(
        absl::StrCat("criu restore: ", reason.empty() ? "it failed" : reason));
  }
  const bool lives = waitpid(sleeper, &status, WNOHANG) == 0;
  if (!lives) {
    return absl::InternalError("criu restore: what it restored does not live");
  }
  End(sleeper);
  return absl::OkStatus();
}

}  // namespace

absl::Status TryCriu(const std::string& criu, bool as_user) {
  if (as_user && !BecomeNobody()) {
    return absl::ErrnoToStatus(errno,
                               "cannot become the user 'nobody' with CAP_CHECKPOINT_RESTORE alone");
  }
  const TrialDirectory directory;
  if (!directory.made()) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot make ", directory.path()));
  }
  const pid_t sleeper = StartSleeper(directory.path());
  if (sleeper < 0) {
    return absl::ErrnoToStatus(errno, "cannot fork");
  }
  const absl::StatusOr<DumpReport> dumped =
      DumpTree(criu, directory.path(), sleeper, AfterDump::kStop);
  End(sleeper);
  return dumped.ok() ? Restore(criu, directory.path(), sleeper) : dumped.status();
}

}  // namespace muster::agent
