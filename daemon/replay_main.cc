// muster-replay: wiring only. What `muster replay` runs.
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "daemon/replay_report.h"

namespace muster {
namespace {

constexpr int kExitUsage = 2;

void ShowProgress(std::uint64_t done, std::uint64_t all) {
  using Clock = std::chrono::steady_clock;
  static const Clock::time_point begin = Clock::now();
  static Clock::time_point last = begin;
  const Clock::time_point now = Clock::now();
  if (isatty(STDERR_FILENO) == 0 || now - begin < std::chrono::seconds(2) ||
      now - last < std::chrono::milliseconds(200)) {
    return;
  }
  last = now;
  std::fprintf(stderr, "\r%llu of %llu journal entries (%llu %%)\x1b[K",
               static_cast<unsigned long long>(done), static_cast<unsigned long long>(all),
               static_cast<unsigned long long>(all == 0 ? 100 : done * 100 / all));
}

template <class Replay>
int Show(const absl::StatusOr<Replay>& replay, bool json) {
  if (!replay.ok()) {
    std::fprintf(stderr, "muster replay: %s\n", std::string(replay.status().message()).c_str());
    return 1;
  }
  std::fputs((json ? ReplayDocument(*replay) : PrintReplay(*replay)).c_str(), stdout);
  return replay->same() ? 0 : 1;
}

int Run(const std::string& path, bool json) {
  struct stat about = {};
  if (stat(path.c_str(), &about) == 0 && S_ISREG(about.st_mode)) {
    return Show(ReplayBundleFile(path), json);
  }
  const absl::StatusOr<DirectoryReplay> replay = ReplayDirectory(path, ShowProgress);
  if (isatty(STDERR_FILENO) != 0) {
    std::fputs("\r\x1b[K", stderr);
  }
  return Show(replay, json);
}

}  // namespace
}  // namespace muster

int main(int argc, char** argv) {
  const bool json = argc == 3 && std::string_view(argv[2]) == "--json";
  if (argc != 2 && !json) {
    std::fputs("usage: muster-replay STATE_DIR|BUNDLE [--json]; see muster replay --help\n",
               stderr);
    return muster::kExitUsage;
  }
  return muster::Run(argv[1], json);
}
