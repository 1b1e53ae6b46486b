#pragma once

// What a scheduling cycle knows of all jobs of one shape: whether they ever fit, whether one may
// still start in this cycle, and which reservation is in their way.
//
// Each question is worked out for the first job of a shape and remembered for the others. Thread
// promise: none; owned by one cycle. Invariants: an answer once given is given again until the
// cycle ends: what is free only falls.

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "scheduler/core/plan/availability/availability.h"
#include "scheduler/core/plan/search/start_options.h"
#include "scheduler/core/power/power_limits.h"
#include "scheduler/model/plan/reason.h"
#include "scheduler/model/plan/snapshot.h"

namespace muster::core {

class ShapeVerdicts {
 public:
  // REQUIRES: all outlive it.
  ShapeVerdicts(const Snapshot& snapshot, Availability& availability, const PowerLimits& power)
      : snapshot_(snapshot), availability_(availability), power_(power) {}

  // False when it is known that no job of the shape starts in this cycle, or ever.
  [[nodiscard]] bool MayStart(const StartOption& option) {
    const Verdict& verdict = On(option);
    return !verdict.no_start && !verdict.beyond.has_value();
  }
  // None starts in this cycle.
  void RuleOut(const StartOption& option) { On(option).no_start = true; }

  // Whether the option holds on no arrangement of the nodes that are up and may be on at once.
  [[nodiscard]] bool NeverFits(const StartOption& option);
  // REQUIRES: NeverFits(option).
  [[nodiscard]] const Reason& WhyNever(const StartOption& option) { return *On(option).beyond; }
  // Why none of the options ever starts; nothing when one may. REQUIRES: there are some.
  [[nodiscard]] std::optional<Reason> WhyNever(const std::vector<const StartOption*>& options);

  // The reservation that is in the option's way now, as a reason; null when none is.
  [[nodiscard]] const Reason* WhyReserved(const StartOption& option);

 private:
  struct Verdict {
    bool fits = false;             // some day, if it is known
    bool no_start = false;         // none starts in this cycle
    std::optional<Reason> beyond;  // why they never start on the nodes that are up
    // A reservation is in their way, which keeps no later job waiting.
    std::optional<std::optional<Reason>> reserved;
  };
  Verdict& On(const StartOption& option) { return verdicts_[option.number]; }

  const Snapshot& snapshot_;
  Availability& availability_;
  const PowerLimits& power_;
  std::unordered_map<std::uint32_t, Verdict> verdicts_;  // by the option's number
};

}  // namespace muster::core
