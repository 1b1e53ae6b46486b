#include "agent/supervisor/checkpoint/progress_watch.h"

#include <sys/stat.h>

#include <algorithm>
#include <chrono>

#include "absl/strings/str_cat.h"

namespace muster::agent {
namespace {

constexpr Duration kLookMin{50};
constexpr Duration kLookMax = std::chrono::seconds(5);

// "90 s", "10 min".
std::string TimeText(Duration time) {
  const std::int64_t ms = time.count();
  constexpr std::int64_t kMinute = 60'000;
  if (ms >= 2 * kMinute || ms % kMinute == 0) {
    return absl::StrCat(ms / kMinute, " min");
  }
  return ms >= 1000 ? absl::StrCat(ms / 1000, " s") : absl::StrCat(ms, " ms");
}

}  // namespace

Duration ProgressWatch::interval() const {
  return std::clamp(limit_ / 20, kLookMin, kLookMax);
}

std::optional<std::string> ProgressWatch::Look(const ProgressSign& sign, SteadyTime now,
                                               bool frozen) {
  if (looked_.has_value() && !frozen && sign == sign_) {
    still_ += now - *looked_;
  } else if (!(sign == sign_)) {
    still_ = std::chrono::nanoseconds(0);
  }
  looked_ = now;
  sign_ = sign;
  if (over_ || still_ < limit_) {
    return std::nullopt;
  }
  over_ = true;
  return absl::StrCat("no progress for ", TimeText(std::chrono::floor<Duration>(still_)),
                      " (limit ", TimeText(limit_), ")");
}

ProgressSign SignOfFile(const std::string& path) {
  struct stat info = {};
  if (stat(path.c_str(), &info) != 0) {
    return ProgressSign();
  }
  constexpr std::int64_t kSecond = 1'000'000'000;
  return ProgressSign{info.st_mtim.tv_sec * kSecond + info.st_mtim.tv_nsec, info.st_size,
                      info.st_ino, 0};
}

}  // namespace muster::agent
