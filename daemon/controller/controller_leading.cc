// How the loop begins to lead, follows another that does, and what it does when the store refused.
#include <chrono>
#include <optional>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/controller/controller.h"
#include "scheduler/base/status.h"
#include "scheduler/core/state/invariants.h"
#include "scheduler/core/state/job_group.h"

namespace muster::daemon {
namespace {

constexpr auto kRetryWrites = std::chrono::seconds(1);

// Of a controller that led: its last events may be in the store or not, and another's in their
// place.
absl::Status Unsettled() {
  return absl::UnavailableError("what this controller wrote last is not settled yet");
}

// What readers get of the event that made that version, if anything.
void AddNote(std::optional<EventNote> note, Version version, std::vector<EventNote>& notes) {
  if (note.has_value()) {
    note->version = version;
    notes.push_back(*std::move(note));
  }
}

}  // namespace

absl::Status Controller::LoadState() {
  std::optional<JournalEntry> last;
  ASSIGN_OR_RETURN(StateImage image, store_.Load(&last));
  state_ = core::ClusterState(std::move(image));
  journal_.Read(std::move(last));
  std::optional<std::string> broken = core::BrokenInvariant(state_);
  broken = broken.has_value() ? broken : core::BrokenGroup(state_);
  if (broken.has_value()) {
    return absl::DataLossError(absl::StrCat("the state directory holds a state that cannot be: ",
                                            *broken, "; restore it from a backup"));
  }
  journal_.Reach(state_.version());
  return absl::OkStatus();
}

absl::Status Controller::Start(const BeginEpoch& how) {
  RETURN_IF_ERROR(LoadState());
  RETURN_IF_ERROR(BeginTerm(how));
  Use(policy_);
  Run();
  return absl::OkStatus();
}

absl::Status Controller::StartFollowing() {
  RETURN_IF_ERROR(LoadState());
  leads_ = false;
  Use(policy_);
  Run();
  return absl::OkStatus();
}

void Controller::Run() {
  meters_.since_ms = clock_.Now().time_since_epoch().count();
  commits_ = std::make_unique<CommitQueue>(store_);
  cycles_.Start();
  thread_ = std::thread([this] { Loop(); });
}

// Makes a new epoch durable. REQUIRES: nothing is on its way to the store.
absl::Status Controller::BeginTerm(const BeginEpoch& how) {
  const core::Transition transition = core::Handle(state_, how, clock_.Now(), *policy_);
  Apply(transition.events);
  for (Reply& call : power_.CallsFor(state_, transition.effects, nullptr, *policy_)) {
    group_.after.push_back(std::move(call));
  }
  for (const NodeId id : group_.nodes) {
    group_.batch.nodes.push_back(*state_.FindNode(id));
  }
  for (const JobId id : group_.jobs) {
    group_.batch.jobs.push_back(*state_.FindJob(id));
  }
  const absl::Status written = store_.Commit({&group_.batch, 1});
  Group group = std::exchange(group_, Group());
  for (const Reply& reply : group.after) {
    reply(written);
  }
  RETURN_IF_ERROR(written);
  events_.Publish(std::move(group.notes), state_.version());
  epoch_ = state_.epoch().value();
  journal_.Reach(state_.version());
  log_.Info("controller",
            absl::StrCat("epoch ", ToString(state_.epoch()), ": ", state_.jobs().size(), " jobs, ",
                         state_.nodes().size(), " nodes"));
  return absl::OkStatus();
}

void Controller::FollowTo(std::vector<JournalEntry> entries) {
  std::vector<EventNote> notes;
  for (const JournalEntry& entry : entries) {
    if (!stale_ && journal_.IsContradictedBy(entry, state_.version())) {
      MarkStale(absl::UnavailableError("the database lost an entry and has another"));
    }
    if (stale_ || entry.version <= state_.version()) {
      continue;
    }
    if (entry.version != state_.version().Next()) {
      MarkStale(absl::UnavailableError("the journal went on elsewhere"));
      continue;
    }
    std::optional<EventNote> note = events_.open() ? NoteOf(entry.event, state_) : std::nullopt;
    state_.Apply(entry.event);
    orders_.Learn(entry.event);
    AddNote(std::move(note), entry.version, notes);
  }
  if (!entries.empty() && entries.back().version == state_.version()) {
    journal_.Read(std::move(entries.back()));
  }
  journal_.Reach(state_.version());
  epoch_ = state_.epoch().value();
  if (!stale_) {
    events_.Publish(std::move(notes), state_.version());
  }
}

void Controller::Follow(std::vector<JournalEntry> entries, Reply followed) {
  auto shared = std::make_shared<std::pair<std::vector<JournalEntry>, Reply>>(std::move(entries),
                                                                              std::move(followed));
  const bool queued = queue_.PushOwn([this, shared] {
    if (!leads_ && state_.version() != journal_.version()) {
      shared->second(Unsettled());
      return;
    }
    if (!leads_) {
      FollowTo(std::move(shared->first));
    }
    shared->second(stale_ ? degraded_ : absl::OkStatus());
  });
  if (!queued) {
    shared->second(absl::UnavailableError("the controller is stopping"));
  }
}

void Controller::Lead(Reply led) {
  auto shared = std::make_shared<const Reply>(std::move(led));
  const bool queued = queue_.PushOwn([this, shared] { (*shared)(BeginToLead()); });
  if (!queued) {
    (*shared)(absl::UnavailableError("the controller is stopping"));
  }
}

absl::Status Controller::BeginToLead() {
  RETURN_IF_ERROR(stale_ ? degraded_ : absl::OkStatus());
  Finish();
  AwaitCommits();
  RETURN_IF_ERROR(state_.version() == journal_.version() ? absl::OkStatus() : Unsettled());
  if (absl::Status known = store_.ContinueFrom(state_.version()); !known.ok()) {
    if (absl::IsInternal(known)) {
      MarkStale(known);
    }
    return known;
  }
  if (absl::Status begun = BeginTerm(); !begun.ok()) {
    MarkStale(begun);
    return begun;
  }
  degraded_ = absl::OkStatus();
  ForgetPlans();
  leads_ = true;
  return absl::OkStatus();
}

void Controller::StepDown(Reply durable) {
  auto shared = std::make_shared<const Reply>(std::move(durable));
  const bool queued = queue_.PushOwn([this, shared] {
    Depose();
    group_.after.emplace_back([shared](const absl::Status& status) { (*shared)(status); });
  });
  if (!queued) {
    (*shared)(absl::UnavailableError("the controller is stopping"));
  }
}

// Agents and whoever watches find the leader by themselves, and say again what was not
// acknowledged.
void Controller::Depose() {
  leads_ = false;
  if (group_.batch.entries.empty()) {
    group_.batch.cycles.clear();  // else they go with what follows from them
  }
  ForgetPlans();
  waiting_ = WaitingReasons();
  agents_.CloseAll();
  watchers_.LoseAll(Degraded());
  events_.Dismiss();
}

void Controller::ForgetPlans() {
  cycles_.Forget();
  plan_ = nullptr;
  pace_.Want();
}

void Controller::PlanAfresh() {
  queue_.PushOwn([this] { ForgetPlans(); });
}

void Controller::AwaitCommits() {
  while (commits_->depth() > 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void Controller::MarkStale(const absl::Status& why) {
  stale_ = true;
  degraded_ = why;
}

// The store refused a commit: back to what it holds. Clients were told; agents come back and say
// again what was not acknowledged.
void Controller::RollBack(const absl::Status& status) {
  log_.Error("controller",
             absl::StrCat("the state could not be written: ", std::string(status.message())));
  if (absl::IsDataLoss(status) || absl::IsInternal(status)) {
    fatal_ = status;
    has_fatal_ = true;
    return;
  }
  commits_->Push(Batch(),
                 [after = std::exchange(group_, Group()).after, status](const absl::Status&) {
                   for (const Reply& reply : after) {
                     reply(ForCallers(status));
                   }
                 });
  AwaitCommits();
  if (absl::IsFailedPrecondition(status)) {
    Depose();
  }
  agents_.CloseAll();
  MarkStale(status);
  Reload();
}

// Back to what the store holds, or later once it can be reached.
void Controller::Reload() {
  AwaitCommits();
  const absl::Status loaded = LoadState();
  due_.try_again = std::chrono::steady_clock::now() + kRetryWrites;
  if (!loaded.ok()) {
    if (store_.leadership() == nullptr || absl::IsDataLoss(loaded) || absl::IsInternal(loaded)) {
      fatal_ = loaded;
      has_fatal_ = true;
    }
    return;
  }
  stale_ = false;
  events_.Lose(state_.version());
  ForgetPlans();
  commits_->Reset();
}

absl::Status ForCallers(const absl::Status& status) {
  return absl::IsFailedPrecondition(status) || absl::IsAborted(status)
             ? absl::UnavailableError(status.message())
             : status;
}

absl::Status Controller::Degraded() const {
  if (!leads_) {
    return absl::UnavailableError(
        "this controller is a standby: name all controllers with --controller A,B; muster "
        "controller "
        "status says which leads");
  }
  if (degraded_.ok() || (!stale_ && std::chrono::steady_clock::now() >= due_.try_again)) {
    return absl::OkStatus();
  }
  return absl::ResourceExhaustedError(absl::StrCat(
      store_.leadership() == nullptr ? "the state directory cannot be written ("
                                     : "the database cannot be written (",
      std::string(degraded_.message()), "); running jobs go on; try again when it can"));
}

}  // namespace muster::daemon
