#pragma once

// The order called prompt on identical processors: short turns first, and a promise to each.
//
// On arrival a job is promised a latest start: what first come, first served would give it (the
// earliest place beside all that is kept, and not before the limits of those before it are worked
// off), and the slack (core/prompt/prompt_order.h). A place is kept for it as late as the promise
// allows. Jobs whose patience is over go first, first come first, then the others by turn; whoever
// fits without breaking a kept place starts. The first that has too few processors is given the
// earliest place instead of its late one; if its patience is over that tightens its promise for
// good. Estimates make turns only; places are kept by limits. Thread promise: a value; one thread
// at a time. Invariants: as FlatQueue's, and (4) no job starts after its promise, and no promise is
// ever put off; (5) what is kept is a schedule in which all jobs end at their limits.

#include <functional>
#include <queue>
#include <vector>

#include "absl/numeric/int128.h"
#include "scheduler/core/prompt/promised_places.h"
#include "scheduler/core/prompt/prompt_order.h"
#include "scheduler/simulator/flat/flat_queue.h"
#include "scheduler/simulator/flat/waiting_list.h"

namespace muster::sim {

class PromptQueue final : public FlatQueue {
 public:
  PromptQueue(const FlatPolicy& policy, std::int64_t processors, Tick now);

  void Arrive(const FlatJob& job) override;
  void End(std::uint32_t handle) override { ended_.push_back(handle); }
  const std::vector<FlatStart>& Pass(Tick now) override;
  [[nodiscard]] Tick NextWake() override;
  [[nodiscard]] std::size_t waiting() const override { return by_turn_.size(); }
  [[nodiscard]] std::string Save() const override;
  [[nodiscard]] bool Load(const std::string& bytes, Tick now) override;

  // How many steps the kept places have: it does not grow with the queue.
  [[nodiscard]] std::size_t steps() const { return places_.steps(); }

 private:
  // A job from its arrival to its end.
  struct Known {
    FlatJob job;
    std::uint64_t number = 0;  // of its arrival
    Tick promised = kNever;
    Tick start = 0;  // that is kept for it, or at which it began
    Tick from = 0;   // of its place
    Tick until = 0;
    bool running = false;
    bool waiting = false;
    static constexpr auto Fields(auto list) {
      return list(Field{"job", &Known::job}, Field{"number", &Known::number},
                  Field{"promised", &Known::promised}, Field{"start", &Known::start},
                  Field{"from", &Known::from}, Field{"until", &Known::until},
                  Field{"running", &Known::running}, Field{"waiting", &Known::waiting});
    }
    [[nodiscard]] core::KeptPlace place() const { return {start, from, until, job.processors}; }
  };
  struct Due {
    Tick at = 0;
    std::uint64_t number = 0;
    std::uint32_t handle = 0;
    friend bool operator>(const Due& a, const Due& b) {
      return a.at != b.at ? a.at > b.at : a.number > b.number;
    }
  };
  // Work yet to do: of those that wait, and ends of those that run, in processor-ticks.
  struct Backlog {
    absl::int128 waiting = 0;
    absl::int128 ends = 0;
    // How long the whole machine would work on it.
    [[nodiscard]] Tick Drain(std::int64_t processors, std::int64_t in_use, Tick now) const;
  };

  void Enqueue(const Known& known);
  void Dequeue(const Known& known);
  void CountRunning(const Known& known, int sign);
  void TakeEnded(Tick now);
  void TakeArrived(Tick now);
  void KeepAt(Known& known, Tick start);
  void KeepLate(Known& known);
  void StartDue(Tick now);
  void LookAtAll(Tick now);
  void LookAtArrived(Tick now);
  void LookAlong(const WaitingList& list, bool only_impatient, Tick now);
  void Start(Known& known, FlatCause cause, Tick now);
  void BecomeHead(Known& known, Tick now);
  void LeaveHead();
  [[nodiscard]] bool IsImpatient(const Known& known, Tick now) const {
    return now - known.job.submit >= patience_;
  }
  [[nodiscard]] FlatOpening OpeningAt(Tick now) const;

  core::PromptRules rules_;
  std::int64_t processors_;
  core::PromisedPlaces places_;
  std::vector<Known> known_;  // by handle
  WaitingList by_turn_;
  WaitingList by_arrival_;
  std::vector<std::uint32_t> ended_;    // since the last pass
  std::vector<std::uint32_t> arrived_;  // since the last pass
  std::vector<FlatStart> starts_;
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;  // some are out of date
  std::uint64_t arrivals_ = 0;
  std::int64_t in_use_ = 0;  // processors of running jobs
  std::uint32_t head_ = 0;   // whose place is early
  bool has_head_ = false;
  bool head_is_impatient_ = false;
  bool changed_ = true;   // since all jobs were looked at
  Tick patience_ = 0;     // of this pass
  bool blocked_ = false;  // in this pass: somebody had too few processors
  Backlog by_estimate_;
  Backlog by_limit_;
};

}  // namespace muster::sim
