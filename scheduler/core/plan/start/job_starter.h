#pragma once

// How a job starts now: on how many nodes, on which of the places with room, and what is left then.
//
// Thread promise: none; owned by one cycle. Invariants: (1) a job that is started holds exactly
// what its allocation says, on nodes that had it free; (2) no start breaks a limit.

#include <cstdint>
#include <optional>

#include "scheduler/core/plan/search/share_choice.h"
#include "scheduler/core/plan/start/cycle_state.h"
#include "scheduler/core/plan/start/limit_verdicts.h"
#include "scheduler/core/plan/start/shape_verdicts.h"
#include "scheduler/model/machine/allocation.h"
#include "scheduler/model/plan/reason.h"

namespace muster::core {

class JobStarter {
 public:
  // Where a job starts.
  struct Found {
    Opening opening;
    Allocation allocation;
  };

  // A shape that finds no place is ruled out in `verdicts`. REQUIRES: both outlive it.
  JobStarter(CycleState& cycle, ShapeVerdicts& verdicts);

  // True when the job is started. `limit` says which limit what it would get breaks. Of jobs alike
  // that a limit stops only the first is looked at, until something of the nodes is taken.
  bool TryStart(const WaitingJob& job, const StartOption& asked, std::optional<Reason>& limit);

  // How often a place was looked for.
  [[nodiscard]] std::uint64_t searches() const { return searches_; }

  // A place for the job now; where what is free of a node does not lie as it counts, elsewhere.
  std::optional<Found> FindPlace(JobId job, const Need& need);

  // There is a place for the need, and what the job would hold there breaks a limit.
  bool LimitStops(JobId job, const JobSpec& spec, const StartOption& option, const Need& need);
  // False when what the job would hold breaks a limit; else it is counted in `usage`.
  bool CountInLimits(const WaitingJob& job, const StartOption& option, const Allocation& allocation,
                     CycleUsage& usage, std::optional<Reason>& limit) const;

  // Starts the job there. REQUIRES: the place is free, and counted in the limits.
  void Start(const WaitingJob& job, const StartOption& option, const Opening& opening,
             Allocation allocation);

 private:
  // The option on as many nodes as it can have now, where it may choose.
  const StartOption& Widest(const StartOption& asked);
  // The option on half as many nodes more than the least, where limits refuse that
  // many, or they do not lie as they count; null when it is the narrowest. REQUIRES: `option` is
  // Widest(asked) or came from here.
  const StartOption* Narrower(const StartOption& asked, const StartOption& option);
  // A place on nodes of other kinds, where what the job holds breaks no limit; it is counted then.
  // REQUIRES: what it would hold at `broken`, a place of the option, breaks one.
  std::optional<Found> FindWithinLimits(const WaitingJob& job, const StartOption& option,
                                        Found broken, std::optional<Reason>& limit);
  // Of a job that needs one share of a GPU: where it leaves most to others.
  std::optional<Found> FindShare(const Need& need);
  // Nothing when a node does not take its part; `too_small`, if there, is that node.
  std::optional<Allocation> Place(const Need& need, const Opening& opening,
                                  std::uint32_t* too_small) const;

  // The limit that breaks when the job holds that; nothing: none does.
  [[nodiscard]] std::optional<Reason> BrokenLimit(const StartOption& option, const JobSpec& spec,
                                                  const Allocation& allocation,
                                                  const CycleUsage& usage) const;
  [[nodiscard]] const Machine& MachineOf(NodeId node) const;

  CycleState& cycle_;
  ShapeVerdicts& verdicts_;
  ShareChoice shares_;
  LimitVerdicts stopped_;
  std::uint64_t searches_ = 0;
};

}  // namespace muster::core
