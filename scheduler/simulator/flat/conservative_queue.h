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

#include "scheduler/simulator/flat/flat_queue.h"
#include "scheduler/simulator/flat/waiting_list.h"

namespace muster::sim {

class ConservativeQueue final : public FlatQueue {
 public:
  ConservativeQueue(const FlatPolicy& policy, std::int64_t processors, Tick now);

  void Arrive(const FlatJob& job) override;
  void End(std::uint32_t handle) override { ended_.push_back(handle); }
  const std::vector<FlatStart>& Pass(Tick now) override;
  [[nodiscard]] Tick NextWake() override;
  [[nodiscard]] std::size_t waiting() const override { return queue_.size(); }
  [[nodiscard]] std::string Save() const override;
  [[nodiscard]] bool Load(const std::string& bytes, Tick now) override;

 private:
  // A job from its arrival to its end: it holds its processors in [start, end) of the timeline.
  struct Known {
    FlatJob job;
    std::uint64_t number = 0;  // of its arrival
    Tick start = 0;
    Tick end = 0;
    Tick promised = kNever;
    std::uint32_t corrections = 0;
    bool running = false;
    bool waiting = false;
    static constexpr auto Fields(auto list) {
      return list(Field{"job", &Known::job}, Field{"number", &Known::number},
                  Field{"start", &Known::start}, Field{"end", &Known::end},
                  Field{"promised", &Known::promised}, Field{"corrections", &Known::corrections},
                  Field{"running", &Known::running}, Field{"waiting", &Known::waiting});
    }
  };
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
  std::vector<Known> known_;            // by handle
  WaitingList queue_;                   // in order of arrival
  std::vector<std::uint32_t> ended_;    // since the last pass
  std::vector<std::uint32_t> arrived_;  // since the last pass
  std::vector<FlatStart> starts_;
  // Reservations and, of running jobs, planned ends; some are out of date.
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
  std::priority_queue<Due, std::vector<Due>, std::greater<>> planned_ends_;
  std::uint64_t arrivals_ = 0;
  bool ended_early_ = false;
  Tick freed_until_ = 0;  // of what moves and early ends gave back and not every job has tried
};

}  // namespace muster::sim
