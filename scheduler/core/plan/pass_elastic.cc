// The part of a pass that looks at running elastic jobs. What they have beyond the least that they
// asked for is lent: jobs that would wait long for it get it. After all that wait they grow on what
// is left.
#include <algorithm>
#include <vector>

#include "scheduler/core/place/request.h"
#include "scheduler/core/plan/pass.h"
#include "scheduler/core/plan/search/elastic_size.h"
#include "scheduler/core/state/books/alternatives.h"

namespace muster {
namespace {

// So often a pass looks what an elastic job could give to a job that waits.
constexpr std::uint32_t kShrinksTried = 32;

bool MayChange(const RunningJob& job) {
  return job.spec->elastic && !job.ending && !job.component && job.state == JobState::kRunning;
}

bool IsShrunk(const Plan& plan, JobId job) {
  return std::any_of(plan.resizes.begin(), plan.resizes.end(), [job](const PlannedResize& resize) {
    return resize.job == job && resize.verdict == ResizeVerdict::kShrink;
  });
}

}  // namespace

const PlannedResize* Pass::ChangingBefore(const RunningJob& job, ResizeVerdict how) const {
  const auto found =
      std::lower_bound(snapshot_.growing.begin(), snapshot_.growing.end(), job.id,
                       [](const PlannedResize& resize, JobId id) { return resize.job < id; });
  return found != snapshot_.growing.end() && found->job == job.id &&
                 found->attempt == job.attempt && found->verdict == how
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
    const PlannedResize* planned =
        job.resizing ? ChangingBefore(job, ResizeVerdict::kGrow) : nullptr;
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

ElasticStanding Pass::StandingOf(const RunningJob& job, ResizeVerdict change) const {
  ElasticStanding standing;
  standing.nodes = static_cast<std::uint32_t>(job.nodes.size());
  standing.most = std::max(job.spec->request.max_nodes, standing.nodes);
  standing.within = standing.nodes;
  standing.cost = job.change_cost;
  standing.changed = job.resized;
  if (const PlannedResize* planned = ChangingBefore(job, change)) {
    standing.due = planned->when;
  }
  if (job.spec->time_limit > Duration(0)) {
    standing.left = job.started + job.suspended + job.spec->time_limit - snapshot_.now;
  }
  return standing;
}

ElasticStanding Pass::StandingToGrow(const RunningJob& job) {
  ElasticStanding standing = StandingOf(job, ResizeVerdict::kGrow);
  const StartOption* option = OptionOf(job);
  if (option != nullptr && standing.nodes < standing.most) {
    standing.within += RoomToGrow(job, *option, standing.most - standing.nodes);
  }
  return standing;
}

bool Pass::MayShrink() const {
  return preemption_.any_elastic() && config_.elastic.shrink && shrinks_tried_ < kShrinksTried;
}

std::optional<PlannedResize> Pass::ShrunkBy(std::size_t position, const Eviction& eviction,
                                            JobId job, Time start) {
  const RunningJob& elastic = snapshot_.running[position];
  const std::vector<bool> own = NodesOf(elastic);
  const auto given = static_cast<std::uint32_t>(
      std::count_if(eviction.opening.shares.begin(), eviction.opening.shares.end(),
                    [&own](const NodeShare& share) { return own[share.node]; }));
  const ResourceRequest& request = elastic.spec->request;
  ElasticStanding standing = StandingOf(elastic, ResizeVerdict::kShrink);
  std::uint32_t rest = standing.nodes - std::min(given, standing.nodes);
  rest -= IsInSegments(request) ? rest % request.segment : 0;
  if (rest < std::max(request.min_nodes, 1U)) {
    return std::nullopt;
  }
  standing.within = rest;
  const Duration wait = start == kNoTime ? kNeverEnds : start - snapshot_.now;
  PlannedResize resize = JudgeShrink(standing, wait, config_.elastic, snapshot_.now);
  resize.job = elastic.id;
  resize.attempt = elastic.attempt;
  resize.for_job = job;
  return resize;
}

bool Pass::MayGive(const RunningJob& job) const {
  return MayChange(job) && job.nodes.size() > job.spec->request.min_nodes &&
         !preemption_.GivesWay(job.id) && !IsShrunk(plan_, job.id);
}

bool Pass::PlanShrink(std::size_t position, const WaitingJob& job, const StartOption& option,
                      Time start, std::optional<Time>* starts) {
  ++shrinks_tried_;
  const std::optional<Eviction> eviction = preemption_.FindWithout(position, option);
  const std::optional<PlannedResize> resize =
      eviction.has_value() ? ShrunkBy(position, *eviction, job.id, start) : std::nullopt;
  if (resize.has_value() && resize->when > snapshot_.now) {
    WakeAt(resize->when, counts_);
  }
  if (!resize.has_value() || resize->verdict != ResizeVerdict::kShrink) {
    return false;
  }
  plan_.resizes.push_back(*resize);
  if (resize->when <= snapshot_.now) {
    *starts = TakeOver(job.id, option, *eviction);
  }
  return true;
}

std::optional<Time> Pass::ShrinkFor(const WaitingJob& job, const Options& options,
                                    const Prospect& prospect) {
  const bool known = prospect.option != nullptr && prospect.opening.start < kHorizon;
  const Time start = known ? prospect.opening.start : kNoTime;
  std::optional<Time> starts;
  for (std::size_t i = snapshot_.running.size(); i-- > 0;) {  // the youngest first
    if (!MayGive(snapshot_.running[i])) {
      continue;
    }
    for (const StartOption* option : options) {
      if (shrinks_tried_ == kShrinksTried || PlanShrink(i, job, *option, start, &starts)) {
        return starts;
      }
    }
  }
  return std::nullopt;
}

void Pass::LookAtElastic() {
  for (const RunningJob& job : snapshot_.running) {
    if (!MayChange(job) || preemption_.GivesWay(job.id) || IsShrunk(plan_, job.id)) {
      continue;
    }
    PlannedResize resize = JudgeSize(StandingToGrow(job), config_.elastic, snapshot_.now);
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
