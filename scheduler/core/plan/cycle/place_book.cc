#include "scheduler/core/plan/cycle/place_book.h"

#include <algorithm>
#include <utility>

#include "scheduler/core/plan/queue/prompt_keys.h"
#include "scheduler/core/policy/policy_filter.h"

namespace muster::core {

PlaceBook::PlaceBook(CycleState& cycle, JobStarter& starter)
    : cycle_(cycle),
      starter_(starter),
      search_(cycle.snapshot, cycle.availability, cycle.nodes),
      rules_(RulesOf(cycle.config.prompt)) {}

std::vector<GroupMember> PlaceBook::MembersOf(const WaitingJob& job) {
  std::vector<GroupMember> members;
  for (const WaitingJob* component : search_.ComponentsOf(job)) {
    members.push_back({component->id, OptionsOf(cycle_, *component, {})});
  }
  return members;
}

bool PlaceBook::IsBlocked(const WaitingJob& job) {
  std::vector<Reason> blockers;
  for (const WaitingJob* component : search_.ComponentsOf(job)) {
    AddJobBlockers(cycle_.snapshot, *component, cycle_.counts, blockers);
    if (blockers.empty() && cycle_.snapshot.policy != nullptr) {
      AddPolicyBlockers(cycle_.snapshot, *component, cycle_.usage, blockers);
    }
  }
  return !blockers.empty();
}

bool PlaceBook::LimitStops(const WaitingJob& job, const JobPlace& place) {
  if (cycle_.snapshot.policy == nullptr) {
    return false;
  }
  if (place.parts.size() == 1) {
    const PlacePart& part = place.parts.front();
    return starter_.LimitStops(part.job, *job.spec, *part.option,
                               NeedInsteadOfPlace(part.option->need, cycle_.snapshot.now));
  }
  std::vector<GroupMember> members;
  for (const PlacePart& part : place.parts) {
    members.push_back({part.job, {part.option}});
  }
  const std::optional<std::vector<MemberPlace>> found = search_.FindNow(members);
  const std::vector<const WaitingJob*> components = search_.ComponentsOf(job);
  CycleUsage usage = cycle_.usage;
  std::optional<Reason> limit;
  for (std::size_t i = 0; found.has_value() && i < components.size(); ++i) {
    starter_.CountInLimits(*components[i], *(*found)[i].option, (*found)[i].allocation, usage,
                           limit);
  }
  return limit.has_value();
}

std::optional<JobPlace> PlaceBook::New(const WaitingJob& job,
                                       const std::vector<GroupMember>& members,
                                       const Backlog& backlog) {
  std::optional<JobPlace> place = search_.Earliest(job, members, kNoTime);
  if (!place.has_value() || LimitStops(job, *place)) {
    return std::nullopt;
  }
  const Time earliest = place->start();
  if (job.promised == kNoTime) {
    const Time fcfs = std::max(earliest, cycle_.snapshot.now + backlog.Before(job.id));
    place->by = Time(Duration(PromiseOf(rules_, fcfs.time_since_epoch().count())));
  } else {
    place->by = std::max(job.promised, earliest);
  }
  return place;
}

void PlaceBook::Promise(const JobPlace& place) {
  for (const PlacePart& part : place.parts) {
    cycle_.plan.Promise(PlannedPromise{part.job, place.by});
  }
}

JobPlace* PlaceBook::Find(JobId job) {
  const auto found = places_.find(job);
  return found == places_.end() ? nullptr : &found->second;
}

void PlaceBook::Put(JobId job, JobPlace place) {
  if (trial_.has_value()) {
    NoteNodes(cycle_.availability, place, trial_->nodes);
    trial_->put.push_back(job);
  }
  TakePlace(cycle_.availability, place);
  places_[job] = std::move(place);
}

void PlaceBook::Undo(bool asked_more) {
  cycle_.availability.Restore(std::move(trial_->nodes), asked_more);
  for (const JobId job : trial_->put) {
    places_.erase(job);
  }
  trial_.reset();
}

}  // namespace muster::core
