#pragma once

// Chooses the jobs to preempt so that a job can start now: the fewest losses, and only when it then
// does start.
//
// A job may preempt by its QOS (Qos::preempt) and by the tier of its partition, where the victim's
// partition lets that happen, if it goes before the victim in the queue
// (core/policy/queue_tiers.h); not within the victim's exempt time, and never a job that is ending
// or a component of a heterogeneous one. One whose PreemptMode is SUSPEND leaves its cores only,
// and loses no work; it must be running for that. Per node the cheapest jobs go, work lost since
// the start times what is charged for it, and a victim that turns out not to be needed stays.
// Thread promise: owned by one cycle. Invariants: (1) the eviction's allocation fits on its nodes
// once the victims are gone; (2) without any one of the victims it would not; (3) no job is a
// victim twice in a cycle.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "scheduler/core/plan/availability/availability.h"
#include "scheduler/core/plan/search/planned_nodes.h"
#include "scheduler/core/plan/search/start_options.h"
#include "scheduler/core/policy/queue_tiers.h"
#include "scheduler/model/machine/allocation.h"
#include "scheduler/model/plan/plan.h"
#include "scheduler/model/plan/snapshot.h"

namespace muster::core {

struct Eviction {
  std::set<std::size_t> victims;  // positions in Snapshot::running
  Opening opening;
  Allocation allocation;
};

class Preemption {
 public:
  // `nodes` are those of the snapshot, with what the cycle has started on them. REQUIRES: all
  // outlive it.
  Preemption(const Snapshot& snapshot, Availability& availability, const PlannedNodes& nodes);

  // False when no running job may be preempted.
  [[nodiscard]] bool possible() const { return possible_; }
  // True when an elastic job runs that is not ending.
  [[nodiscard]] bool any_elastic() const { return any_elastic_; }
  // The victims for the job, or nothing when it may preempt none or would not start for it.
  std::optional<Eviction> Find(const WaitingJob& job, const StartOption& option) const;
  // Where the option starts once that running job, by position, has left. REQUIRES: any_elastic().
  std::optional<Eviction> FindWithout(std::size_t running, const StartOption& option) const;
  // The job has what they leave, and they are not asked again.
  void Take(const StartOption& option, const Eviction& eviction);
  // Whether this cycle preempts the running job.
  [[nodiscard]] bool GivesWay(JobId job) const;
  [[nodiscard]] PlannedPreemption PlanOf(JobId job, const Eviction& eviction) const;
  // Whether the job may preempt that one at all, by QOS or partition, now or later. REQUIRES: the
  // snapshot has a policy.
  [[nodiscard]] bool Outranks(const WaitingJob& job, const StartOption& option,
                              const RunningJob& victim) const;

 private:
  // What a node costs with `gone` taken away already.
  struct Offer {
    bool able = false;
    std::uint64_t cost = 0;
    std::vector<std::size_t> victims;  // further ones
  };
  [[nodiscard]] PreemptMode ModeOf(const RunningJob& victim) const;
  void NoteWhatIsLeft();
  [[nodiscard]] bool MayPreempt(const WaitingJob& job, const StartOption& option,
                                const RunningJob& victim) const;
  [[nodiscard]] std::vector<bool> Candidates(const WaitingJob& job,
                                             const StartOption& option) const;
  [[nodiscard]] Offer OfferOf(std::uint32_t node, const StartOption& option, std::uint32_t tasks,
                              const std::vector<bool>& candidates,
                              const std::set<std::size_t>& gone) const;
  [[nodiscard]] std::vector<const Holding*> PartsOf(std::uint32_t node,
                                                    const std::set<std::size_t>& jobs) const;
  [[nodiscard]] std::uint32_t RoomWithout(std::uint32_t node, const Need& need,
                                          const std::set<std::size_t>& gone) const;
  // The position of the cheapest that is able; the first of equals.
  static std::optional<std::uint32_t> CheapestOf(const std::vector<Offer>& offers);
  [[nodiscard]] std::optional<Eviction> FindAmong(const std::vector<bool>& candidates,
                                                  const StartOption& option) const;
  [[nodiscard]] std::optional<Eviction> Gather(const StartOption& option,
                                               const std::vector<bool>& candidates,
                                               std::uint32_t nodes) const;
  // The same without the nodes that are `off`, and off narrow links.
  [[nodiscard]] std::optional<Eviction> GatherOff(std::vector<bool> off, const StartOption& option,
                                                  const std::vector<bool>& candidates,
                                                  std::uint32_t nodes) const;
  void DropUnneeded(const Need& need, Eviction& eviction) const;
  [[nodiscard]] bool Place(const Need& need, Eviction& eviction) const;

  const Snapshot& snapshot_;
  const QueueTiers tiers_;
  Availability& availability_;
  const PlannedNodes& nodes_;
  bool possible_ = false;
  bool any_elastic_ = false;
  std::vector<std::uint64_t> costs_;        // of each running job
  std::map<JobId, std::size_t> positions_;  // of running jobs
  std::vector<bool> gives_cores_;           // of each running job: it would be suspended
  std::map<const Holding*, Holding> left_;  // what those leave of their holdings
  std::map<NodeId, std::uint32_t> node_positions_;
  std::set<std::size_t> gone_;                                       // in this cycle
  std::map<std::uint32_t, std::vector<NodeAllocation>> taken_over_;  // for whom, by node
};

}  // namespace muster::core
