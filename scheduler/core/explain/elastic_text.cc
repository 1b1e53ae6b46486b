#include "scheduler/core/explain/elastic_text.h"

#include <algorithm>
#include <chrono>

#include "absl/strings/str_cat.h"
#include "scheduler/base/text/duration_text.h"
#include "scheduler/core/plan/search/elastic_size.h"

namespace muster::core {
namespace {

std::string GainText(const PlannedResize& resize) {
  return absl::StrCat(
      resize.gain == kNeverEnds ? std::string("time, and it has no limit") : RoughText(resize.gain),
      ", a change costs ", RoughText(resize.cost));
}

std::string VerdictText(const PlannedResize& resize, Time now) {
  const Duration wait = std::max(resize.when - now, Duration(0));
  switch (resize.verdict) {
    case ResizeVerdict::kGrow:
      return absl::StrCat("grows to ", resize.nodes, " in ", RoughText(wait), ": gains ",
                          GainText(resize));
    case ResizeVerdict::kLargest:
      return "has as many as it may have";
    case ResizeVerdict::kNoRoom:
      return "no further node is free for it";
    case ResizeVerdict::kTooSoon:
      return absl::StrCat("may grow to ", resize.nodes, " in ", RoughText(wait),
                          ": its last change was too short ago");
    case ResizeVerdict::kTooLittle:
      return absl::StrCat("stays: ", resize.nodes, " would gain ", GainText(resize));
    case ResizeVerdict::kShrink:
      return absl::StrCat(
          "shrinks to ", resize.nodes, " in ", RoughText(wait), " for job ", resize.for_job.value(),
          ", which starts ",
          resize.gain == kNeverEnds ? "at last" : RoughText(resize.gain) + " sooner",
          ", a change costs ", RoughText(resize.cost));
  }
  return "";
}

}  // namespace

std::string ElasticText(const Job& job, const PlannedResize* resize, Time now) {
  const ResourceRequest& request = job.spec->request;
  std::string text = absl::StrCat(request.min_nodes, "-", request.max_nodes, " nodes");
  if (job.attempt.has_value() && job.attempt->ending == EndCause::kResized) {
    absl::StrAppend(&text, "; ", job.attempt->ending_text);
  } else if (job.attempt.has_value() && resize != nullptr) {
    absl::StrAppend(&text, "; ", VerdictText(*resize, now));
  }
  return text;
}

const PlannedResize* FindResize(const Plan* plan, const Job& job) {
  if (plan == nullptr || !job.attempt.has_value()) {
    return nullptr;
  }
  const auto found =
      std::find_if(plan->resizes.begin(), plan->resizes.end(), [&job](const PlannedResize& resize) {
        return resize.job == job.id && resize.attempt == job.attempt->number;
      });
  return found == plan->resizes.end() ? nullptr : &*found;
}

}  // namespace muster::core
