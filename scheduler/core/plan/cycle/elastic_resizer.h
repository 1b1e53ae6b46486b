#pragma once

// Changes the size of running elastic jobs: what they have beyond the least that they asked for is
// lent. Jobs that would wait long for it get it; after all that wait they grow on what is left.
//
// Thread promise: none; owned by one cycle. Invariants: (1) an elastic job has one verdict in a
// plan; (2) it never shrinks below the least that it asked for, nor grows above the most.

#include <cstdint>
#include <optional>
#include <vector>

#include "scheduler/core/plan/cycle/backfill_reservations.h"
#include "scheduler/core/plan/search/elastic_size.h"
#include "scheduler/core/plan/search/preemption.h"
#include "scheduler/core/plan/start/cycle_state.h"
#include "scheduler/core/plan/start/job_starter.h"
#include "scheduler/model/plan/plan.h"

namespace muster::core {

class ElasticResizer {
 public:
  // REQUIRES: all outlive it.
  ElasticResizer(CycleState& cycle, JobStarter& starter, BackfillReservations& reservations)
      : cycle_(cycle), starter_(starter), reservations_(reservations) {}

  // Keeps what jobs that were ordered to end in order to grow will grow by.
  void KeepRoomToGrow();

  // True while it may be worth asking elastic jobs for nodes.
  [[nodiscard]] bool MayShrink() const;
  // Has an elastic job give up nodes so that the job, which otherwise starts as `prospect` says,
  // starts, where that pays. When it starts; nothing when no elastic job is ordered to yet.
  std::optional<Time> ShrinkFor(const WaitingJob& job, const OptionList& options,
                                const Prospect& prospect);

  // Judges the size of all that run and do not shrink, by what all others leave.
  void JudgeSizes();

 private:
  [[nodiscard]] ElasticStatus StatusOf(const RunningJob& job, ResizeVerdict change) const;
  ElasticStatus StatusToGrow(const RunningJob& job);
  // How many nodes more it could have now; none where a limit is against that many.
  std::uint32_t RoomToGrow(const RunningJob& job, const StartOption& option, std::uint32_t most);
  // How the last plan had the attempt change so; null when it did not.
  [[nodiscard]] const PlannedResize* ChangingBefore(const RunningJob& job, ResizeVerdict how) const;
  // The option by which the job runs; null when its partition takes it no more.
  const StartOption* OptionOf(const RunningJob& job);
  // By position: the nodes on which it runs.
  [[nodiscard]] std::vector<bool> NodesOf(const RunningJob& job) const;
  // The same, and the nodes across a narrow link from one of these.
  [[nodiscard]] std::vector<bool> BarredToGrow(const RunningJob& job) const;
  // Whether the job may change its size, and nothing in the plan is against it.
  [[nodiscard]] bool MayChange(const RunningJob& job) const;
  // Whether the elastic job, by position, is to shrink for the option, which otherwise starts at
  // `start`; `starts`: when it starts then, if the elastic one is ordered now.
  bool PlanShrink(std::size_t position, const WaitingJob& job, const StartOption& option,
                  Time start, std::optional<Time>* starts);
  // How the elastic job, by position, is to shrink so that the option starts by `start` at the
  // latest; nothing when it has not enough to give.
  [[nodiscard]] std::optional<PlannedResize> ShrunkBy(std::size_t position,
                                                      const Eviction& eviction, JobId job,
                                                      Time start) const;

  CycleState& cycle_;
  JobStarter& starter_;
  BackfillReservations& reservations_;
  std::uint32_t shrinks_tried_ = 0;
};

}  // namespace muster::core
