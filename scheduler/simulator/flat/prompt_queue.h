#pragma once

// The order called prompt on identical processors: small keys first, and a promise to each.
//
// On arrival a job is promised a latest start: what first come, first served would give it (the
// earliest place beside all that is kept, and not before the limits of those before it are worked
// off), and the slack (core/prompt/prompt_order.h). A place is kept for it as late as the promise
// allows. Jobs whose patience is over go first, first come first, then the others by key; each that
// fits without breaking a kept place starts. The first that has too few processors is given the
// earliest place instead of its late one, for which others' places make way as far as their
// promises allow; if its patience is over that tightens its promise for good. Estimates make keys
// only; places are kept by limits. Thread promise: a value; one thread at a time. Invariants: as
// FlatQueue's, and (4) no job starts after its promise, and no promise is ever put off; (5) what is
// kept is a schedule in which all jobs end at their limits.

#include <functional>
#include <optional>
#include <queue>
#include <set>
#include <utility>
#include <vector>

#include "absl/numeric/int128.h"
#include "scheduler/core/prompt/promised_places.h"
#include "scheduler/core/prompt/prompt_order.h"
#include "scheduler/simulator/flat/known_jobs.h"
#include "scheduler/simulator/flat/waiting_list.h"

namespace muster::sim {

// A job from its arrival to its end.
struct PromptJob {
  FlatJob job;
  std::uint64_t number = 0;  // of its arrival
  Tick promised = kNever;
  Tick start = 0;  // that is kept for it, or at which it began
  Tick from = 0;   // of its place
  Tick until = 0;
  bool running = false;
  bool waiting = false;
  static constexpr auto Fields(auto list) {
    return list(Field{"job", &PromptJob::job}, Field{"number", &PromptJob::number},
                Field{"promised", &PromptJob::promised}, Field{"start", &PromptJob::start},
                Field{"from", &PromptJob::from}, Field{"until", &PromptJob::until},
                Field{"running", &PromptJob::running}, Field{"waiting", &PromptJob::waiting});
  }
  [[nodiscard]] core::KeptPlace place() const { return {start, from, until, job.processors}; }
};

class PromptQueue final : public KnownJobs<PromptJob> {
 public:
  PromptQueue(const FlatPolicy& policy, std::int64_t processors, Tick now);

  const std::vector<FlatStart>& RunCycle(Tick now) override;
  [[nodiscard]] Tick NextWake() override;
  [[nodiscard]] std::size_t waiting() const override { return by_key_.size(); }

  // How many steps the kept places have: it does not grow with the queue.
  [[nodiscard]] std::size_t steps() const { return places_.steps(); }

 private:
  using Known = PromptJob;

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
  void GiveUp(Known& known);
  [[nodiscard]] std::optional<std::vector<std::uint32_t>> KeptWithin(Tick from, Tick until) const;
  bool MakeWay(Known& known, Tick start);
  bool KeepAllLate(std::vector<std::uint32_t> handles);
  void LeaveHead();
  [[nodiscard]] bool IsImpatient(const Known& known, Tick now) const {
    return now - known.job.submit >= patience_;
  }
  [[nodiscard]] FlatOpening OpeningAt(Tick now) const;

  core::PromptRules rules_;
  std::int64_t processors_;
  core::PromisedPlaces places_;
  core::PromisedPlaces running_;                       // of running jobs alone
  std::set<std::pair<Tick, std::uint32_t>> by_until_;  // waiting jobs, by the ends of their places
  WaitingList by_key_;
  WaitingList by_arrival_;
  std::vector<FlatStart> starts_;
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;  // some are out of date
  std::int64_t in_use_ = 0;                                         // processors of running jobs
  std::uint32_t head_ = 0;                                          // whose place is early
  bool has_head_ = false;
  bool head_is_impatient_ = false;
  bool changed_ = true;   // since all jobs were looked at
  Tick patience_ = 0;     // of this cycle
  bool blocked_ = false;  // in this cycle: somebody had too few processors
  Backlog by_estimate_;
  Backlog by_limit_;
};

}  // namespace muster::sim
