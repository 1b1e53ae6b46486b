#include "scheduler/core/plan/availability/cluster_timelines.h"

#include <algorithm>
#include <bit>
#include <set>
#include <tuple>
#include <utility>

namespace muster::core {
namespace {

// How many changes of nodes are remembered before all is worked out from nothing.
constexpr std::size_t kChangesKept = 1U << 20;

// True when nothing differs that decides who may use the node and what it has.
bool IsSameNode(const NodeSnapshot& a, const NodeSnapshot& b) {
  const auto members = [](const NodeSnapshot& node) {
    return std::tie(node.id, node.machine, node.up, node.drained, node.narrow, node.weight,
                    node.name, node.features, node.gpu_occupants, node.gpu_layouts);
  };
  return members(a) == members(b);
}

bool IsSameHolding(const Holding& a, const Holding& b) {
  const auto members = [](const Holding& holding) {
    return std::tie(holding.job, holding.ends, holding.cpus, holding.memory, holding.gpus,
                    holding.gres, holding.given_back, holding.back);
  };
  return members(a) == members(b);
}

// A job that would be suspended has its memory still, and the node is one of its nodes.
bool LeavesCoresAlone(const Holding& part) {
  return !part.given_back.Empty() && !part.cpus.Empty();
}

// Notes in the timeline whose jobs the node has, but for those that are gone.
void AddUsers(const Snapshot& snapshot, std::uint32_t node, const std::vector<const Holding*>& gone,
              NodeTimeline& timeline) {
  if (!snapshot.by_user) {
    return;
  }
  for (const Holding& holding : snapshot.nodes[node].holdings) {
    const bool stays = std::none_of(gone.begin(), gone.end(), [&](const Holding* other) {
      return other->job == holding.job && !LeavesCoresAlone(*other);
    });
    const auto job = std::lower_bound(snapshot.running.begin(), snapshot.running.end(), holding.job,
                                      [](const RunningJob& a, JobId b) { return a.id < b; });
    if (stays && job != snapshot.running.end() && job->id == holding.job) {
      timeline.AddUser(job->spec->user.uid, job->spec->request.exclusive_user,
                       EndOf(holding, snapshot.now));
    }
  }
}

bool HasSameUse(const NodeSnapshot& a, const NodeSnapshot& b) {
  return a.taken == b.taken && a.ready == b.ready &&
         std::equal(a.holdings.begin(), a.holdings.end(), b.holdings.begin(), b.holdings.end(),
                    IsSameHolding);
}

}  // namespace

ClusterTimelines::ClusterTimelines(const Snapshot& snapshot)
    : inventory_(snapshot),
      timelines_(snapshot.nodes.size()),
      present_(snapshot.nodes.size()),
      first_ends_(snapshot.nodes.size()),
      untaken_(snapshot.nodes.size()),
      changes_(snapshot.nodes.size()) {
  for (std::uint32_t node = 0; node < timelines_.size(); ++node) {
    present_[node].weight = snapshot.nodes[node].weight;
    Read(node);
    Note(node);
    if (inventory_.usable(node)) {
      by_free_.Add(node, KeyOf(node));
    }
  }
}

FreeIndex::Key ClusterTimelines::KeyOf(std::uint32_t node) const {
  const FreeAmounts& free = timelines_[node].now();
  return {present_[node].weight, CountGpus(free, ~0U), free.cores};
}

void ClusterTimelines::Note(std::uint32_t node) {
  present_[node].free = timelines_[node].now();
  present_[node].least = timelines_[node].IsLeastNow();
}

CandidateNode ClusterTimelines::Candidate(std::uint32_t node, std::uint32_t room) const {
  const Present& present = present_[node];
  return CandidateNode{&inventory_.snapshot().nodes[node], node, room, present.free.cores,
                       present.weight};
}

FreeAmounts ClusterTimelines::LeastFree(std::uint32_t node, Time end) const {
  const Present& present = present_[node];
  return present.least ? present.free : timelines_[node].Least(inventory_.now(), end);
}

void ClusterTimelines::Reindex(std::uint32_t node, const FreeIndex::Key& before) {
  Note(node);
  const FreeIndex::Key after = KeyOf(node);
  if (inventory_.usable(node) && before != after) {
    by_free_.Move(node, before, after);
  }
}

const FreeInAll& ClusterTimelines::InAll() const {
  if (!in_all_.filled()) {
    in_all_.Fill(timelines_, inventory_.usable());
  }
  return in_all_;
}

void ClusterTimelines::Read(std::uint32_t node) {
  const NodeSnapshot& node_snapshot = inventory_.snapshot().nodes[node];
  timelines_[node] = TimelineOf(node_snapshot, inventory_.capacity(node), inventory_.now());
  AddUsers(inventory_.snapshot(), node, {}, timelines_[node]);
  Time first = node_snapshot.ready == kNoTime ? kFarFuture : node_snapshot.ready;
  for (const Holding& holding : node_snapshot.holdings) {
    if (holding.ends != kNoTime) {
      first = std::min(first, holding.ends);
    }
  }
  first_ends_.Set(node, first);
}

bool ClusterTimelines::MoveTo(const Snapshot& next) {
  const Snapshot& last = inventory_.snapshot();
  if (next.nodes.size() != timelines_.size() || next.now < last.now ||
      next.network != last.network || next.narrow_links != last.narrow_links ||
      next.by_user != last.by_user || changes_.mark() > kChangesKept) {
    return false;
  }
  GiveBack();
  inventory_.MoveTo(next);
  if (!next.delta.has_value() || next.delta->from != &last || next.delta->since != last.version) {
    for (std::uint32_t node = 0; node < timelines_.size(); ++node) {
      if (!MoveNode(node, last.nodes[node])) {
        return false;
      }
    }
    return true;
  }
  // Of the others the timelines begin earlier than now; Touch mends that.
  std::set<std::uint32_t> look(next.delta->nodes.begin(), next.delta->nodes.end());
  first_ends_.AddDue(next.now, look);
  return std::all_of(look.begin(), look.end(),
                     [&](std::uint32_t node) { return MoveNode(node, last.nodes[node]); });
}

bool ClusterTimelines::MoveNode(std::uint32_t node, const NodeSnapshot& before) {
  const NodeSnapshot& node_snapshot = inventory_.snapshot().nodes[node];
  if (!IsSameNode(before, node_snapshot)) {
    return false;
  }
  if (first_ends_.Of(node) <= inventory_.now() || !HasSameUse(before, node_snapshot)) {
    const FreeIndex::Key key = KeyOf(node);
    Read(node);
    Reindex(node, key);
    changes_.Add(node);
  }
  return true;
}

NodeTimeline& ClusterTimelines::Touch(std::uint32_t node) {
  in_all_.Clear();
  timelines_[node].StartAt(inventory_.now());
  untaken_.Keep(node, timelines_[node]);
  return timelines_[node];
}

void ClusterTimelines::GiveBack() {
  in_all_.Clear();
  untaken_.TakeAll([this](std::uint32_t node, NodeTimeline timeline) {
    const FreeIndex::Key key = KeyOf(node);
    timelines_[node] = std::move(timeline);
    Reindex(node, key);
  });
}

void ClusterTimelines::Take(const Opening& opening, const std::vector<NodeDemand>& demands,
                            Time end) {
  FreeInAll in_all = std::exchange(in_all_, FreeInAll());
  CoresAndGpus sum;
  for (std::size_t i = 0; i < opening.shares.size(); ++i) {
    const NodeDemand& demand = demands[i];
    TakeOn(opening.shares[i].node, demand, opening.start, end);
    sum.cores += demand.cores;
    sum.gpus += demand.gpus;
    if (demand.shares > 0) {
      in_all.Clear();  // how many whole GPUs they break hangs on what is left of these
    }
  }
  if (in_all.filled()) {
    in_all.Take(sum, opening.start, end);
  }
  in_all_ = std::move(in_all);
}

void ClusterTimelines::TakeOn(std::uint32_t node, const NodeDemand& demand, Time from, Time until) {
  const FreeIndex::Key key = KeyOf(node);
  Touch(node).Take(demand, from, until);
  Reindex(node, key);
}

void ClusterTimelines::LendOn(std::uint32_t node, const NodeDemand& demand, Time from, Time until) {
  FreeAmounts back;
  back.cores = demand.cores;
  back.memory = demand.memory;
  back.gres = demand.gres;
  const FreeAmounts& all = inventory_.capacity(node).all;
  std::uint32_t models = 0;  // that the node has, and that will do
  for (std::size_t i = 0; i < kGpuModels; ++i) {
    models |= all.shares[i] > 0 ? demand.gpu_models & 1U << i : 0U;
  }
  if (std::has_single_bit(models)) {
    const auto model = static_cast<std::size_t>(std::countr_zero(models));
    back.gpus[model] = static_cast<std::uint16_t>(demand.gpus);
    back.shares[model] = demand.gpus * kWholeGpu.value() + demand.shares;
  }
  const FreeIndex::Key key = KeyOf(node);
  const Time begin = std::max(from, inventory_.now());
  if (begin < until) {
    NodeTimeline& timeline = Touch(node);
    timeline.Lend(back, begin, until, all);
    timeline.TakeBackUser(demand, begin, until);
  }
  Reindex(node, key);
}

void ClusterTimelines::TakeInPlaceOf(const std::vector<const Holding*>& holdings,
                                     std::uint32_t node, const NodeDemand& demand, Time from,
                                     Time until) {
  const FreeIndex::Key key = KeyOf(node);
  NodeTimeline& timeline = Touch(node);
  const NodeTimeline before = timeline;
  if (!holdings.empty()) {
    timeline = Without(node, holdings);
  }
  timeline.Take(demand, from, until);
  timeline.CapBy(before);
  Reindex(node, key);
}

void ClusterTimelines::BreakGpu(std::uint32_t node, std::size_t model, Time from, Time until) {
  const FreeIndex::Key key = KeyOf(node);
  Touch(node).BreakGpu(model, from, until);
  Reindex(node, key);
}

void ClusterTimelines::Restore(std::uint32_t node, NodeTimeline timeline) {
  in_all_.Clear();
  const FreeIndex::Key key = KeyOf(node);
  timelines_[node] = std::move(timeline);
  Reindex(node, key);
}

NodeTimeline ClusterTimelines::Without(std::uint32_t node,
                                       const std::vector<const Holding*>& holdings) const {
  const Time now = inventory_.now();
  const NodeCapacity& all = inventory_.capacity(node);
  NodeTimeline timeline = timelines_[node];
  timeline.StartAt(now);
  for (const Holding* holding : holdings) {
    timeline.Lend(AmountsOf(*holding, *inventory_.snapshot().nodes[node].machine, all), now,
                  EndOf(*holding, now), all.all);
  }
  if (inventory_.snapshot().by_user) {
    timeline.ForgetUsers();
    AddUsers(inventory_.snapshot(), node, holdings, timeline);
  }
  return timeline;
}

}  // namespace muster::core
