#include "daemon/controller/meters.h"

#include <algorithm>
#include <type_traits>
#include <variant>

namespace muster::daemon {

void Timings::Observe(std::chrono::nanoseconds took) {
  const double seconds = std::chrono::duration<double>(took).count();
  const auto bucket = std::lower_bound(bounds_.begin(), bounds_.end(), seconds) - bounds_.begin();
  counts_[static_cast<std::size_t>(bucket)].fetch_add(1, std::memory_order_relaxed);
  nanoseconds_.fetch_add(took.count(), std::memory_order_relaxed);
  last_.store(took.count(), std::memory_order_relaxed);
  std::int64_t most = most_.load(std::memory_order_relaxed);
  while (took.count() > most &&
         !most_.compare_exchange_weak(most, took.count(), std::memory_order_relaxed)) {
  }
}

Timings::Reading Timings::Read() const {
  Reading reading;
  for (const std::atomic<std::uint64_t>& count : counts_) {
    reading.counts.push_back(count.load(std::memory_order_relaxed));
  }
  const auto seconds = [](const std::atomic<std::int64_t>& nanoseconds) {
    return static_cast<double>(nanoseconds.load(std::memory_order_relaxed)) / 1e9;
  };
  reading.seconds = seconds(nanoseconds_);
  reading.last = seconds(last_);
  reading.most = seconds(most_);
  return reading;
}

void Meters::Note(const Event& event, const core::ClusterState& state) {
  std::visit(
      [this, &state](const auto& change) {
        using Change = std::decay_t<decltype(change)>;
        if constexpr (std::is_same_v<Change, JobSubmitted>) {
          submitted += change.count + change.components.size();
        } else if constexpr (std::is_same_v<Change, AttemptStarted>) {
          ++started;
          const Job* job = state.FindJob(change.job);
          if (job != nullptr && job->first_started == kNoTime) {
            wait.Observe(std::max(change.time - job->submitted, Duration(0)));
          }
        } else if constexpr (std::is_same_v<Change, JobRequeued>) {
          ++requeued;
        } else if constexpr (std::is_same_v<Change, JobEnded>) {
          ended[static_cast<std::size_t>(change.state)] += change.more + 1U;
        }
      },
      event);
}

void Meters::Note(const AttemptView& attempt) {
  checkpoints += attempt.checkpoints.count;
  held_ms += std::max(attempt.end_time - attempt.start_time, Duration(0)).count();
  lost_ms += attempt.lost.count();
  stall_ms += attempt.checkpoints.stall.count();
  gpu_busy_ms += attempt.usage.gpu_busy.count();
  gpu_energy_mj += attempt.usage.gpu_energy_mj;
  cpu_energy_mj += attempt.usage.cpu_energy_mj;
}

}  // namespace muster::daemon
