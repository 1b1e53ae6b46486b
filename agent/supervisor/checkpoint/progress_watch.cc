#include "agent/supervisor/checkpoint/progress_watch.h"

#include <sys/stat.h>

#include <algorithm>
#include <chrono>

#include "absl/strings/str_cat.h"
#include "scheduler/base/text/duration_text.h"

namespace muster::agent {
namespace {

constexpr Duration kLookMin{50};
constexpr Duration kLookMax = std::chrono::seconds(5);

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
  return absl::StrCat("no progress for ", RoughText(std::chrono::floor<Duration>(still_)),
                      " (limit ", RoughText(limit_), ")");
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
