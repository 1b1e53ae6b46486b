#include "scheduler/core/handle/submit/recurring_job.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/recurrence.h"

namespace muster::core {
namespace {

constexpr std::size_t kEveryBytesMax = 1024;

absl::Status Refuse(const std::string& why) {
  return absl::InvalidArgumentError(absl::StrCat("--every: ", why));
}

Time MomentAfter(const Recurrence& recurrence, Time now) {
  const std::optional<std::chrono::sys_seconds> next =
      recurrence.Next(std::chrono::floor<std::chrono::seconds>(now));
  return next.has_value() ? Time(*next) : kNoTime;
}

}  // namespace

absl::Status FillRecurring(Time now, JobSpec& spec) {
  if (spec.every.empty()) {
    return absl::OkStatus();
  }
  if (spec.kind != JobKind::kBatch) {
    return Refuse("only batch scripts run again; submit one");
  }
  if (spec.array.has_value()) {
    return Refuse("not for an array; submit its elements as jobs, or have the script submit it");
  }
  if (spec.deadline != kNoTime) {
    return Refuse("excludes --deadline; leave one out");
  }
  if (spec.every.size() > kEveryBytesMax) {
    return Refuse(absl::StrCat("more than ", kEveryBytesMax, " bytes"));
  }
  const absl::StatusOr<Recurrence> recurrence = Recurrence::Parse(spec.every);
  if (!recurrence.ok()) {
    return Refuse(std::string(recurrence.status().message()));
  }
  // One second before its own --begin, which counts when it is such a moment itself.
  spec.begin = MomentAfter(*recurrence, std::max(now, spec.begin - std::chrono::seconds(1)));
  return spec.begin == kNoTime ? Refuse("no such day comes within eight years") : absl::OkStatus();
}

Time NextMoment(const JobSpec& spec, Time now) {
  if (spec.every.empty()) {
    return kNoTime;  // at once: the end of each job asks
  }
  const absl::StatusOr<Recurrence> recurrence = Recurrence::Parse(spec.every);
  return recurrence.ok() ? MomentAfter(*recurrence, now) : kNoTime;
}

}  // namespace muster::core
