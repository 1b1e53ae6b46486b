#include "daemon/controller/controller.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/controller/views.h"
#include "scheduler/base/status.h"
#include "scheduler/core/plan/planner.h"
#include "scheduler/model/job/array.h"
#include "scheduler/model/plan/plan.h"

namespace muster::daemon {
namespace {

constexpr std::size_t kGroupMax = 512;
constexpr auto kSweep = std::chrono::seconds(1);
constexpr std::size_t kCyclesHeldBack = 256;

absl::Status TooBusy() {
  return absl::UnavailableError("the controller is stopping, or has too much to do");
}

Reason ReasonOfKind(ReasonKind kind) {
  Reason reason;
  reason.kind = kind;
  return reason;
}

// Those that are still there.
void AddNodes(const core::ClusterState& state, const std::set<NodeId>& nodes, Batch& batch) {
  for (const NodeId id : nodes) {
    if (const Node* const node = state.FindNode(id)) {
      batch.nodes.push_back(*node);
    }
  }
}

// Those of the jobs that are still live.
void AddJobs(const core::ClusterState& state, const std::set<JobId>& jobs, Batch& batch) {
  for (const JobId id : jobs) {
    if (const Job* job = state.FindJob(id)) {
      batch.jobs.push_back(*job);
    }
  }
}

void AddSpent(const core::ClusterState& state, const std::set<UsageKey>& keys, Batch& batch) {
  for (const UsageKey& key : keys) {
    if (std::optional<Spent> spent = state.policy().SpentOf(key)) {
      batch.spent.push_back(*std::move(spent));
    }
  }
}

// Those of the nodes of which something is known.
void AddPower(const core::PowerTable& table, const std::set<NodeId>& nodes, Batch& batch) {
  for (const NodeId id : nodes) {
    if (const auto found = table.nodes().find(id); found != table.nodes().end()) {
      batch.power.push_back(found->second);
    }
  }
}

// The same, and those that failed jobs.
void AddHealth(const core::HealthTable& table, const std::set<NodeId>& health,
               const std::set<NodeId>& tallies, Batch& batch) {
  for (const NodeId id : health) {
    if (const auto found = table.nodes().find(id); found != table.nodes().end()) {
      batch.health.push_back(found->second);
    }
  }
  for (const NodeId id : tallies) {
    if (const auto found = table.tallies().find(id); found != table.tallies().end()) {
      batch.tallies.push_back(found->second);
    }
  }
}

Plan MakePlan(std::shared_ptr<const Snapshot> snapshot, const SchedulerConfig& config,
              core::PlannerMemory& memory) {
  return core::MakePlan(std::move(snapshot), config, memory);
}

EndedAttempt EndedAttemptOf(const core::ClusterState& state, const Job& job, Time end) {
  return EndedAttempt{job.id, ViewOf(state, job, end), job.spec->user.name, job.spec->account};
}

// Of an epoch that began: all nodes, and all users, whose half-life may be another now.
void TouchAll(const core::ClusterState& state, std::set<NodeId>& nodes,
              std::set<std::pair<std::string, std::string>>& charged) {
  for (const auto& [id, node] : state.nodes()) {
    nodes.insert(id);
  }
  for (const AccountUsage& used : state.usage().TakeSnapshot().used) {
    charged.emplace(used.account, used.user);
  }
}

}  // namespace

Reason StateView::ReasonOf(JobId job) const {
  if (std::optional<Reason> reason = waiting_.ReasonOf(job)) {
    return *std::move(reason);
  }
  const Job* found = state_.FindJob(job);
  const bool held = found != nullptr && found->held && found->held_by == HoldBy::kUser;
  return ReasonOfKind(held ? ReasonKind::kJobHeldUser : ReasonKind::kNotPlannedYet);
}

std::uint32_t StateView::PriorityOf(JobId job) const {
  return waiting_.PriorityOf(job);
}

Controller::Controller(JobStore& store, AgentGateway& agents, const Clock& clock, const Logger& log,
                       Setting setting)
    : store_(store),
      agents_(agents),
      clock_(clock),
      log_(log),
      policy_(std::make_shared<const SchedulerConfig>(std::move(setting.policy))),
      orders_(store, setting.cluster, std::move(setting.secrets)),
      alerts_(store.directory() + "/alerts", log),
      power_(store.directory() + "/power", log),
      cycles_(setting.planner ? std::move(setting.planner) : Planner(MakePlan), meters_),
      events_(std::move(setting.cluster)) {}

Controller::~Controller() {
  Stop();
}

void Controller::Stop() {
  queue_.Close();
  if (thread_.joinable()) {
    thread_.join();
  }
  cycles_.Stop();
  commits_.reset();
  for (std::vector<TaskQueue::Task> rest = queue_.TakeLastRefusals(); !rest.empty();
       rest = queue_.TakeLastRefusals()) {
    for (const TaskQueue::Task& refuse : rest) {
      refuse();
    }
    for (const Reply& reply : std::exchange(group_, Group()).after) {
      reply(TooBusy());
    }
  }
}

absl::Status Controller::fatal() const {
  return has_fatal_ ? fatal_ : absl::OkStatus();
}

void Controller::Take(Command command, Done done) {
  auto shared = std::make_shared<std::pair<Command, Done>>(std::move(command), std::move(done));
  if (!queue_.Push([this, shared] { DoTake(shared->first, shared->second); })) {
    Refuse([shared](const absl::Status& busy) { shared->second(core::Transition(), busy); });
  }
}

bool Controller::HasRoomFor(std::size_t commands) const {
  return queue_.size() + commands <= TaskQueue::kLimit;
}

// Answers as every other answer comes: through the loop, on the writer's thread. Once the
// controller has stopped there is no such thread, and nobody else to race with.
void Controller::Refuse(Reply reply) {
  auto shared = std::make_shared<const Reply>(std::move(reply));
  const bool queued = queue_.PushRefusal([this, shared] {
    group_.after.emplace_back([shared](const absl::Status&) { (*shared)(TooBusy()); });
  });
  if (!queued) {
    (*shared)(TooBusy());
  }
}

std::shared_ptr<const SchedulerConfig> Controller::policy() const {
  const std::lock_guard<std::mutex> lock(policy_mutex_);
  return policy_;
}

void Controller::Configure(SchedulerConfig policy, ConfigurePolicy command, Done done) {
  const auto settings = std::make_shared<const SchedulerConfig>(std::move(policy));
  auto shared = std::make_shared<std::pair<Command, Done>>(std::move(command), std::move(done));
  const bool queued = queue_.Push(
      [this, settings, shared] { DoConfigure(settings, shared->first, shared->second); });
  if (!queued) {
    Refuse([shared](const absl::Status& busy) { shared->second(core::Transition(), busy); });
  }
}

void Controller::DoConfigure(const std::shared_ptr<const SchedulerConfig>& policy,
                             const Command& command, const Done& done) {
  if (Degraded().ok() && core::Handle(state_, command, clock_.Now(), *policy).status.ok()) {
    Use(policy);
  }
  DoTake(command, done);
}

void Controller::UseNetwork(std::shared_ptr<const Network> network) {
  queue_.PushOwn([this, network = std::move(network)] {
    SchedulerConfig other = *policy_;
    other.network = network;
    Use(std::make_shared<const SchedulerConfig>(std::move(other)));
    pace_.Want();
  });
}

// The settings in force from now on; the log is told what of their network is not there.
void Controller::Use(std::shared_ptr<const SchedulerConfig> policy) {
  map_ = NetworkMap(policy->network);
  for (const std::string& remark : map_.Remarks(state_.nodes())) {
    log_.Warning("controller", remark);
  }
  const std::lock_guard<std::mutex> lock(policy_mutex_);
  policy_ = std::move(policy);
}

void Controller::Look(std::function<Reply(const StateView&)> look) {
  auto shared = std::make_shared<std::function<Reply(const StateView&)>>(std::move(look));
  const bool queued = queue_.Push([this, shared] {
    const StateView state_view = Look();
    group_.after.emplace_back((*shared)(state_view));
  });
  if (!queued) {
    Refuse([this, shared](const absl::Status& busy) {
      static const core::ClusterState empty;
      static const WaitingReasons none;
      static const Alerts no_alerts;
      const StateView state_view(empty, none, nullptr, no_alerts, clock_.Now());
      (*shared)(state_view)(busy);
    });
  }
}

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
    watchers_.Add(job, watcher);
    group_.after.emplace_back([found](const absl::Status&) { found(absl::OkStatus()); });
    TellWatchers(job);
  });
  if (!queued) {
    Refuse(found);
  }
}

void Controller::Keep(std::function<void(Batch& batch, Time now)> add, const Reply& kept) {
  const bool queued = queue_.Push([this, add = std::move(add), kept] {
    if (const absl::Status refused = Degraded(); !refused.ok()) {
      group_.after.emplace_back([kept, refused](const absl::Status&) { kept(refused); });
      return;
    }
    add(group_.batch, clock_.Now());
    group_.after.emplace_back(kept);
  });
  if (!queued) {
    Refuse(kept);
  }
}

void Controller::Loop() {
  due_.sweep = std::chrono::steady_clock::now() + kSweep;
  while (!queue_.closed() && !has_fatal_) {
    auto deadline = due_.sweep;
    const bool plans = Degraded().ok();  // who cannot plan does not wake for a plan that is due
    if (plans && plan_ != nullptr && plan_->wake != kNoTime) {
      deadline = std::min(deadline, std::chrono::steady_clock::now() +
                                        std::max(plan_->wake - clock_.Now(), Duration(1)));
    }
    if (plans && pace_.wanted() && !cycles_.running()) {
      deadline = std::min(deadline, pace_.next());
    }
    std::vector<TaskQueue::Task> tasks = queue_.Take(kGroupMax, deadline);
    for (TaskQueue::Task& task : tasks) {
      task();
    }
    EveryFewMoments();
    Finish();
    MaybePlan();
  }
  for (TaskQueue::Task& task : queue_.Take(SIZE_MAX, std::chrono::steady_clock::now())) {
    task();
  }
  Finish(true);
  if (has_fatal_ && on_fatal_) {
    on_fatal_();
  }
}

void Controller::EveryFewMoments() {
  if (plan_ != nullptr && plan_->wake != kNoTime && plan_->wake <= clock_.Now()) {
    pace_.Want();
  }
  if (std::chrono::steady_clock::now() < due_.sweep) {
    return;
  }
  due_.sweep = std::chrono::steady_clock::now() + kSweep;
  const std::string news = commits_ == nullptr ? "" : commits_->TakeNews();
  if (!news.empty()) {
    log_.Warning("store", news);
  }
  if (stale_) {
    Reload();
  }
  watchers_.Sweep();
  for (const LoseAgent& lost : agents_.TakeExpired()) {
    log_.Warning("controller",
                 absl::StrCat("node ", ToString(lost.node), " has been silent for its lease"));
    DoTake(lost, [](const core::Transition&, const absl::Status&) {});
  }
  LookAtNodes();
}

void Controller::LookAtNodes() {
  if (!Degraded().ok()) {
    return;
  }
  std::vector<Command> commands = {TickHealth{}, TickElastic{}, LayOutGpus{}};
  if (std::optional<SwitchNodes> orders =
          power_.Look(state_, plan_.get(), *policy_, clock_.Now())) {
    commands.emplace_back(*std::move(orders));
  }
  for (const Command& command : commands) {
    const core::Transition transition = core::Handle(state_, command, clock_.Now(), *policy_);
    Apply(transition.events);
    Dispatch(transition.effects);
  }
}

// Hands the group to the writer; its answers leave when it is durable. Cycles wait for the next
// event, so that they cost no commit of their own, unless they are many.
void Controller::Finish(bool all_cycles) {
  std::vector<CycleRecord> held_back;
  if (group_.batch.entries.empty() && group_.batch.cycles.size() < kCyclesHeldBack && !all_cycles) {
    held_back.swap(group_.batch.cycles);
  }
  if (group_.batch.empty() && group_.after.empty()) {
    group_.batch.cycles.swap(held_back);
    return;
  }
  AddJobs(state_, group_.jobs, group_.batch);
  AddNodes(state_, group_.nodes, group_.batch);
  AddSpent(state_, group_.spent, group_.batch);
  for (const auto& [account, user] : group_.charged) {
    group_.batch.usage.push_back(state_.usage().UsageOf(account, user));
  }
  AddHealth(state_.health(), group_.health, group_.tallies, group_.batch);
  AddPower(state_.power(), group_.power, group_.batch);
  Group group = std::exchange(group_, Group());
  group_.batch.cycles = std::move(held_back);
  for (const EndedAttempt& ended : group.batch.attempts) {
    meters_.Note(ended.attempt);
  }
  const Version version = group.batch.entries.empty() ? Version() : state_.version();
  commits_->Push(std::move(group.batch),
                 [this, after = std::move(group.after), notes = std::move(group.notes), version,
                  begin = std::chrono::steady_clock::now()](const absl::Status& status) mutable {
                   meters_.commit.Observe(std::chrono::steady_clock::now() - begin);
                   const absl::Status told = ForCallers(status);
                   if (status.ok() && version.valid()) {
                     journal_.Reach(version);
                     events_.Publish(std::move(notes), version);
                   }
                   for (const Reply& reply : after) {
                     reply(told);
                   }
                   if (!status.ok() && !absl::IsAborted(status)) {
                     queue_.PushOwn([this, status] { RollBack(status); });
                   }
                 });
}

void Controller::DoTake(const Command& command, const Done& done) {
  if (const absl::Status status = Degraded(); !status.ok()) {
    group_.after.emplace_back(
        [done, status](const absl::Status&) { done(core::Transition(), status); });
    return;
  }
  auto transition =
      std::make_shared<core::Transition>(core::Handle(state_, command, clock_.Now(), *policy_));
  if (policy_->priority.order == QueueRule::kPrompt) {
    estimates_.AddTo(transition->events);
  }
  // One that was deposed and does not know it yet says nothing by what it knew.
  group_.batch.confirms |= transition->events.empty() && store_.leadership() != nullptr;
  Apply(std::move(transition->events));
  transition->events.clear();
  group_.after.emplace_back([done, transition](const absl::Status& status) {
    done(*transition, status.ok() ? transition->status : status);
  });
  Dispatch(transition->effects, std::holds_alternative<SubmitJob>(command));
}

void Controller::Apply(std::vector<Event> events) {
  for (Event& event : events) {
    if (const auto* end = std::get_if<JobEnded>(&event)) {
      NoteEnd(*end);
    }
    if (const auto* again = std::get_if<JobRequeued>(&event)) {
      const Job& job = *state_.FindJob(again->job);
      NoteCharge(job);
      group_.batch.attempts.push_back(EndedAttemptOf(state_, job, again->time));
    }
    if (const auto* joined = std::get_if<NodeRegistered>(&event);
        joined != nullptr && state_.FindNode(joined->node) == nullptr) {
      if (const std::optional<std::string> remark = map_.RemarkOn(joined->registration.name)) {
        log_.Warning("controller", *remark);
      }
    }
    meters_.Note(event, state_);
    alerts_.Note(event, state_);
    std::optional<EventNote> note = events_.open() ? NoteOf(event, state_) : std::nullopt;
    state_.Apply(event);
    cycles_.Note(event, state_.version());
    if (note.has_value()) {
      note->version = state_.version();
      group_.notes.push_back(*std::move(note));
    }
    orders_.Learn(event);
    Touch(event);
    group_.batch.entries.push_back(JournalEntry{state_.version(), std::move(event)});
  }
}

// What the end of the job's attempt, if it has one, is charged to.
void Controller::NoteCharge(const Job& job) {
  for (UsageKey& key : state_.policy().BudgetsOf(job)) {
    group_.spent.insert(std::move(key));
  }
  if (job.attempt.has_value() && !job.attempt->billing.zero()) {
    group_.charged.emplace(job.spec->account, job.spec->user.name);
  }
}

// The accounting of a job that is about to leave the state.
void Controller::NoteEnd(const JobEnded& end) {
  const Job& job = *state_.FindJob(end.job);
  NoteCharge(job);
  estimates_.Observe(job, end);
  EndedJob ended{job.id, job.submission, JobDetail()};
  ended.detail.job = ViewOf(job, end);
  AddAsked(*job.spec, ended.detail);
  if (end.more > 0) {
    ended.detail.job.indices = IndicesFrom(
        *job.spec->array, static_cast<std::uint32_t>(job.id.value() - job.submission.value()),
        end.more + 1);
  }
  const Allocation* allocation = nullptr;
  if (job.attempt.has_value()) {
    allocation = &job.attempt->allocation;
    group_.batch.attempts.push_back(EndedAttemptOf(state_, job, end.time));
  }
  for (std::uint32_t i = 0; i <= end.more && !watchers_.empty(); ++i) {
    const JobId id(end.job.value() + i);
    watchers_.Tell(id, i == 0 ? ended.detail.job : ViewOf(*state_.FindJob(id), end), allocation,
                   group_.after);
    watchers_.Forget(id);
  }
  group_.batch.ended.push_back(std::move(ended));
}

void Controller::Touch(const Event& event) {
  std::visit(
      [this](const auto& change) {
        using Change = std::decay_t<decltype(change)>;
        if constexpr (std::is_same_v<Change, EpochBegan>) {
          TouchAll(state_, group_.nodes, group_.charged);
        } else if constexpr (std::is_same_v<Change, RunReported>) {
          group_.jobs.insert(change.report.job);
          TellWatchers(change.report.job);
          if (std::holds_alternative<RunEnded>(change.report.fact)) {
            group_.tallies.insert(change.node);
          }
          if (const auto* started = std::get_if<RunStarted>(&change.report.fact);
              started != nullptr && !started->image.empty()) {
            group_.nodes.insert(change.node);  // it keeps that image now
          }
        } else if constexpr (requires { change.job; }) {
          group_.jobs.insert(change.job);
          TellWatchers(change.job);
        } else if constexpr (requires { change.node; }) {
          group_.nodes.insert(change.node);
        }
        if constexpr (requires { change.node; } && !std::is_same_v<Change, RunReported>) {
          group_.health.insert(change.node);
          group_.tallies.insert(change.node);
        }
        if constexpr (std::is_same_v<Change, NodePowered>) {
          group_.power.insert(change.node);
        }
        if constexpr (std::is_same_v<Change, AttemptQuarantined>) {
          // Its number is used up, also for a job that waits here.
          group_.jobs.insert(change.attempt.job);
        }
      },
      event);
}

void Controller::TellWatchers(JobId id) {
  const Job* job = watchers_.IsWatched(id) ? state_.FindJob(id) : nullptr;
  if (job != nullptr) {
    const Reason reason = Look().ReasonOf(id);
    watchers_.Tell(id, ViewOf(*job, &reason),
                   job->attempt.has_value() ? &job->attempt->allocation : nullptr, group_.after);
  }
}

void Controller::Dispatch(const std::vector<Effect>& effects, bool of_new_job) {
  for (Reply& call : power_.CallsFor(state_, effects, plan_.get(), *policy_)) {
    group_.after.push_back(std::move(call));
  }
  for (const Effect& effect : effects) {
    if (std::holds_alternative<Replan>(effect)) {
      of_new_job ? pace_.WantForNew() : pace_.Want();
      continue;
    }
    std::optional<PreparedOrder> prepared = orders_.Prepare(state_, effect, clock_.Now(), *policy_);
    if (!prepared.has_value()) {
      continue;
    }
    auto order = std::make_shared<PreparedOrder>(*std::move(prepared));
    group_.after.emplace_back([this, order](const absl::Status& status) {
      if (!status.ok()) {
        return;
      }
      if (const absl::Status ready = orders_.Complete(*order); !ready.ok()) {
        log_.Error("controller", ready.ToString());
        return;
      }
      agents_.Send(order->node, order->order);
    });
  }
}

}  // namespace muster::daemon
