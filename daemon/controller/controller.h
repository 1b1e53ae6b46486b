#pragma once

// The controller: the one thread that owns the cluster's state, and the loop round core/handle.
//
// Inputs come in through a queue; a group of them becomes events, the events one batch, the batch
// one commit; only then do orders leave and callers get their answers. Planning runs beside the
// loop on a snapshot. Thread promise: Take, Look, Watch and Stop from any thread; answers come on
// the store's writer thread and must not block. Invariants: (1) an answer leaves only after
// everything it saw is durable; (2) when a commit fails, the state goes back to what the store has
// and the callers get an error; (3) no lock is held anywhere while planning.

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "daemon/controller/alerts.h"
#include "daemon/controller/cycle/cycle_pace.h"
#include "daemon/controller/cycle/waiting_reasons.h"
#include "daemon/controller/cycle_runner.h"
#include "daemon/controller/job_watchers.h"
#include "daemon/controller/meters.h"
#include "daemon/controller/network_map.h"
#include "daemon/controller/orders.h"
#include "daemon/controller/task_queue.h"
#include "daemon/events/event_feed.h"
#include "daemon/events/event_note.h"
#include "daemon/power/power_switch.h"
#include "daemon/store/commit_queue.h"
#include "daemon/store/followed_journal.h"
#include "daemon/store/job_store.h"
#include "scheduler/core/handle/handle.h"
#include "scheduler/core/prompt/job_estimates.h"
#include "scheduler/model/plan/cycle_record.h"
#include "scheduler/model/view/view.h"
#include "scheduler/runtime/log.h"

namespace muster::daemon {

// The way to the agents, as the controller sees it: sends an order if the node's agent is there (if
// it is not, the order is made again when it registers).
class AgentGateway {
 public:
  virtual ~AgentGateway() = default;
  virtual void Send(NodeId node, const Order& order) = 0;
  // Ends every agent's stream; they come back and say again what was not acknowledged.
  virtual void CloseAll() = 0;
  // The nodes whose agents have been silent for longer than their lease.
  virtual std::vector<LoseAgent> TakeExpired() = 0;
};

// What a reader may look at, on the controller's thread.
class StateView {
 public:
  StateView(const core::ClusterState& state, const WaitingReasons& waiting,
            const std::shared_ptr<const Plan>& plan, const Alerts& alerts, Time now,
            const core::TouchedJobs* touched_jobs = nullptr)
      : state_(state),
        waiting_(waiting),
        plan_(plan),
        alerts_(alerts),
        now_(now),
        touched_jobs_(touched_jobs) {}
  [[nodiscard]] const core::ClusterState& state() const { return state_; }
  [[nodiscard]] Time now() const { return now_; }
  [[nodiscard]] const std::shared_ptr<const Plan>& plan() const { return plan_; }
  // Why the job waits, as the last cycle saw it.
  [[nodiscard]] Reason ReasonOf(JobId job) const;
  // How many jobs from `job` on, of `most`, wait for what it does.
  [[nodiscard]] std::uint32_t AlikeFrom(JobId job, std::uint32_t most) const {
    return waiting_.AlikeFrom(job, most);
  }
  // The waiting job's priority then; 0 where none is reckoned.
  [[nodiscard]] std::uint32_t PriorityOf(JobId job) const;
  // What the watchdog says of the job; empty while it says nothing.
  [[nodiscard]] std::string AlertOf(JobId job) const { return alerts_.TextOf(job); }
  [[nodiscard]] const Alerts& alerts() const { return alerts_; }
  // Which jobs the newest events changed; null where nobody keeps that.
  [[nodiscard]] const core::TouchedJobs* touched_jobs() const { return touched_jobs_; }

 private:
  const core::ClusterState& state_;
  const WaitingReasons& waiting_;
  const std::shared_ptr<const Plan>& plan_;
  const Alerts& alerts_;
  const Time now_;
  const core::TouchedJobs* const touched_jobs_;
};

class Controller {
 public:
  using Done = std::function<void(const core::Transition& transition, const absl::Status& status)>;
  using Reply = std::function<void(const absl::Status& status)>;
  using Watcher = JobWatcher;
  // What makes the plans: MakePlan, but in tests of what happens when it errs.
  using Planner = CycleRunner::Planner;

  struct Setting {
    SchedulerConfig policy;
    std::string cluster;
    JobSecrets secrets;
    Planner planner = {};  // empty: MakePlan
  };

  Controller(JobStore& store, AgentGateway& agents, const Clock& clock, const Logger& log,
             Setting setting);
  ~Controller();
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;

  // Loads the state, begins an epoch and starts the loop. An error is one line for the operator.
  absl::Status Start(const BeginEpoch& how = {});
  // Loads the state and starts the loop, which changes nothing until it is told to lead: another
  // controller does.
  absl::Status StartFollowing();
  // What the leader added to the journal, and before it the entry at followed(), so that it is seen
  // when the database lost that one and has another. `followed` is called on the loop's thread; its
  // error says that the state has to be loaded again, which the loop does by itself.
  void Follow(std::vector<JournalEntry> entries, Reply followed);
  // Begins an epoch. REQUIRES: the store has given us the lead, and everything in the journal was
  // followed. `led` is called on the loop's thread.
  void Lead(Reply led);
  // Changes nothing more; `durable` is called when what was taken in is, or will never be.
  void StepDown(Reply durable);
  [[nodiscard]] bool leads() const { return leads_; }
  // The last entry of the state that is known to be in the journal.
  [[nodiscard]] Version followed() const { return journal_.version(); }
  // Ends the loop once what was taken in is durable.
  void Stop();
  // What it counts of its work.
  [[nodiscard]] const Meters& meters() const { return meters_; }
  // What happens, for those outside.
  [[nodiscard]] EventFeed& events() { return events_; }
  // The settings in force.
  [[nodiscard]] std::shared_ptr<const SchedulerConfig> policy() const;
  // The term of this controller, or of the one that it follows.
  [[nodiscard]] Epoch epoch() const { return Epoch(epoch_); }
  // Set when the loop ended because the store may have lost data.
  [[nodiscard]] absl::Status fatal() const;
  // Called (once) on the controller's thread when it ends by itself.
  void OnFatal(std::function<void()> callback) { on_fatal_ = std::move(callback); }

  void Take(Command command, Done done);
  // Whether that many commands would be taken now: a caller that makes many of one call asks before
  // the first.
  [[nodiscard]] bool HasRoomFor(std::size_t commands) const;
  // Makes other settings those in force, and `input` what the configuration says; neither when the
  // input is refused.
  void Configure(SchedulerConfig policy, ConfigurePolicy command, Done done);
  // Keeps rows that are no part of the state: `add` puts them into what is written next.
  void Keep(std::function<void(Batch& batch, Time now)> add, const Reply& kept);
  // The next cycle keeps to no plan before it, so that a replay can begin there.
  void PlanAfresh();
  // Makes another network that of the settings in force; null for none.
  void UseNetwork(std::shared_ptr<const Network> network);
  // `look` runs on the controller's thread; what it returns is called once what it saw is durable.
  void Look(std::function<Reply(const StateView&)> look);
  // Watches a job until the watcher's handle is dropped. The first call comes at once; none ever
  // comes for a job that is not (or no longer) live: `found` gets kNotFound, and kUnavailable while
  // another controller leads.
  using WatchHandle = std::shared_ptr<const Watcher>;
  void Watch(JobId job, const std::weak_ptr<const Watcher>& watcher, const Reply& found);

 private:
  // What one round of the loop gathered.
  struct Group {
    Batch batch;
    std::set<JobId> jobs;
    std::set<NodeId> nodes;
    std::set<NodeId> health;   // of which the health changed
    std::set<NodeId> tallies;  // on which attempts ended
    std::set<NodeId> power;
    std::set<UsageKey> spent;  // budgets that ended jobs were charged to
    std::set<std::pair<std::string, std::string>> charged;  // account and user, for fairshare
    std::vector<EventNote> notes;                           // for those who read events
    std::vector<Reply> after;
  };

  absl::Status LoadState();
  absl::Status BeginTerm(const BeginEpoch& how = {});
  void Run();
  absl::Status BeginToLead();
  void Depose();
  void ForgetPlans();
  void AwaitCommits();
  void FollowTo(std::vector<JournalEntry> entries);
  void MarkStale(const absl::Status& why);
  void Reload();
  void Loop();
  void Refuse(Reply reply);
  void Finish(bool all_cycles = false);
  void DoTake(const Command& command, const Done& done);
  void DoConfigure(const std::shared_ptr<const SchedulerConfig>& policy, const Command& command,
                   const Done& done);
  void Use(std::shared_ptr<const SchedulerConfig> policy);
  void Apply(std::vector<Event> events);
  void NoteEnd(const JobEnded& end);
  void NoteCharge(const Job& job);
  void LookAtNodes();
  void Touch(const Event& event);
  void Dispatch(const std::vector<Effect>& effects, bool of_new_job = false);
  void MaybePlan();
  void OnCycle(const Cycle& cycle);
  // Reports jobs that the planner leaves though they fit (promise 8).
  void ReportOverlooked(const Cycle& cycle);
  [[nodiscard]] StateView Look() const {
    return {state_, waiting_, plan_, alerts_, clock_.Now(), &cycles_.touched()};
  }
  void TellWatchers(JobId job);
  void RollBack(const absl::Status& status);
  void EveryFewMoments();
  [[nodiscard]] absl::Status Degraded() const;

  JobStore& store_;
  AgentGateway& agents_;
  const Clock& clock_;
  const Logger& log_;
  mutable std::mutex policy_mutex_;  // changed on the loop's thread, read by readers' too
  std::shared_ptr<const SchedulerConfig> policy_;

  // Owned by the loop's thread.
  core::ClusterState state_;
  core::JobEstimates estimates_;
  Orders orders_;
  NetworkMap map_;  // of the settings in force
  Group group_;
  WaitingReasons waiting_;
  std::shared_ptr<const Plan> plan_;
  Alerts alerts_;
  PowerSwitch power_;
  CycleRunner cycles_;
  CyclePace pace_;
  JobWatchers watchers_;
  absl::Status degraded_;
  bool stale_ = false;  // the state is not what the store holds, which has to be loaded
  struct Due {
    std::chrono::steady_clock::time_point try_again;  // to write, after that failed
    std::chrono::steady_clock::time_point sweep;
  };
  Due due_;

  Meters meters_;
  EventFeed events_;
  std::atomic<bool> leads_ = true;
  FollowedJournal journal_;
  std::atomic<std::uint64_t> epoch_ = 0;
  absl::Status fatal_;
  std::atomic<bool> has_fatal_ = false;
  std::function<void()> on_fatal_;
  TaskQueue queue_;
  std::unique_ptr<CommitQueue> commits_;
  std::thread thread_;
};

// What callers are told whose commands were not committed for that reason: that a request was not
// done, and may be made again.
absl::Status ForCallers(const absl::Status& status);

}  // namespace muster::daemon
