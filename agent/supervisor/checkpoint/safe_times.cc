#include "agent/supervisor/checkpoint/safe_times.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace muster::agent {
namespace {

constexpr int kEntriesMax = 10'000;
constexpr std::size_t kHundred = 100;

Time ChangeOf(const struct stat& info) {
  return Time(std::chrono::seconds(info.st_mtim.tv_sec) +
              std::chrono::floor<Duration>(std::chrono::nanoseconds(info.st_mtim.tv_nsec)));
}

}  // namespace

void SafeTimes::Add(Duration time) {
  if (times_.size() < kSafeTimesKept) {
    times_.push_back(time);
    return;
  }
  times_[next_] = time;
  next_ = (next_ + 1) % kSafeTimesKept;
}

Duration SafeTimes::Slow() const {
  if (times_.empty()) {
    return Duration(0);
  }
  std::vector<Duration> sorted = times_;
  const std::size_t beyond = sorted.size() / kHundred;  // n - ceil(0.99 n)
  const auto at = sorted.end() - 1 - static_cast<std::ptrdiff_t>(beyond);
  std::nth_element(sorted.begin(), at, sorted.end());
  return *at;
}

std::optional<Time> NewestChange(const std::string& directory) {
  struct stat info = {};
  if (stat(directory.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) {
    return std::nullopt;
  }
  Time newest = ChangeOf(info);
  std::error_code error;
  std::filesystem::directory_iterator entry(directory, error);
  for (int i = 0; i < kEntriesMax && !error && entry != std::filesystem::directory_iterator();
       ++i, entry.increment(error)) {
    if (lstat(entry->path().c_str(), &info) == 0) {
      newest = std::max(newest, ChangeOf(info));
    }
  }
  return newest;
}

}  // namespace muster::agent
