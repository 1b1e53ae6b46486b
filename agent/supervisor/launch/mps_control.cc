#include "agent/supervisor/launch/mps_control.h"

#include <fcntl.h>
#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <thread>

#include "absl/strings/str_cat.h"
#include "agent/supervisor/user_space/as_user.h"
#include "topology/gpu/cuda_mps.h"

namespace muster::agent {
namespace {

constexpr int kNotDone = 1;
constexpr std::chrono::milliseconds kPause{20};
constexpr Duration kGrace{1000};

// Of another user only root can become.
bool BecomeOwner(const char* directory) {
  struct stat info {};
  if (lstat(directory, &info) != 0 || !S_ISDIR(info.st_mode)) {
    return false;
  }
  if (info.st_uid == geteuid()) {
    return true;
  }
  return setgroups(0, nullptr) == 0 && setresgid(info.st_gid, info.st_gid, info.st_gid) == 0 &&
         setresuid(info.st_uid, info.st_uid, info.st_uid) == 0;
}

// What the program reads that tells the daemon to end, and its servers, whose clients are gone.
bool SayQuit() {
  constexpr std::string_view kWord = "quit -t 10\n";
  std::array<int, 2> pipe = {-1, -1};
  return pipe2(pipe.data(), O_CLOEXEC) == 0 &&
         write(pipe[1], kWord.data(), kWord.size()) == static_cast<ssize_t>(kWord.size()) &&
         dup2(pipe[0], STDIN_FILENO) == STDIN_FILENO;
}

int Empty(const char* directory) {
  std::error_code error;
  for (const auto& each : std::filesystem::directory_iterator(directory, error)) {
    std::filesystem::remove_all(each.path(), error);
  }
  return error ? kNotDone : 0;
}

}  // namespace

int RunMpsControl(const char* directory, bool quit) {
  umask(077);
  if (!BecomeOwner(directory) || chdir("/") != 0) {
    std::perror(directory);
    return kNotDone;
  }
  if (topology::MpsRunsIn(directory) != quit) {
    return quit ? Empty(directory) : 0;
  }
  // NOLINTBEGIN(concurrency-mt-unsafe): before threads
  if ((quit && !SayQuit()) || setenv("CUDA_MPS_PIPE_DIRECTORY", directory, 1) != 0 ||
      setenv("CUDA_MPS_LOG_DIRECTORY", directory, 1) != 0) {
    std::perror(directory);
    return kNotDone;
  }
  // NOLINTEND(concurrency-mt-unsafe)
  execlp(kMpsProgram, kMpsProgram, quit ? nullptr : "-f", nullptr);
  std::perror(kMpsProgram);
  return kNotDone;
}

absl::Status AwaitMps(const JobUser* user, const std::string& directory, Duration limit) {
  const auto until = std::chrono::steady_clock::now() + limit;
  return RunAsUser(
             user, limit + kGrace,
             [&]() -> absl::StatusOr<Brought> {
               while (!topology::MpsRunsIn(directory)) {
                 if (std::chrono::steady_clock::now() >= until) {
                   return absl::DeadlineExceededError(absl::StrCat("no MPS serves ", directory));
                 }
                 std::this_thread::sleep_for(kPause);
               }
               return Brought();
             })
      .status();
}

}  // namespace muster::agent
