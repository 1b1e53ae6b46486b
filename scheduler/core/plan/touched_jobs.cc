#include "scheduler/core/plan/touched_jobs.h"

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <variant>

namespace muster::core {

void TouchedJobs::Touch(JobId first, std::uint32_t count) {
  constexpr std::size_t kMax = 65536;
  if (touches_.size() == kMax) {
    since_ = std::max(since_, touches_.front().first);
    touches_.pop_front();
  }
  touches_.emplace_back(told_, JobRange{first, JobId(first.value() + count)});
}

void TouchedJobs::Note(const Event& event, Version version) {
  if (version != told_.Next()) {
    touches_.clear();
    since_ = version;
  }
  told_ = version;
  std::visit(
      [&](const auto& change) {
        using Change = std::decay_t<decltype(change)>;
        if constexpr (std::is_same_v<Change, JobSubmitted>) {
          Touch(change.first, change.count);
        } else if constexpr (std::is_same_v<Change, JobEnded>) {
          Touch(change.job, change.more + 1);
        } else if constexpr (std::is_same_v<Change, AttemptQuarantined>) {
          Touch(change.attempt.job, 1);
        } else if constexpr (requires { change.report.job; }) {
          Touch(change.report.job, 1);
        } else if constexpr (requires { change.job; }) {
          Touch(change.job, 1);
        }
      },
      event);
}

bool TouchedJobs::AppendSince(Version since, Version now, std::vector<JobRange>& jobs) const {
  if (told_ != now || since_ > since) {
    return false;
  }
  for (auto touch = touches_.rbegin(); touch != touches_.rend() && touch->first > since; ++touch) {
    jobs.push_back(touch->second);
  }
  return true;
}

}  // namespace muster::core
