#include "scheduler/core/plan/cycle/elastic_resizer.h"

#include <algorithm>

#include "scheduler/core/place/nodes/narrow_choice.h"
#include "scheduler/core/place/request.h"
#include "scheduler/core/state/tables/alternatives.h"

namespace muster::core {
namespace {

// So often a cycle looks what an elastic job could give to a job that waits.
constexpr std::uint32_t kShrinksTried = 32;

}  // namespace

const PlannedResize* ElasticResizer::ChangingBefore(const RunningJob& job,
                                                    ResizeVerdict how) const {
  const std::vector<PlannedResize>& growing = cycle_.snapshot.growing;
  const auto found =
      std::lower_bound(growing.begin(), growing.end(), job.id,
                       [](const PlannedResize& resize, JobId id) { return resize.job < id; });
  return found != growing.end() && found->job == job.id && found->attempt == job.attempt &&
                 found->verdict == how
             ? &*found
             : nullptr;
}

const StartOption* ElasticResizer::OptionOf(const RunningJob& job) {
  for (const StartOption* option : cycle_.options.Of(job.spec)) {
    if (option->partition == job.partition) {
      return option;
    }
  }
  return nullptr;
}

std::vector<bool> ElasticResizer::NodesOf(const RunningJob& job) const {
  std::vector<bool> own(cycle_.snapshot.nodes.size(), false);
  for (const NodeId id : job.nodes) {
    own[*PositionOf(cycle_.snapshot, id)] = true;
  }
  return own;
}

std::vector<bool> ElasticResizer::BarredToGrow(const RunningJob& job) const {
  std::vector<bool> barred = NodesOf(job);
  const NodeTree* tree = cycle_.availability.inventory().tree();
  for (const NodeId id : tree == nullptr ? std::vector<NodeId>() : job.nodes) {
    MarkAcross(*PositionOf(cycle_.snapshot, id), *tree, barred);
  }
  return barred;
}

bool ElasticResizer::MayChange(const RunningJob& job) const {
  return job.spec->elastic && !job.ending && !job.component && IsRunning(job.state) &&
         !cycle_.preemption.GivesWay(job.id) && !cycle_.plan.Shrinks(job.id);
}

void ElasticResizer::KeepRoomToGrow() {
  if (cycle_.snapshot.none_elastic) {
    return;
  }
  for (const RunningJob& job : cycle_.snapshot.running) {
    const PlannedResize* planned =
        job.resizing ? ChangingBefore(job, ResizeVerdict::kGrow) : nullptr;
    const StartOption* option = planned == nullptr ? nullptr : OptionOf(job);
    if (option == nullptr) {
      continue;
    }
    cycle_.plan.Resize(*planned);
    const std::vector<bool> barred = BarredToGrow(job);
    Need more = option->need;
    more.barred = &barred;
    const std::uint32_t count =
        cycle_.availability.CountNow(more, TasksOnEach(option->request),
                                     planned->nodes - static_cast<std::uint32_t>(job.nodes.size()));
    if (count == 0) {
      continue;
    }
    Need kept = cycle_.options.OnNodes(*option, count)->need;
    kept.barred = &barred;
    if (const std::optional<Opening> opening = cycle_.availability.FindNow(kept)) {
      cycle_.availability.Take(kept, *opening);
    }
  }
}

std::uint32_t ElasticResizer::RoomToGrow(const RunningJob& job, const StartOption& option,
                                         std::uint32_t most) {
  const std::vector<bool> barred = BarredToGrow(job);
  Need more = option.need;
  more.barred = &barred;
  const std::uint32_t count = cycle_.availability.CountNow(more, TasksOnEach(option.request), most);
  if (count == 0 || cycle_.snapshot.policy == nullptr) {
    return count;
  }
  // As another job of the same kind, which asks no less of the limits.
  const StartOption& sized = *cycle_.options.OnNodes(option, count);
  Need need = sized.need;
  need.barred = &barred;
  const std::optional<JobStarter::Found> found = starter_.FindPlace(job.id, need);
  WaitingJob as_waiting;
  as_waiting.id = job.id;
  as_waiting.spec = job.spec;
  CycleUsage usage = cycle_.usage;
  std::optional<Reason> limit;
  return found.has_value() &&
                 starter_.CountInLimits(as_waiting, sized, found->allocation, usage, limit)
             ? count
             : 0;
}

ElasticStatus ElasticResizer::StatusOf(const RunningJob& job, ResizeVerdict change) const {
  ElasticStatus status;
  status.nodes = static_cast<std::uint32_t>(job.nodes.size());
  status.most = std::max(job.spec->request.max_nodes, status.nodes);
  status.within = status.nodes;
  status.cost = job.change_cost;
  status.changed = job.resized;
  if (const PlannedResize* planned = ChangingBefore(job, change)) {
    status.due = planned->when;
  }
  if (job.spec->time_limit > Duration(0)) {
    status.left = job.started + job.suspended + job.spec->time_limit - cycle_.snapshot.now;
  }
  return status;
}

ElasticStatus ElasticResizer::StatusToGrow(const RunningJob& job) {
  ElasticStatus status = StatusOf(job, ResizeVerdict::kGrow);
  const StartOption* option = OptionOf(job);
  if (option != nullptr && status.nodes < status.most) {
    status.within += RoomToGrow(job, *option, status.most - status.nodes);
  }
  return status;
}

bool ElasticResizer::MayShrink() const {
  return cycle_.preemption.any_elastic() && cycle_.config.elastic.shrink &&
         shrinks_tried_ < kShrinksTried;
}

std::optional<PlannedResize> ElasticResizer::ShrunkBy(std::size_t position,
                                                      const Eviction& eviction, JobId job,
                                                      Time start) const {
  const Time now = cycle_.snapshot.now;
  const RunningJob& elastic = cycle_.snapshot.running[position];
  const std::vector<bool> own = NodesOf(elastic);
  const auto given = static_cast<std::uint32_t>(
      std::count_if(eviction.opening.shares.begin(), eviction.opening.shares.end(),
                    [&own](const NodeShare& share) { return own[share.node]; }));
  const ResourceRequest& request = elastic.spec->request;
  ElasticStatus status = StatusOf(elastic, ResizeVerdict::kShrink);
  std::uint32_t rest = status.nodes - std::min(given, status.nodes);
  rest -= IsInSegments(request) ? rest % request.segment : 0;
  if (rest < std::max(request.min_nodes, 1U)) {
    return std::nullopt;
  }
  status.within = rest;
  const Duration wait = start == kNoTime ? kNeverEnds : start - now;
  PlannedResize resize = JudgeShrink(status, wait, cycle_.config.elastic, now);
  resize.job = elastic.id;
  resize.attempt = elastic.attempt;
  resize.for_job = job;
  return resize;
}

bool ElasticResizer::PlanShrink(std::size_t position, const WaitingJob& job,
                                const StartOption& option, Time start,
                                std::optional<Time>* starts) {
  ++shrinks_tried_;
  const Time now = cycle_.snapshot.now;
  const std::optional<Eviction> eviction = cycle_.preemption.FindWithout(position, option);
  const std::optional<PlannedResize> resize =
      eviction.has_value() ? ShrunkBy(position, *eviction, job.id, start) : std::nullopt;
  if (resize.has_value() && resize->when > now) {
    WakeAt(resize->when, cycle_.counts);
  }
  if (!resize.has_value() || resize->verdict != ResizeVerdict::kShrink) {
    return false;
  }
  cycle_.plan.Resize(*resize);
  if (resize->when <= now) {
    *starts = reservations_.TakeOver(job.id, option, *eviction);
  }
  return true;
}

std::optional<Time> ElasticResizer::ShrinkFor(const WaitingJob& job, const OptionList& options,
                                              const Prospect& prospect) {
  const bool known = prospect.option != nullptr && prospect.opening.start < kHorizon;
  const Time start = known ? prospect.opening.start : kNoTime;
  const std::vector<RunningJob>& running = cycle_.snapshot.running;
  std::optional<Time> starts;
  for (std::size_t i = running.size(); i-- > 0;) {  // the youngest first
    if (!MayChange(running[i]) || running[i].nodes.size() <= running[i].spec->request.min_nodes) {
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

void ElasticResizer::JudgeSizes() {
  if (!cycle_.preemption.any_elastic()) {
    return;
  }
  for (const RunningJob& job : cycle_.snapshot.running) {
    if (!MayChange(job)) {
      continue;
    }
    PlannedResize resize = JudgeSize(StatusToGrow(job), cycle_.config.elastic, cycle_.snapshot.now);
    resize.job = job.id;
    resize.attempt = job.attempt;
    if (resize.when > cycle_.snapshot.now) {
      WakeAt(resize.when, cycle_.counts);
    }
    cycle_.plan.Resize(resize);
  }
}

}  // namespace muster::core
