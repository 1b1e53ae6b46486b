#pragma once

// Conservative backfilling: every job has a reservation from its arrival on.
//
// Source: A. Mu'alem, D. G. Feitelson, IEEE TPDS 12(6), 2001, section 2.1. A job gets the earliest
// start in the profile when it arrives. After an early end each waiting job, in queue order, is
// taken out and put back as early as possible. Two things save work and change nothing: a job is
// not moved to find out whether it can move (Timeline::EarlierFit), and it is tried only where
// something became free since it was last tried. Thread promise: a value; one thread at a time.
// Invariants: as FlatQueue's; a reservation never moves to a later time, unless estimates fall
// short.

#include <functional>
#include <queue>

#include "scheduler/simulator/flat/known_jobs.h"
#include "scheduler/simulator/flat/waiting_list.h"

namespace muster::sim {

// A job from its arrival to its end: it holds its processors in [start, end) of the timeline.
struct ConservativeJob {
  FlatJob job;
  std::uint64_t number = 0;  // of its arrival
  Tick start = 0;
  Tick end = 0;
  Tick promised = kNever;
  std::uint32_t corrections = 0;
  bool running = false;
  bool waiting = false;
  static constexpr auto Fields(auto list) {
    return list(Field{"job", &ConservativeJob::job}, Field{"number", &ConservativeJob::number},
                Field{"start", &ConservativeJob::start}, Field{"end", &ConservativeJob::end},
                Field{"promised", &ConservativeJob::promised},
                Field{"corrections", &ConservativeJob::corrections},
                Field{"running", &ConservativeJob::running},
                Field{"waiting", &ConservativeJob::waiting});
  }
};

class ConservativeQueue final : public KnownJobs<ConservativeJob> {
 public:
  ConservativeQueue(const FlatPolicy& policy, std::int64_t processors, Tick now);

  const std::vector<FlatStart>& RunCycle(Tick now) override;
  [[nodiscard]] Tick NextWake() override;
  [[nodiscard]] std::size_t waiting() const override { return queue_.size(); }

 private:
  using Known = ConservativeJob;

  void SaveMore(ValueWriter& writer) const override;
  void LoadMore(ValueReader& reader) override;
  bool Resume(Tick now) override;
  struct Due {
    Tick at = 0;
    std::uint64_t number = 0;
    std::uint32_t handle = 0;
    friend bool operator>(const Due& a, const Due& b) {
      return a.at != b.at ? a.at > b.at : a.number > b.number;
    }
  };

  void TakeEnded(Tick now);
  [[nodiscard]] bool MustCorrect(Tick now);
  void Correct(Tick now);
  void Compress(Tick now);
  void MoveTo(Known& known, Tick start);
  void Reserve(std::uint32_t handle);
  void StartDue(Tick now);
  void Enqueue(const Known& known);
  void NotifyDue(const Known& known);
  void ForgetStaleDue();

  bool estimates_fall_short_;
  Timeline timeline_;
  WaitingList queue_;  // in order of arrival
  std::vector<FlatStart> starts_;
  // Reservations and, of running jobs, planned ends; some are out of date.
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
  std::priority_queue<Due, std::vector<Due>, std::greater<>> planned_ends_;
  bool ended_early_ = false;
  Tick freed_until_ = 0;  // of what moves and early ends gave back and not every job has tried
};

}  // namespace muster::sim
