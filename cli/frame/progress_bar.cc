#include "cli/frame/progress_bar.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"

namespace muster::cli {
namespace {

constexpr std::chrono::seconds kQuiet(2);
constexpr std::chrono::milliseconds kBetween(200);
constexpr int kBarCells = 20;

void Write(int fd, const std::string& text) {
  // A terminal that takes no more is no reason to stop.
  [[maybe_unused]] const ssize_t written = write(fd, text.data(), text.size());
}

}  // namespace

ProgressBar::ProgressBar(std::string what, std::string unit, const Clock& clock, int fd)
    : what_(std::move(what)),
      unit_(std::move(unit)),
      clock_(clock),
      fd_(fd),
      on_terminal_(isatty(fd) == 1),
      begun_(clock.SteadyNow()),
      next_(begun_ + kQuiet) {}

void ProgressBar::Show(double share, std::uint64_t done) {
  if (!on_terminal_) {
    return;
  }
  const SteadyTime now = clock_.SteadyNow();
  if (now < next_) {
    return;
  }
  next_ = now + kBetween;
  drawn_ = true;
  const double seconds = std::chrono::duration<double>(now - begun_).count();
  Write(fd_, absl::StrCat("\r\x1b[K", ProgressLine(what_, unit_, share, done, seconds)));
}

void ProgressBar::Wipe() {
  if (drawn_) {
    Write(fd_, "\r\x1b[K");
    drawn_ = false;
  }
}

std::string ProgressLine(const std::string& what, const std::string& unit, double share,
                         std::uint64_t done, double seconds) {
  const auto rate =
      static_cast<std::uint64_t>(seconds > 0 ? static_cast<double>(done) / seconds : 0.0);
  std::string line = absl::StrCat(what, "  ");
  if (share >= 0) {
    share = std::min(share, 1.0);
    const int full = static_cast<int>(share * kBarCells);
    absl::StrAppend(&line, "[", std::string(static_cast<std::size_t>(full), '#'),
                    std::string(static_cast<std::size_t>(kBarCells - full), '.'), "]  ",
                    static_cast<int>(share * 100), " %, ");
  }
  absl::StrAppend(&line, done, " ", unit, ", ", rate, " ", unit, "/s");
  if (share > 0) {
    absl::StrAppend(&line, ", ",
                    static_cast<std::uint64_t>(std::ceil(seconds * (1 - share) / share)),
                    " s left");
  }
  return line;
}

}  // namespace muster::cli
