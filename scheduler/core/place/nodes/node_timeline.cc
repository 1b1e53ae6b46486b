#include "scheduler/core/place/nodes/node_timeline.h"

#include <algorithm>

namespace muster::core {
namespace {

void AddAmounts(FreeAmounts& to, const FreeAmounts& more) {
  to.cores += more.cores;
  to.memory += more.memory;
  for (std::size_t i = 0; i < kGpuModels; ++i) {
    to.gpus[i] = static_cast<std::uint16_t>(to.gpus[i] + more.gpus[i]);
    to.shares[i] += more.shares[i];
  }
  for (std::size_t i = 0; i < kGresKinds; ++i) {
    to.gres[i] += more.gres[i];
  }
}

void Lower(FreeAmounts& to, const FreeAmounts& other) {
  to.cores = std::min(to.cores, other.cores);
  to.memory = std::min(to.memory, other.memory);
  for (std::size_t i = 0; i < kGpuModels; ++i) {
    to.gpus[i] = std::min(to.gpus[i], other.gpus[i]);
    to.shares[i] = std::min(to.shares[i], other.shares[i]);
  }
  for (std::size_t i = 0; i < kGresKinds; ++i) {
    to.gres[i] = std::min(to.gres[i], other.gres[i]);
  }
  to.users.Add(other.users);
}

// GPUs and shares come from the first models of the mask that have some. Shares are taken to fill
// up GPUs: no more of these stay whole than there are thousands left.
void Subtract(FreeAmounts& from, const NodeDemand& demand) {
  from.cores -= std::min(from.cores, demand.cores);
  from.memory -= std::min(from.memory, demand.memory);
  for (std::size_t i = 0; i < kGresKinds; ++i) {
    from.gres[i] -= std::min(from.gres[i], demand.gres[i]);
  }
  std::uint32_t left = demand.gpus;
  for (std::size_t i = 0; i < kGpuModels && left > 0; ++i) {
    if ((demand.gpu_models >> i & 1U) != 0) {
      const std::uint32_t some = std::min<std::uint32_t>(left, from.gpus[i]);
      from.gpus[i] = static_cast<std::uint16_t>(from.gpus[i] - some);
      from.shares[i] -= std::min(some * kWholeGpu.value(), from.shares[i]);
      left -= some;
    }
  }
  std::uint32_t shares = demand.shares;
  for (std::size_t i = 0; i < kGpuModels && shares > 0; ++i) {
    if ((demand.gpu_models >> i & 1U) != 0) {
      const std::uint32_t some = std::min(shares, from.shares[i]);
      from.shares[i] -= some;
      from.gpus[i] = static_cast<std::uint16_t>(
          std::min<std::uint32_t>(from.gpus[i], from.shares[i] / kWholeGpu.value()));
      shares -= some;
    }
  }
}

}  // namespace

std::uint32_t CountGpus(const FreeAmounts& amounts, std::uint32_t gpu_models) {
  std::uint32_t gpus = 0;
  for (std::size_t i = 0; i < kGpuModels; ++i) {
    gpus += (gpu_models >> i & 1U) != 0 ? amounts.gpus[i] : 0U;
  }
  return gpus;
}

std::uint32_t CountShares(const FreeAmounts& amounts, std::uint32_t gpu_models) {
  std::uint32_t shares = 0;
  for (std::size_t i = 0; i < kGpuModels; ++i) {
    shares += (gpu_models >> i & 1U) != 0 ? amounts.shares[i] : 0U;
  }
  return shares;
}

bool Holds(const FreeAmounts& amounts, const NodeDemand& demand) {
  for (std::size_t i = 0; i < kGresKinds; ++i) {
    if (amounts.gres[i] < demand.gres[i]) {
      return false;
    }
  }
  return amounts.cores >= demand.cores && amounts.memory >= demand.memory &&
         amounts.users.Admit(demand.user, demand.alone) &&
         (demand.gpus == 0 || CountGpus(amounts, demand.gpu_models) >= demand.gpus) &&
         (demand.shares == 0 || CountShares(amounts, demand.gpu_models) >= demand.shares);
}

void NodeTimeline::Release(Time when, const FreeAmounts& amounts, const FreeAmounts& all) {
  if (when >= kFarFuture) {
    return;
  }
  for (std::size_t i = Split(std::max(when, segments_.front().from)); i < segments_.size(); ++i) {
    AddAmounts(segments_[i].free, amounts);
    Lower(segments_[i].free, all);
  }
}

void NodeTimeline::Lend(const FreeAmounts& amounts, Time from, Time until, const FreeAmounts& all) {
  const std::size_t first = Split(from);
  const std::size_t end = until >= kFarFuture ? segments_.size() : Split(until);
  for (std::size_t i = first; i < end; ++i) {
    AddAmounts(segments_[i].free, amounts);
    Lower(segments_[i].free, all);
  }
}

void NodeTimeline::Take(const NodeDemand& demand, Time from, Time until) {
  const std::size_t first = Split(from);
  const std::size_t end = until >= kFarFuture ? segments_.size() : Split(until);
  for (std::size_t i = first; i < end; ++i) {
    Subtract(segments_[i].free, demand);
    if (demand.user != kAnyUser) {
      segments_[i].free.users.Add(demand.user, demand.alone);
    }
  }
  if (demand.user != kAnyUser) {
    taken_by_.push_back({demand.user, demand.alone, from, until});
  }
}

void NodeTimeline::BreakGpu(std::size_t model, Time from, Time until) {
  const std::size_t first = Split(std::max(from, segments_.front().from));
  const std::size_t end = until >= kFarFuture ? segments_.size() : Split(until);
  for (std::size_t i = first; i < end; ++i) {
    std::uint16_t& gpus = segments_[i].free.gpus[model];
    gpus = static_cast<std::uint16_t>(gpus - (gpus > 0 ? 1 : 0));
  }
}

void NodeTimeline::AddUser(std::uint32_t user, bool alone, Time until) {
  const std::size_t end = until >= kFarFuture ? segments_.size() : Split(until);
  for (std::size_t i = 0; i < end; ++i) {
    segments_[i].held_by.Add(user, alone);
    segments_[i].free.users.Add(user, alone);
  }
}

void NodeTimeline::ForgetUsers() {
  for (Segment& segment : segments_) {
    segment.held_by = NodeUsers();
    SetUsers(segment);
  }
}

void NodeTimeline::TakeBackUser(const NodeDemand& demand, Time from, Time until) {
  const auto named = std::find(taken_by_.begin(), taken_by_.end(),
                               UserThere{demand.user, demand.alone, from, until});
  if (named == taken_by_.end()) {
    return;
  }
  taken_by_.erase(named);
  for (std::size_t i = At(from); i < segments_.size() && segments_[i].from < until; ++i) {
    SetUsers(segments_[i]);
  }
}

void NodeTimeline::SetUsers(Segment& segment) const {
  segment.free.users = segment.held_by;
  for (const UserThere& there : taken_by_) {
    if (there.from <= segment.from && segment.from < there.until) {
      segment.free.users.Add(there.user, there.alone);
    }
  }
}

void NodeTimeline::CapBy(const NodeTimeline& other) {
  for (const Segment& segment : other.segments_) {
    Split(segment.from);
  }
  for (Segment& segment : segments_) {
    const Segment& cap = other.segments_[other.At(segment.from)];
    Lower(segment.free, cap.free);
    segment.held_by.Add(cap.held_by);
  }
}

void NodeTimeline::AppendTimes(std::vector<Time>& times) const {
  for (const Segment& segment : segments_) {
    times.push_back(segment.from);
  }
}

void NodeTimeline::AppendChanges(std::vector<FreeChange>& changes) const {
  CoresAndGpus before;
  for (const Segment& segment : segments_) {
    const CoresAndGpus after{segment.free.cores, CountGpus(segment.free, ~0U)};
    changes.push_back({segment.from, after - before});
    before = after;
  }
}

FreeAmounts NodeTimeline::Least(Time from, Time until) const {
  std::size_t i = At(from);
  FreeAmounts least = segments_[i].free;
  for (++i; i < segments_.size() && segments_[i].from < until; ++i) {
    Lower(least, segments_[i].free);
  }
  return least;
}

bool NodeTimeline::IsLeastNow() const {
  return std::all_of(segments_.begin() + 1, segments_.end(), [this](const Segment& later) {
    FreeAmounts least = now();
    Lower(least, later.free);
    return least == now();
  });
}

Time NodeTimeline::EarliestFit(const NodeDemand& demand, Time from, Duration duration) const {
  Time start = from;
  for (std::size_t i = At(from); i < segments_.size(); ++i) {
    if (segments_[i].from >= NeededUntil(start, duration)) {
      return start;
    }
    if (!Holds(segments_[i].free, demand)) {
      start = i + 1 < segments_.size() ? segments_[i + 1].from : kFarFuture;
    }
  }
  return start;
}

Time NodeTimeline::FitsUntil(const NodeDemand& demand, Time start, Duration duration) const {
  for (std::size_t i = At(start) + 1; i < segments_.size(); ++i) {
    if (!Holds(segments_[i].free, demand)) {
      const Time end = segments_[i].from;
      return duration.count() <= 0 || end >= kHorizon ? start : std::max(start, end - duration);
    }
  }
  return kFarFuture;
}

std::size_t NodeTimeline::At(Time when) const {
  // Mostly asked about now, which is the first segment; that one holds what is before it, too.
  if (segments_.size() == 1 || when < segments_[1].from) {
    return 0;
  }
  const auto after =
      std::upper_bound(segments_.begin() + 1, segments_.end(), when,
                       [](Time time, const Segment& segment) { return time < segment.from; });
  return static_cast<std::size_t>(after - segments_.begin()) - 1;
}

std::size_t NodeTimeline::Split(Time when) {
  const std::size_t at = At(when);
  if (segments_[at].from >= when) {
    return at;
  }
  segments_.insert(segments_.begin() + static_cast<std::ptrdiff_t>(at) + 1,
                   Segment{when, segments_[at].free, segments_[at].held_by});
  return at + 1;
}

Duration PlannedDuration(Duration time_limit) {
  constexpr Duration kCentury = std::chrono::hours(24 * 36500);
  return time_limit >= kCentury ? Duration(0) : time_limit;
}

Time EndOf(Time start, Duration duration) {
  if (start >= kHorizon) {
    return kFarFuture;
  }
  return duration.count() <= 0 || kHorizon - start <= duration ? kHorizon : start + duration;
}

Time NeededUntil(Time start, Duration duration) {
  return duration.count() <= 0 ? kFarFuture : EndOf(start, duration);
}

}  // namespace muster::core
