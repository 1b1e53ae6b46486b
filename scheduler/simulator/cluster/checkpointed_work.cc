#include "scheduler/simulator/cluster/checkpointed_work.h"

#include <algorithm>

namespace muster::sim {
namespace {

constexpr double kHour = 3600;

// Checkpoints of an attempt that does all of its work: none at the end.
std::int64_t CheckpointsOf(const JobCheckpoints& checkpoints, std::int64_t work) {
  return checkpoints.interval == 0 ? 0 : (work - 1) / checkpoints.interval;
}

}  // namespace

std::int64_t AttemptTime(const JobCheckpoints& checkpoints, std::int64_t work, bool again) {
  return (again ? checkpoints.restart : 0) + work +
         CheckpointsOf(checkpoints, work) * checkpoints.cost;
}

AttemptParts PartsOf(const JobCheckpoints& checkpoints, std::int64_t work, bool again,
                     std::int64_t time) {
  AttemptParts parts;
  parts.restart = again ? std::min(checkpoints.restart, time) : 0;
  const std::int64_t after = time - parts.restart;
  const std::int64_t in_all = CheckpointsOf(checkpoints, work);
  const std::int64_t written =
      in_all == 0 ? 0 : std::min(in_all, after / (checkpoints.interval + checkpoints.cost));
  const std::int64_t since = after - written * (checkpoints.interval + checkpoints.cost);
  const std::int64_t worked = written < in_all ? std::min(since, checkpoints.interval) : since;
  parts.checkpoints = written * checkpoints.cost + (since - worked);
  parts.saved = written * checkpoints.interval;
  parts.lost = worked;
  if (parts.saved + worked == work) {
    parts.saved = work;
    parts.lost = 0;
  }
  return parts;
}

void FailureTotals::Add(const AttemptParts& parts, std::int64_t threads) {
  const auto count = static_cast<double>(threads);
  held += count * static_cast<double>(parts.restart + parts.checkpoints + parts.saved + parts.lost);
  useful += count * static_cast<double>(parts.saved);
  lost += count * static_cast<double>(parts.lost);
  checkpoints += count * static_cast<double>(parts.checkpoints);
  restart += count * static_cast<double>(parts.restart);
}

std::vector<Metric> FailureTotals::Metrics() const {
  return {
      {"failures", static_cast<double>(failures), true, "", "of nodes, until the last event"},
      {"failures_ignored", static_cast<double>(ignored), true, "",
       "of the log: before the first submission, or while the node was away"},
      {"jobs_hit", static_cast<double>(attempts), true, "",
       "attempts that a failure ended; each begins again"},
      {"jobs_released", static_cast<double>(released), true, "",
       "times that a job was held after too many requeues (policy.requeues_max) and let go"},
      {"repair_hours", away / kHour, false, "h", "of hardware threads on nodes under repair"},
      {"held_core_hours", held / kHour, false, "h",
       "hardware threads x time of all attempts that are over"},
      {"useful_core_hours", useful / kHour, false, "h",
       "of it: work that ended jobs or is in a checkpoint"},
      {"lost_core_hours", lost / kHour, false, "h",
       "of it: work since the last whole checkpoint of an attempt that was ended"},
      {"checkpoint_core_hours", checkpoints / kHour, false, "h", "of it: writing checkpoints"},
      {"checkpoint_shared_core_hours", shared / kHour, false, "h",
       "of that: because others wrote to the file system at the same time"},
      {"restart_core_hours", restart / kHour, false, "h",
       "of it: restarting, from a checkpoint or not"},
      {"effective_time_ratio", held > 0 ? useful / held : 1, false, "",
       "useful / held: effective training time ratio without the time in the queue; Kokolis et "
       "al., arXiv 2410.21680"},
  };
}

}  // namespace muster::sim
