#pragma once

// What is free of all usable nodes together from now on: cores, and GPUs of whatever model.
//
// A job cannot start at a time at which all nodes together have too little for it, however its
// tasks are divided; so a search over times asks here first, and looks at the nodes where the
// answer is yes. Thread promise: plain value, owned by one cycle. Invariants: while filled() it is
// the sum of the nodes' timelines, and its times are theirs, whatever it was filled from and in
// which order things were taken since.

#include <cstdint>
#include <vector>

#include "scheduler/core/place/nodes/node_timeline.h"
#include "scheduler/model/value/time.h"

namespace muster::core {

class FreeInAll {
 public:
  [[nodiscard]] bool filled() const { return !blocks_.empty(); }
  void Fill(const std::vector<NodeTimeline>& timelines, const std::vector<bool>& usable);
  // Of no use any more until it is filled again.
  void Clear() { blocks_.clear(); }

  // So much is taken in [from, until) out of a timeline of the sum. REQUIRES: filled().
  void Take(const CoresAndGpus& amounts, Time from, Time until);

  // The first time from `from` on at which so much is free for so long; kFarFuture for never.
  [[nodiscard]] Time EarliestFit(const CoresAndGpus& amounts, Time from, Duration duration) const;
  // The next time at which anything changes on any node; kFarFuture for none.
  [[nodiscard]] Time NextChange(Time after) const;

 private:
  struct Step {
    Time from;
    CoresAndGpus free;  // less `taken` of its block
  };
  // Neighbouring steps: what is taken of all of them is noted once, and the least says whether they
  // need a look.
  struct Block {
    std::vector<Step> steps;  // in order; never empty
    CoresAndGpus taken;
    CoresAndGpus least;  // of each amount, with `taken` off
  };
  struct Place {
    std::size_t block = 0;
    std::size_t step = 0;
  };

  // The step that holds at that time; the first one before all.
  [[nodiscard]] Place At(Time when) const;
  // The step that begins at `when`, made by a split where there is none.
  Place Split(Time when);
  static void Renew(Block& block);

  std::vector<Block> blocks_;
};

}  // namespace muster::core
