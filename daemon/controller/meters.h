#pragma once

// What the controller counts and times of its own work, for monitoring.
//
// Counters begin with the process. Thread promise: safe from any thread, without a lock; a reading
// may see one event's numbers half. Invariant: to count costs nobody more than some atomic adds.

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <span>
#include <vector>

#include "scheduler/core/state/cluster_state.h"
#include "scheduler/model/change/event.h"
#include "scheduler/model/view/view.h"

namespace muster::daemon {

// How often something took how long.
class Timings {
 public:
  // `bounds` in seconds, ascending; they outlive it.
  explicit Timings(std::span<const double> bounds) : bounds_(bounds), counts_(bounds.size() + 1) {}

  void Observe(std::chrono::nanoseconds took);

  struct Reading {
    std::vector<std::uint64_t> counts;  // of each bucket alone, the last beyond all bounds
    double seconds = 0;                 // in all
    double last = 0;                    // the newest
    double most = 0;
  };
  [[nodiscard]] Reading Read() const;
  [[nodiscard]] std::span<const double> bounds() const { return bounds_; }

 private:
  const std::span<const double> bounds_;
  std::vector<std::atomic<std::uint64_t>> counts_;
  std::atomic<std::int64_t> nanoseconds_ = 0;
  std::atomic<std::int64_t> last_ = 0;
  std::atomic<std::int64_t> most_ = 0;
};

// From a tenth of a millisecond to ten seconds.
inline constexpr std::array<double, 16> kWorkBounds = {
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025,
    0.05,   0.1,     0.25,   0.5,   1,      2.5,   5,    10};
// From a second to a week.
inline constexpr std::array<double, 12> kWaitBounds = {1,    10,    60,    300,   900,    3600,
                                                       7200, 21600, 43200, 86400, 172800, 604800};

struct Meters {
  Timings cycle{kWorkBounds};   // of the planner
  Timings commit{kWorkBounds};  // from the queue to the disk
  Timings wait{kWaitBounds};    // of jobs, from submission to their first start

  std::atomic<std::int64_t> since_ms = 0;  // the controller's start; UTC, since 1970
  std::atomic<std::int64_t> cycle_ms = 0;  // the newest cycle's; 0: none began yet
  std::atomic<std::uint64_t> submitted = 0;
  std::atomic<std::uint64_t> started = 0;  // attempts
  std::atomic<std::uint64_t> requeued = 0;
  std::array<std::atomic<std::uint64_t>, kJobStateNames.size()> ended = {};  // by state
  // Starts no later than their first promise, and later ones.
  std::atomic<std::uint64_t> promises_kept = 0;
  std::atomic<std::uint64_t> promises_missed = 0;
  // Of ended attempts.
  std::atomic<std::uint64_t> checkpoints = 0;
  std::atomic<std::int64_t> held_ms = 0;   // in which they had their resources
  std::atomic<std::int64_t> lost_ms = 0;   // work that had to be done again
  std::atomic<std::int64_t> stall_ms = 0;  // standing still for checkpoints
  std::atomic<std::int64_t> gpu_busy_ms = 0;
  std::atomic<std::uint64_t> gpu_energy_mj = 0;
  std::atomic<std::uint64_t> cpu_energy_mj = 0;

  // An event that is about to happen to the state.
  void Note(const Event& event, const core::ClusterState& state);
  void Note(const AttemptView& ended);
};

}  // namespace muster::daemon
