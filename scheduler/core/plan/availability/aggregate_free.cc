#include "scheduler/core/plan/availability/aggregate_free.h"

#include <algorithm>
#include <utility>

namespace muster::core {
namespace {

constexpr std::size_t kFilled = 256;  // steps of a block when it is made
constexpr std::size_t kMost = 512;

}  // namespace

void FreeInAll::Renew(Block& block) {
  block.least = block.steps.front().free;
  for (const Step& step : block.steps) {
    block.least.cores = std::min(block.least.cores, step.free.cores);
    block.least.gpus = std::min(block.least.gpus, step.free.gpus);
  }
  block.least -= block.taken;
}

void FreeInAll::Fill(const std::vector<NodeTimeline>& timelines, const std::vector<bool>& usable) {
  std::vector<FreeChange> changes;
  for (std::size_t node = 0; node < timelines.size(); ++node) {
    if (usable[node]) {
      timelines[node].AppendChanges(changes);
    }
  }
  std::sort(changes.begin(), changes.end(),
            [](const FreeChange& a, const FreeChange& b) { return a.at < b.at; });
  Clear();
  CoresAndGpus sum;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    sum += changes[i].more;
    if (i + 1 < changes.size() && changes[i + 1].at == changes[i].at) {
      continue;
    }
    if (blocks_.empty() || blocks_.back().steps.size() == kFilled) {
      blocks_.emplace_back();
    }
    blocks_.back().steps.push_back({changes[i].at, sum});
  }
  for (Block& block : blocks_) {
    Renew(block);
  }
}

FreeInAll::Place FreeInAll::At(Time when) const {
  const auto block =
      std::upper_bound(blocks_.begin() + 1, blocks_.end(), when,
                       [](Time time, const Block& each) { return time < each.steps.front().from; });
  const std::vector<Step>& steps = (block - 1)->steps;
  const auto step = std::upper_bound(steps.begin() + 1, steps.end(), when,
                                     [](Time time, const Step& each) { return time < each.from; });
  return {static_cast<std::size_t>(block - blocks_.begin()) - 1,
          static_cast<std::size_t>(step - steps.begin()) - 1};
}

FreeInAll::Place FreeInAll::Split(Time when) {
  Place at = At(when);
  std::vector<Step>& steps = blocks_[at.block].steps;
  if (steps[at.step].from >= when) {
    return at;
  }
  const Step next{when, steps[at.step].free};
  steps.insert(steps.begin() + static_cast<std::ptrdiff_t>(++at.step), next);
  if (steps.size() <= kMost) {
    return at;
  }
  Block second;
  const auto middle = steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2);
  second.steps.assign(middle, steps.end());
  second.taken = blocks_[at.block].taken;
  steps.erase(middle, steps.end());
  Renew(blocks_[at.block]);
  Renew(second);
  blocks_.insert(blocks_.begin() + static_cast<std::ptrdiff_t>(at.block) + 1, std::move(second));
  return At(when);
}

void FreeInAll::Take(const CoresAndGpus& amounts, Time from, Time until) {
  Split(from);
  if (until < kFarFuture) {
    Split(until);
  }
  for (std::size_t b = At(from).block; b < blocks_.size(); ++b) {
    Block& block = blocks_[b];
    if (block.steps.front().from >= until) {
      return;
    }
    const bool all = block.steps.front().from >= from &&
                     (b + 1 < blocks_.size() ? blocks_[b + 1].steps.front().from <= until
                                             : block.steps.back().from < until);
    if (all) {
      block.taken += amounts;
      block.least -= amounts;
      continue;
    }
    for (Step& step : block.steps) {
      if (step.from >= from && step.from < until) {
        step.free -= amounts;
      }
    }
    Renew(block);
  }
}

Time FreeInAll::EarliestFit(const CoresAndGpus& amounts, Time from, Duration duration) const {
  if (blocks_.empty()) {
    return kFarFuture;  // no node is usable
  }
  Time start = from;
  Place at = At(from);
  bool waits = false;  // for the next step: what came before was too little
  for (; at.block < blocks_.size(); ++at.block, at.step = 0) {
    const Block& block = blocks_[at.block];
    const bool all_hold = block.least.Holds(amounts);
    for (; at.step < block.steps.size(); ++at.step) {
      const Step& step = block.steps[at.step];
      start = waits ? step.from : start;
      waits = false;
      if (step.from >= NeededUntil(start, duration)) {
        return start;
      }
      if (all_hold) {
        break;
      }
      waits = !(step.free - block.taken).Holds(amounts);
    }
  }
  return waits ? kFarFuture : start;
}

Time FreeInAll::NextChange(Time after) const {
  if (blocks_.empty()) {
    return kFarFuture;
  }
  if (blocks_.front().steps.front().from > after) {
    return blocks_.front().steps.front().from;
  }
  const Place at = At(after);
  const std::vector<Step>& steps = blocks_[at.block].steps;
  if (at.step + 1 < steps.size()) {
    return steps[at.step + 1].from;
  }
  return at.block + 1 < blocks_.size() ? blocks_[at.block + 1].steps.front().from : kFarFuture;
}

}  // namespace muster::core
