#include "scheduler/core/state/cluster_state.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "scheduler/base/status.h"
#include "scheduler/core/state/books/alternatives.h"
#include "scheduler/core/state/books/attempt.h"
#include "scheduler/core/state/books/checkpoint_account.h"
#include "scheduler/core/state/books/node_use.h"
#include "scheduler/model/job/array.h"

namespace muster {
namespace {

constexpr std::size_t kTokensMax = 65536;

}  // namespace

ClusterState::ClusterState(StateImage image)
    : version_(image.version),
      epoch_(image.epoch),
      next_job_(image.next_job),
      next_node_(image.next_node),
      all_touched_(image.version) {
  for (Node& node : image.nodes) {
    node_names_[node.name] = node.id;
    nodes_.emplace(node.id, std::move(node));
  }
  for (Job& job : image.jobs) {
    MUSTER_CHECK(job.spec != nullptr);
    if (job.state == JobState::kPending) {
      pending_.insert(job.id);
    }
    if (job.state == JobState::kSuspended) {
      suspended_.insert(job.id);
    }
    if (job.attempt.has_value()) {
      NoteHolder(job, job.attempt->allocation);
    }
    jobs_.Add(std::move(job));
  }
  for (UntouchedElements& elements : image.elements) {
    MUSTER_CHECK(elements.first.spec != nullptr);
    jobs_.Add(std::move(elements));
  }
  for (auto& [id, node] : nodes_) {
    node.taken = UseOf(node);
    health_.NoteMachine(id, *node.machine);
    for (const QuarantinedAttempt& attempt : node.quarantined) {
      quarantining_.insert(id);
      UseUp(attempt);
    }
  }
  policy_.Load(image.policy, image.spent, jobs_, nodes_);
  usage_.Load(image.usage, image.half_life);
  health_.Load(std::move(image.health), std::move(image.tallies));
  for (TokenOwner& owner : image.tokens) {
    Remember(std::move(owner));
  }
  ResolveDependencies(image.history);
}

void ClusterState::Apply(const Event& event) {
  const Version next = version_.Next();
  Touch(event, next);
  std::visit([this](const auto& change) { On(change); }, event);
  version_ = next;
  Touch(event, next);
}

void ClusterState::On(const EpochBegan& event) {
  MUSTER_CHECK(event.epoch > epoch_);
  epoch_ = event.epoch;
  usage_.SetHalfLife(event.half_life, event.time);
  for (auto& [id, node] : nodes_) {
    if (node.connected) {
      node.connected = false;
      node.changed = event.time;
    }
  }
}

void ClusterState::On(const JobSubmitted& event) {
  MUSTER_CHECK(event.first == next_job_ && event.count > 0);
  const auto spec = std::make_shared<const JobSpec>(event.spec);
  MUSTER_CHECK(event.count == (spec->array.has_value() ? ElementCount(*spec->array)
                                                       : event.components.size() + 1));
  Job job;
  job.id = event.first;
  job.submission = event.first;
  job.spec = spec;
  job.held = spec->held;
  job.submitted = event.time;
  if (spec->array.has_value()) {
    job.array_index = ElementIndexAt(*spec->array, 0);
    jobs_.Add(UntouchedElements{std::move(job), event.count});
  } else {
    job.het_size = event.components.empty() ? 0 : event.count;
    for (std::uint32_t i = 0; i < event.count; ++i) {
      Job component = job;
      component.id = JobId(event.first.value() + i);
      if (i > 0) {
        component.spec = std::make_shared<const JobSpec>(event.components[i - 1].spec);
      }
      pending_.insert(pending_.end(), component.id);
      jobs_.Add(std::move(component));
    }
  }
  next_job_ = JobId(event.first.value() + event.count);
  const std::uint32_t alike = event.components.empty() ? event.count : 1;
  policy_.Submit(*spec, alike);
  dependencies_.Join(*spec, event.first, alike);
  for (const Component& component : event.components) {
    policy_.Submit(component.spec, 1);
    dependencies_.Join(component.spec, event.first, 1);
  }
  if (!spec->dependency.terms.empty()) {
    auto progress = BeginProgress(jobs_, spec->dependency, spec->array.has_value(), event.history);
    MUSTER_CHECK(progress.ok());
    dependencies_.Wait({event.first, false}, spec->dependency, *std::move(progress), event.count);
  }
  Remember(TokenOwner{event.token, event.first, StepId()});
}

void ClusterState::On(const JobHeld& event) {
  Job& job = MustJob(event.job);
  job.held = event.held;
  job.held_by = event.held ? event.by : HoldBy::kUser;
}

void ClusterState::On(const AttemptStarted& event) {
  Job& job = MustJob(event.job);
  MUSTER_CHECK(event.attempt == job.last_attempt.Next() ||
               (IsComponent(job) && event.attempt > job.last_attempt));
  dependencies_.Started(job, event.time);
  Change(job, JobChange::kStart, JobState::kConfiguring);
  job.first_started = job.first_started == kNoTime ? event.time : job.first_started;
  pending_.erase(job.id);
  job.last_attempt = event.attempt;
  job.within = 0;
  Attempt& attempt = job.attempt.emplace();
  attempt.number = event.attempt;
  attempt.allocation = event.allocation;
  attempt.started = event.time;
  attempt.partition = event.partition;
  attempt.billing = event.billing;
  attempt.runs.resize(event.allocation.nodes.size());
  attempt.advice.number = kFirstAdvice;
  attempt.advice.mtbf = health_.MtbfOf(event.allocation);
  attempt.advice.loss_mtbf = health_.LossMtbfOf(event.allocation);
  attempt.advice.cost = job.checkpoints.cost;
  attempt.advice.flush = job.checkpoints.flush;
  attempt.advice.slow = job.checkpoints.slow;
  if (job.spec->kind == JobKind::kRun) {
    attempt.last_step = StepId(1);
  }
  if (HasChoice(*job.spec)) {
    SetSpec(job, AsChosen(*job.spec, event.alternative, event.tasks));
  }
  Take(job, attempt.allocation);
  policy_.Start(job, nodes_);
}

void ClusterState::On(const RunReported& event) {
  Job& job = MustJob(event.report.job);
  MUSTER_CHECK(job.attempt.has_value() && job.attempt->number == event.report.attempt);
  TakeInReport(*job.attempt, event.node, event.report);
  NoteRunEnd(*job.attempt, event);
  if (job.state == JobState::kConfiguring && AllStarted(*job.attempt)) {
    Change(job, JobChange::kRun, JobState::kRunning);
  }
}

void ClusterState::On(const AttemptEnding& event) {
  Job& job = MustJob(event.job);
  MUSTER_CHECK(job.attempt.has_value() && job.attempt->number == event.attempt);
  Change(job, JobChange::kTerminate, JobState::kCompleting);
  suspended_.erase(job.id);
  job.attempt->ending = event.cause;
  job.attempt->ending_text = event.text;
  job.within = event.within;
}

void ClusterState::On(const StepStarted& event) {
  TakeInStep(MustAttempt(event.job, event.attempt), event);
  Remember(TokenOwner{event.token, event.job, event.step});
}

void ClusterState::On(const StepQueued& event) {
  TakeInStep(MustAttempt(event.job, event.attempt), event);
  Remember(TokenOwner{event.token, event.job, event.step});
}

void ClusterState::On(const StepDropped& event) {
  TakeInStep(MustAttempt(event.job, event.attempt), event);
}

void ClusterState::On(const AttemptAdvised& event) {
  MustAttempt(event.job, event.attempt).advice = event.advice;
}

void ClusterState::On(const JobEnded& event) {
  if (event.more > 0) {
    return EndUntouched(event);
  }
  Job& job = MustJob(event.job);
  Change(job, job.attempt.has_value() ? JobChange::kEnd : JobChange::kDrop, event.state);
  if (job.attempt.has_value()) {
    MUSTER_CHECK(AllEnded(*job.attempt));
    Free(job, job.attempt->allocation);
    policy_.End(job, event.time);
    usage_.Charge(job, event.time);
  }
  dependencies_.Ended(job, event.state);
  policy_.Forget(*job.spec);
  pending_.erase(event.job);
  suspended_.erase(event.job);
  jobs_.Erase(event.job);
}

void ClusterState::EndUntouched(const JobEnded& event) {
  MUSTER_CHECK(IsAllowed(JobState::kPending, JobChange::kDrop, event.state));
  const std::uint32_t count = event.more + 1;
  const Job* first = jobs_.Find(event.job);
  MUSTER_CHECK(first != nullptr);
  Job job = *first;  // one element after the other
  for (std::uint32_t i = 0; i < count; ++i) {
    job.id = JobId(event.job.value() + i);
    job.array_index = IndexOfElement(*job.spec->array, job.submission, job.id);
    dependencies_.Ended(job, event.state);
    policy_.Forget(*job.spec);
  }
  jobs_.EraseUntouched(event.job, count);
}

void ClusterState::On(const JobRequeued& event) {
  Job& job = MustJob(event.job);
  MUSTER_CHECK(job.attempt.has_value() && job.attempt->number == event.attempt);
  MUSTER_CHECK(AllEnded(*job.attempt));
  Change(job, JobChange::kRequeue, JobState::kPending);
  Free(job, job.attempt->allocation);
  policy_.End(job, event.time);
  usage_.Charge(job, event.time);
  dependencies_.Requeued(job);
  suspended_.erase(job.id);
  job.checkpoints = TotalsAtEnd(job, event.time);
  if (HasChoice(*job.spec)) {
    SetSpec(job, event.resized ? ForTheRest(AsAsked(*job.spec), *job.attempt, event.time)
                               : AsAsked(*job.spec));
  }
  job.attempt.reset();
  job.resized = event.resized ? event.time : kNoTime;
  job.within = event.resized ? job.within : 0;
  job.requeues += event.preempted || event.progressed || event.resized ? 0 : 1;
  if (event.held) {
    job.held = true;
    job.held_by = HoldBy::kMaxRequeue;
  }
  pending_.insert(job.id);
}

void ClusterState::On(const JobUpdated& event) {
  Job& job = MustJob(event.job);
  std::vector<TermProgress> progress = dependencies_.ProgressOf(job);
  if (!(event.spec.dependency == job.spec->dependency)) {
    auto begun =
        BeginProgress(jobs_, event.spec.dependency, job.array_index.has_value(), event.history);
    MUSTER_CHECK(begun.ok());
    progress = *std::move(begun);
  }
  dependencies_.Change(job, event.spec, std::move(progress));
  const std::shared_ptr<const JobSpec> before = job.spec;
  SetSpec(job, event.spec);
  policy_.Update(*before, job);
}

void ClusterState::On(const NodeRegistered& event) {
  Node& node = nodes_[event.node];
  if (!node.id.valid()) {
    node.id = event.node;
    node.name = event.registration.name;
    node_names_[node.name] = node.id;
    next_node_ = std::max(next_node_, event.node.Next());
    policy_.AddNode(node);
  }
  node.hostname = event.registration.hostname;
  node.features = event.registration.features;
  node.weight = event.registration.weight;
  node.instance = event.registration.instance;
  node.boot_id = event.registration.boot_id;
  if (node.machine == nullptr || *node.machine != event.registration.machine) {
    node.machine = std::make_shared<const Machine>(event.registration.machine);
    node.taken = UseOf(node);
  }
  health_.NoteMachine(event.node, *node.machine);
  node.connected = true;
  node.changed = event.time;
  node.heard = kNoTime;
}

void ClusterState::On(const NodeLost& event) {
  Node& node = MustNode(event.node);
  node.connected = false;
  node.changed = event.time;
  node.heard = event.heard;
}

void ClusterState::On(const NodeDrained& event) {
  Node& node = MustNode(event.node);
  node.drained = event.drained;
  node.drain_reason = event.drained ? event.reason : std::string();
  health_.Drain(event);
}

void ClusterState::On(const AttemptQuarantined& event) {
  Node& node = MustNode(event.node);
  const auto same = [&](const QuarantinedAttempt& other) {
    return other.job == event.attempt.job && other.attempt == event.attempt.attempt;
  };
  if (event.over) {
    const auto found = std::find_if(node.quarantined.begin(), node.quarantined.end(), same);
    MUSTER_CHECK(found != node.quarantined.end());
    node.quarantined.erase(found);
    if (node.quarantined.empty()) {
      quarantining_.erase(event.node);
    }
    node.taken = UseOf(node);
    return;
  }
  CoverUse(node.taken, *node.machine, event.attempt.allocation);
  node.quarantined.push_back(event.attempt);
  quarantining_.insert(event.node);
  UseUp(event.attempt);
}

void ClusterState::On(const PolicyChanged& event) {
  policy_.Change(event, jobs_, nodes_);
}

void ClusterState::On(const AttemptSuspending& event) {
  Job& job = MustJob(event.job);
  MUSTER_CHECK(job.attempt.has_value() && job.attempt->number == event.attempt);
  Attempt& attempt = *job.attempt;
  if (event.by == SuspendedBy::kReleased) {
    MUSTER_CHECK(job.state == JobState::kSuspended);
  } else if (job.state != JobState::kSuspended) {
    Change(job, JobChange::kSuspend, JobState::kSuspended);
    ++attempt.suspension;
    suspended_.insert(job.id);
  }
  attempt.suspended_by = event.by;
  attempt.suspended_text = event.text;
}

void ClusterState::On(const AttemptSuspended& event) {
  Job& job = MustJob(event.job);
  MUSTER_CHECK(job.attempt.has_value() && job.attempt->number == event.attempt);
  Attempt& attempt = *job.attempt;
  MUSTER_CHECK(job.state == JobState::kSuspended && HoldsCores(attempt) && AllFrozen(attempt));
  attempt.suspended_since = event.time;
  for (const NodeAllocation& part : attempt.allocation.nodes) {
    Node& node = MustNode(part.node);
    if (node.quarantined.empty()) {
      node.taken.cpus -= part.cpus;
    } else {
      node.taken = UseOf(node);
    }
  }
  policy_.Suspend(job);
}

void ClusterState::On(const AttemptResumed& event) {
  Job& job = MustJob(event.job);
  MUSTER_CHECK(job.attempt.has_value() && job.attempt->number == event.attempt);
  Change(job, JobChange::kResume, JobState::kRunning);
  suspended_.erase(job.id);
  Attempt& attempt = *job.attempt;
  ++attempt.suspension;
  attempt.suspended_by = SuspendedBy::kNobody;
  attempt.suspended_text.clear();
  if (HoldsCores(attempt)) {
    return;  // it was asked back before its nodes had frozen it
  }
  attempt.suspended_total = SuspendedFor(attempt, event.time);
  attempt.suspended_since = kNoTime;
  for (const NodeAllocation& part : attempt.allocation.nodes) {
    Node& node = MustNode(part.node);
    MUSTER_CHECK(!node.taken.cpus.Meets(part.cpus));
    node.taken.cpus |= part.cpus;
  }
  policy_.Suspend(job);
}

void ClusterState::On(const HalfLifeSet& event) {
  usage_.SetHalfLife(event.half_life, event.time);
}

const Job* ClusterState::FindJob(JobId id) const {
  return jobs_.Find(id);
}

const Node* ClusterState::FindNode(NodeId id) const {
  const auto found = nodes_.find(id);
  return found == nodes_.end() ? nullptr : &found->second;
}

const Node* ClusterState::FindNode(const std::string& name) const {
  const auto found = node_names_.find(name);
  return found == node_names_.end() ? nullptr : FindNode(found->second);
}

const TokenOwner* ClusterState::FindToken(const std::string& token) const {
  const auto found = tokens_.find(token);
  return found == tokens_.end() ? nullptr : &found->second;
}

std::vector<JobId> ClusterState::JobsOn(NodeId node) const {
  const auto found = jobs_on_.find(node);
  return found == jobs_on_.end() ? std::vector<JobId>()
                                 : std::vector<JobId>(found->second.begin(), found->second.end());
}

void ClusterState::SetSpec(Job& job, JobSpec spec) {
  job.changed_spec = std::make_shared<const JobSpec>(std::move(spec));
  job.spec = job.changed_spec;
}

Job& ClusterState::MustJob(JobId id) {
  Job* job = jobs_.Touch(id);
  MUSTER_CHECK(job != nullptr);
  if (job->state == JobState::kPending) {
    pending_.insert(id);  // an element is touched
  }
  return *job;
}

Attempt& ClusterState::MustAttempt(JobId id, AttemptNumber number) {
  Job& job = MustJob(id);
  MUSTER_CHECK(job.attempt.has_value() && job.attempt->number == number);
  return *job.attempt;
}

Node& ClusterState::MustNode(NodeId id) {
  const auto found = nodes_.find(id);
  MUSTER_CHECK(found != nodes_.end());
  return found->second;
}

void ClusterState::Change(Job& job, JobChange change, JobState to) {
  MUSTER_CHECK(IsAllowed(job.state, change, to));
  job.state = to;
}

void ClusterState::Take(const Job& job, const Allocation& allocation) {
  for (const NodeAllocation& part : allocation.nodes) {
    Node& node = MustNode(part.node);
    AddUse(node.taken, *node.machine, part);
  }
  NoteHolder(job, allocation);
}

void ClusterState::NoteHolder(const Job& job, const Allocation& allocation) {
  for (const NodeAllocation& part : allocation.nodes) {
    jobs_on_[part.node].insert(job.id);
  }
  if (job.spec->array.has_value() && job.spec->array->max_running > 0) {
    ++array_running_[job.submission];
  }
  licenses_.Take(job);
  if (job.spec->elastic) {
    elastic_.insert(job.id);
  }
}

void ClusterState::Free(const Job& job, const Allocation& allocation) {
  const bool cores = HoldsCores(*job.attempt);
  for (std::size_t i = 0; i < allocation.nodes.size(); ++i) {
    const NodeAllocation& part = allocation.nodes[i];
    Node& node = MustNode(part.node);
    const auto holders = jobs_on_.find(part.node);
    holders->second.erase(job.id);
    if (holders->second.empty()) {
      jobs_on_.erase(holders);
    }
    if (node.quarantined.empty()) {
      SubtractUse(node.taken, cores ? part : HeldPart(*job.attempt, i));
    } else {
      node.taken = UseOf(node);  // a quarantined attempt may hold some of the same threads
    }
  }
  const auto running = array_running_.find(job.submission);
  if (running != array_running_.end() && --running->second == 0) {
    array_running_.erase(running);
  }
  licenses_.Free(job);
  elastic_.erase(job.id);
}

void ClusterState::ResolveDependencies(const std::vector<TargetHistory>& history) {
  std::map<JobId, std::uint32_t> sharing;  // jobs with the spec of their submission
  jobs_.ForEachRun([&](const Job& job, std::uint32_t count) {
    dependencies_.Join(*job.spec, job.submission, count);
    if (job.attempt.has_value()) {
      dependencies_.Allocated(job);
    }
    sharing[job.submission] += job.changed_spec == nullptr ? count : 0;
  });
  jobs_.ForEachRun([&](const Job& job, std::uint32_t) {
    const bool changed = job.changed_spec != nullptr;
    const auto shared = sharing.find(job.submission);
    if (job.spec->dependency.terms.empty() || (!changed && shared->second == 0)) {
      return;
    }
    auto progress =
        BeginProgress(jobs_, job.spec->dependency, job.array_index.has_value(), history);
    MUSTER_CHECK(progress.ok());
    dependencies_.Wait({changed ? job.id : job.submission, changed}, job.spec->dependency,
                       *std::move(progress), changed ? 1 : std::exchange(shared->second, 0));
  });
}

void ClusterState::UseUp(const QuarantinedAttempt& attempt) {
  next_job_ = std::max(next_job_, attempt.job.Next());
  if (jobs_.contains(attempt.job)) {
    Job& job = MustJob(attempt.job);
    job.last_attempt = std::max(job.last_attempt, attempt.attempt);
  }
}

NodeUse ClusterState::UseOf(const Node& node) const {
  NodeUse use;
  use.gpus.resize(node.machine->gpus.size());
  for (const JobId id : JobsOn(node.id)) {
    const Attempt& attempt = *FindJob(id)->attempt;
    CoverUse(use, *node.machine, HeldPart(attempt, *RunOn(attempt, node.id)));
  }
  for (const QuarantinedAttempt& attempt : node.quarantined) {
    CoverUse(use, *node.machine, attempt.allocation);
  }
  return use;
}

void ClusterState::Remember(TokenOwner owner) {
  if (owner.token.empty() || tokens_.contains(owner.token)) {
    return;
  }
  token_order_.push_back(owner.token);
  tokens_.emplace(owner.token, std::move(owner));
  if (token_order_.size() > kTokensMax) {
    tokens_.erase(token_order_.front());
    token_order_.pop_front();
  }
}

}  // namespace muster
