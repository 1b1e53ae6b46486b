// Those who watch jobs or read events: what they are told, and when.
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "daemon/controller/controller.h"
#include "daemon/controller/views.h"

namespace muster::daemon {

void Controller::Watch(JobId job, const std::weak_ptr<const Watcher>& watcher, const Reply& found) {
  const bool queued = queue_.Push([this, job, watcher, found] {
    if (!leads_) {
      group_.after.emplace_back([found, why = Degraded()](const absl::Status&) { found(why); });
      return;
    }
    const Job* live = state_.FindJob(job);
    if (live == nullptr) {
      group_.after.emplace_back(
          [found](const absl::Status&) { found(absl::NotFoundError("no such job")); });
      return;
    }
    watchers_.emplace(job, watcher);
    group_.after.emplace_back([found](const absl::Status&) { found(absl::OkStatus()); });
    const StateView snapshot = Look();
    const Reason reason = snapshot.ReasonOf(job);
    NotifyWatchers(job, ViewOf(*live, &reason),
                   live->attempt.has_value() ? &live->attempt->allocation : nullptr);
  });
  if (!queued) {
    Refuse(found);
  }
}

// What readers get of an event that is about to happen to the state.
std::optional<EventNote> Controller::NoteFor(const Event& event) const {
  std::optional<EventNote> note = NoteOf(event);
  if (note.has_value() && !note->knows_job()) {
    if (const Job* const job = state_.FindJob(note->job)) {
      note->facts = FactsOf(*job);
    }
  }
  if (note.has_value() && note->node.valid() && note->node_name.empty()) {
    if (const Node* const node = state_.FindNode(note->node)) {
      note->node_name = node->name;
    }
  }
  return note;
}

void Controller::TellWatchers(JobId id) {
  const Job* job = state_.FindJob(id);
  if (job != nullptr && watchers_.contains(id)) {
    const StateView snapshot = Look();
    const Reason reason = snapshot.ReasonOf(id);
    NotifyWatchers(id, ViewOf(*job, &reason),
                   job->attempt.has_value() ? &job->attempt->allocation : nullptr);
  }
}

// Tells those who watch a job that it waits for something else now.
void Controller::TellOfReasons(const WaitingReasons& before) {
  std::set<JobId> told;
  const std::multimap<JobId, std::weak_ptr<const Watcher>> watched = watchers_;
  for (const auto& [id, watcher] : watched) {
    const std::optional<Reason> reason = waiting_.ReasonOf(id);
    const Job* job = state_.FindJob(id);
    if (reason.has_value() && job != nullptr && IsWaiting(job->state) &&
        before.ReasonOf(id) != reason && told.insert(id).second) {
      NotifyWatchers(id, ViewOf(*job, &*reason), nullptr);
    }
  }
}

void Controller::NotifyWatchers(JobId job, const JobView& view, const Allocation* allocation) {
  const auto [begin, end] = watchers_.equal_range(job);
  if (begin == end) {
    return;
  }
  auto shown = std::make_shared<const JobView>(view);
  auto place = allocation == nullptr ? nullptr : std::make_shared<const Allocation>(*allocation);
  for (auto it = begin; it != end; ++it) {
    group_.after.emplace_back([watcher = it->second, shown, place](const absl::Status& status) {
      const std::shared_ptr<const Watcher> alive = watcher.lock();
      if (alive != nullptr && status.ok()) {
        alive->tell(*shown, place.get());
      } else if (alive != nullptr) {
        alive->lose(absl::UnavailableError(status.message()));
      }
    });
  }
}

}  // namespace muster::daemon
