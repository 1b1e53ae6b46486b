#include "daemon/controller/job_watchers.h"

#include <optional>
#include <utility>

#include "daemon/controller/views.h"

namespace muster::daemon {

void JobWatchers::Tell(JobId job, const JobView& view, const Allocation* allocation,
                       After& after) const {
  const auto [begin, end] = watchers_.equal_range(job);
  if (begin == end) {
    return;
  }
  auto shown = std::make_shared<const JobView>(view);
  auto place = allocation == nullptr ? nullptr : std::make_shared<const Allocation>(*allocation);
  for (auto it = begin; it != end; ++it) {
    after.emplace_back([watcher = it->second, shown, place](const absl::Status& status) {
      const std::shared_ptr<const JobWatcher> alive = watcher.lock();
      if (alive != nullptr && status.ok()) {
        alive->tell(*shown, place.get());
      } else if (alive != nullptr) {
        alive->lose(absl::UnavailableError(status.message()));
      }
    });
  }
}

void JobWatchers::TellOfReasons(const WaitingReasons& before, const WaitingReasons& now,
                                const core::ClusterState& state, After& after) const {
  for (auto it = watchers_.begin(); it != watchers_.end(); it = watchers_.upper_bound(it->first)) {
    const JobId id = it->first;
    const std::optional<Reason> reason = now.ReasonOf(id);
    const Job* job = state.FindJob(id);
    if (reason.has_value() && job != nullptr && IsWaiting(job->state) &&
        before.ReasonOf(id) != reason) {
      Tell(id, ViewOf(*job, &*reason), nullptr, after);
    }
  }
}

void JobWatchers::Sweep() {
  std::erase_if(watchers_, [](const auto& entry) { return entry.second.expired(); });
}

void JobWatchers::LoseAll(const absl::Status& why) {
  for (const auto& [job, watcher] : std::exchange(watchers_, {})) {
    if (const std::shared_ptr<const JobWatcher> alive = watcher.lock()) {
      alive->lose(why);
    }
  }
}

}  // namespace muster::daemon
