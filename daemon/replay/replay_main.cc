// muster-replay: wiring only. What `muster replay` runs.
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "daemon/replay/replay_report.h"
#include "daemon/replay/state_trace.h"
#include "daemon/store/archive/journal_archive.h"

namespace muster::daemon {
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

int Run(const std::string& path, const std::string& archive, bool json) {
  struct stat about = {};
  if (stat(path.c_str(), &about) == 0 && S_ISREG(about.st_mode) &&
      !JournalArchive::IsSegment(path)) {
    return Show(ReplayBundleFile(path), json);
  }
  const absl::StatusOr<DirectoryReplay> replay = ReplayDirectory(path, archive, ShowProgress);
  if (isatty(STDERR_FILENO) != 0) {
    std::fputs("\r\x1b[K", stderr);
  }
  return Show(replay, json);
}

// The jobs of the directory to standard output.
int Trace(const std::string& place, const std::string& archive) {
  const absl::Status status = WriteStateTrace(place, archive, [](const std::string& text) {
    const bool written =
        std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
    return written ? absl::OkStatus()
                   : absl::UnavailableError("standard output: cannot be written");
  });
  if (!status.ok()) {
    std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
  }
  return status.ok() ? 0 : 1;
}

}  // namespace
}  // namespace muster::daemon

int main(int argc, char** argv) {
  std::string place;
  std::string archive;
  bool json = false;
  bool trace = false;
  bool understood = argc > 1;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--json") {
      json = true;
    } else if (word == "--trace") {
      trace = true;
    } else if (word == "--archive" && i + 1 < argc) {
      archive = argv[++i];
    } else {
      understood = understood && place.empty() && word.substr(0, 1) != "-";
      place = word;
    }
  }
  if (!understood || place.empty()) {
    std::fputs(
        "usage: muster-replay STATE_DIR|SEGMENT|BUNDLE [--archive DIR] [--json|--trace]; see "
        "muster replay --help\n",
        stderr);
    return muster::daemon::kExitUsage;
  }
  return trace ? muster::daemon::Trace(place, archive) : muster::daemon::Run(place, archive, json);
}
