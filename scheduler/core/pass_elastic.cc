// The part of a pass that looks at running elastic jobs, after all that wait: they grow on what is
// left.
#include <algorithm>
#include <vector>

#include "scheduler/core/alternatives.h"
#include "scheduler/core/elastic_size.h"
#include "scheduler/core/pass.h"

namespace muster {

const PlannedResize* Pass::GrowingBefore(const RunningJob& job) const {
  const auto found =
      std::lower_bound(snapshot_.growing.begin(), snapshot_.growing.end(), job.id,
                       [](const PlannedResize& resize, JobId id) { return resize.job < id; });
  return found != snapshot_.growing.end() && found->job == job.id &&
                 found->attempt == job.attempt && found->verdict == ResizeVerdict::kGrow
             ? &*found
             : nullptr;
}

// The option by which the job runs; null when its partition takes it no more.
const StartOption* Pass::OptionOf(const RunningJob& job) {
  for (const StartOption* option : options_.Of(job.spec)) {
    if (option->partition == job.partition) {
      return option;
    }
  }
  return nullptr;
}

std::vector<bool> Pass::NodesOf(const RunningJob& job) const {
  std::vector<bool> own(snapshot_.nodes.size(), false);
  for (const NodeId id : job.nodes) {
    own[*PositionOf(id)] = true;
  }
  return own;
}

void Pass::KeepRoomToGrow() {
  for (const RunningJob& job : snapshot_.running) {
    const PlannedResize* planned = job.resizing ? GrowingBefore(job) : nullptr;
    const StartOption* option = planned == nullptr ? nullptr : OptionOf(job);
    if (option == nullptr) {
      continue;
    }
    plan_.resizes.push_back(*planned);
    const std::vector<bool> own = NodesOf(job);
    Need more = option->need;
    more.barred = &own;
    const std::uint32_t count =
        availability_.CountNow(more, TasksOnEach(option->request),
                               planned->nodes - static_cast<std::uint32_t>(job.nodes.size()));
    if (count == 0) {
      continue;
    }
    Need kept = options_.OnNodes(*option, count)->need;
    kept.barred = &own;
    if (const std::optional<Opening> opening = availability_.FindNow(kept)) {
      availability_.Take(kept, *opening);
    }
  }
}

std::uint32_t Pass::RoomToGrow(const RunningJob& job, const StartOption& option,
                               std::uint32_t most) {
  const std::vector<bool> own = NodesOf(job);
  Need more = option.need;
  more.barred = &own;
  const std::uint32_t count = availability_.CountNow(more, TasksOnEach(option.request), most);
  if (count == 0 || snapshot_.policy == nullptr) {
    return count;
  }
  // As another job of the same kind, which asks no less of the limits.
  const StartOption& sized = *options_.OnNodes(option, count);
  Need need = sized.need;
  need.barred = &own;
  const std::optional<Found> found = FindPlace(job.id, need);
  WaitingJob as_waiting;
  as_waiting.id = job.id;
  as_waiting.spec = job.spec;
  PassUsage usage = usage_;
  std::optional<Reason> limit;
  return found.has_value() && CountInLimits(as_waiting, sized, found->allocation, usage, limit)
             ? count
             : 0;
}

ElasticStanding Pass::StandingOf(const RunningJob& job) {
  ElasticStanding standing;
  standing.nodes = static_cast<std::uint32_t>(job.nodes.size());
  standing.most = std::max(job.spec->request.max_nodes, standing.nodes);
  standing.within = standing.nodes;
  standing.cost = job.change_cost;
  standing.changed = job.resized;
  if (job.spec->time_limit > Duration(0)) {
    standing.left = job.started + job.suspended + job.spec->time_limit - snapshot_.now;
  }
  if (const PlannedResize* planned = GrowingBefore(job)) {
    standing.due = planned->when;
  }
  const StartOption* option = OptionOf(job);
  if (option != nullptr && standing.nodes < standing.most) {
    standing.within += RoomToGrow(job, *option, standing.most - standing.nodes);
  }
  return standing;
}

void Pass::LookAtElastic() {
  for (const RunningJob& job : snapshot_.running) {
    if (!job.spec->elastic || job.ending || job.component || job.state != JobState::kRunning ||
        preemption_.GivesWay(job.id)) {
      continue;
    }
    PlannedResize resize = JudgeSize(StandingOf(job), config_.elastic, snapshot_.now);
    resize.job = job.id;
    resize.attempt = job.attempt;
    if (resize.when > snapshot_.now) {
      WakeAt(resize.when, counts_);
    }
    plan_.resizes.push_back(resize);
  }
  std::sort(plan_.resizes.begin(), plan_.resizes.end(),
            [](const PlannedResize& a, const PlannedResize& b) { return a.job < b.job; });
}

}  // namespace muster
