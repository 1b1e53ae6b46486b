#include "cli/report/usage_tally.h"

#include <algorithm>

namespace muster::cli {
namespace {

std::uint64_t AmountOf(const AttemptUse& attempt, const std::string& tres) {
  return tres == "cpu"        ? attempt.cpus
         : tres == "mem"      ? attempt.memory.value() / kMebibyte.value()
         : tres == "node"     ? attempt.node_count
         : tres == "gres/gpu" ? attempt.gpus
                              : 0;
}

}  // namespace

std::vector<AttemptUse> AttemptsOf(const JobView& job) {
  if (!job.attempts.empty() || job.start_time == kNoTime) {
    return job.attempts;
  }
  AttemptUse use;
  use.start_time = job.start_time;
  use.end_time = job.end_time;
  use.suspended = job.suspended;
  use.cpus = job.cpus;
  use.memory = job.memory;
  use.gpus = job.gpus;
  use.node_count = job.node_count;
  use.usage = job.usage;
  use.cost = job.cost;
  return {use};
}

void CountUpTo(Time now, JobView& job) {
  for (AttemptUse& attempt : job.attempts) {
    attempt.end_time = attempt.end_time == kNoTime ? now : attempt.end_time;
  }
}

bool RanIn(const AttemptUse& attempt, const UsageWindow& window) {
  return attempt.start_time != kNoTime && attempt.start_time < window.end &&
         (attempt.end_time == kNoTime || attempt.end_time > window.start);
}

bool RanIn(const std::vector<AttemptUse>& attempts, const UsageWindow& window) {
  return std::any_of(attempts.begin(), attempts.end(),
                     [&window](const AttemptUse& attempt) { return RanIn(attempt, window); });
}

Duration HeldTime(const AttemptUse& attempt, const UsageWindow& window) {
  const Time start = std::max(attempt.start_time, window.start);
  const Time end =
      attempt.end_time == kNoTime ? window.end : std::min(attempt.end_time, window.end);
  // Where a part of it lies outside, how much of its pauses does is not known.
  const bool whole = start == attempt.start_time && end == attempt.end_time;
  return std::max(end - start - (whole ? attempt.suspended : Duration(0)), Duration(0));
}

std::uint64_t UsedSeconds(const JobView& job, const std::string& tres, const UsageWindow& window) {
  std::uint64_t used = 0;
  for (const AttemptUse& attempt : AttemptsOf(job)) {
    if (RanIn(attempt, window)) {
      used += static_cast<std::uint64_t>(HeldTime(attempt, window).count()) / 1000 *
              AmountOf(attempt, tres);
    }
  }
  return used;
}

std::uint64_t OfferedAmount(const std::vector<NodeView>& nodes, const std::string& tres) {
  std::uint64_t amount = 0;
  for (const NodeView& node : nodes) {
    amount += tres == "cpu"        ? node.cpus
              : tres == "mem"      ? node.memory.value() / kMebibyte.value()
              : tres == "node"     ? 1
              : tres == "gres/gpu" ? node.gpus
                                   : 0;
  }
  return amount;
}

std::uint64_t OfferedSeconds(const std::vector<NodeView>& nodes, const std::string& tres,
                             const UsageWindow& window) {
  const Duration length = window.end - window.start;
  return OfferedAmount(nodes, tres) *
         static_cast<std::uint64_t>(std::max<std::int64_t>(length.count(), 0) / 1000);
}

}  // namespace muster::cli
