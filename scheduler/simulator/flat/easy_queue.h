#pragma once

// First come first served and every other order of the queue, with EASY backfilling or without.
//
// EASY: A. Mu'alem, D. G. Feitelson, IEEE TPDS 12(6), 2001, section 2.2: the head that does not fit
// gets a shadow time, the earliest moment at which enough is free for it, and others may start if
// they end by then or fit beside it. Nothing is kept from cycle to cycle but what can be worked out
// again: while no job has ended and the head is the same, a job that was passed over still cannot
// start (less is free and the shadow is nearer), so a cycle then looks at newcomers only. Thread
// promise: a value; one thread at a time. Invariants: as FlatQueue's.

#include <functional>
#include <queue>
#include <utility>

#include "scheduler/simulator/flat/flat_usage.h"
#include "scheduler/simulator/flat/known_jobs.h"
#include "scheduler/simulator/flat/waiting_list.h"

namespace muster::sim {

// A job from its arrival to its end; `end` is what it is planned to end at once it runs.
struct EasyJob {
  FlatJob job;
  std::uint64_t number = 0;  // of its arrival
  double score = 0;
  Tick promised = kNever;
  Tick start = 0;
  Tick end = 0;
  Tick charged = 0;  // until when its user's usage has it
  std::uint32_t corrections = 0;
  bool running = false;
  bool waiting = false;
  static constexpr auto Fields(auto list) {
    return list(Field{"job", &EasyJob::job}, Field{"number", &EasyJob::number},
                Field{"score", &EasyJob::score}, Field{"promised", &EasyJob::promised},
                Field{"start", &EasyJob::start}, Field{"end", &EasyJob::end},
                Field{"charged", &EasyJob::charged}, Field{"corrections", &EasyJob::corrections},
                Field{"running", &EasyJob::running}, Field{"waiting", &EasyJob::waiting});
  }
};

class EasyQueue final : public KnownJobs<EasyJob> {
 public:
  EasyQueue(const FlatPolicy& policy, std::int64_t processors, Tick now);

  const std::vector<FlatStart>& RunCycle(Tick now) override;
  [[nodiscard]] Tick NextWake() override { return kNever; }
  [[nodiscard]] std::size_t waiting() const override { return queue_.size(); }

 private:
  using Known = EasyJob;

  void SaveMore(ValueWriter& writer) const override;
  void LoadMore(ValueReader& reader) override;
  bool Resume(Tick now) override;
  using Overdue = std::pair<Tick, std::uint32_t>;  // planned end, handle

  void Enqueue(const Known& known);
  void ChargeUsers(Tick now);
  [[nodiscard]] double ScoreOf(const FlatJob& job, Tick now) const;
  void TakeEnded(Tick now);
  void Correct(Tick now);
  void TakeArrived(Tick now);
  [[nodiscard]] WaitingEntry EntryOf(const Known& known, double score) const;
  void Rescore(Tick now);
  void StartHeads(Tick now);
  void SeeShadow(Tick now);
  void BackfillAll(Tick now);
  void BackfillArrived(Tick now);
  void StartInShadow(std::uint32_t handle, Tick now);
  void Start(std::uint32_t handle, FlatCause cause, Tick now);
  [[nodiscard]] FlatOpening OpeningAt(Tick now) const;
  [[nodiscard]] bool ByEstimate() const {
    return policy_.candidates == CandidateOrder::kShortestFirst &&
           policy_.backfill == Backfill::kEasy;
  }

  FlatPolicy policy_;
  Timeline timeline_;
  WaitingList queue_;        // by the policy's order
  WaitingList by_estimate_;  // the same jobs, shortest first; only if the policy asks for it
  std::vector<FlatStart> starts_;
  FlatUsage usage_;  // only if the policy orders by it
  std::priority_queue<Overdue, std::vector<Overdue>, std::greater<>> planned_ends_;
  bool changed_ = true;          // something ended since the shadow was seen
  std::int64_t free_seen_ = 0;   // after the last cycle
  std::uint64_t head_seen_ = 0;  // the number of the head that the shadow is for
  Tick shadow_ = kNever;
  std::int64_t extra_ = 0;
};

}  // namespace muster::sim
