#pragma once

// The loop of SimulateCluster: one simulation from its first job to its last.
//
// For the sources of the cluster's simulation alone: cluster_simulation.cc has the loop,
// cluster_jobs.cc the jobs' lives, cluster_stages.cc the checkpoints that they write to a shared
// file system, cluster_failures.cc what fails. Thread
// promise: one thread. Invariants: the state changes through core/handle only; a row is handed on
// once, when its job has left the state.

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "scheduler/core/handle/handle.h"
#include "scheduler/core/plan/planner.h"
#include "scheduler/core/plan/snapshot_builder.h"
#include "scheduler/core/prompt/job_estimates.h"
#include "scheduler/core/state/cluster_state.h"
#include "scheduler/simulator/cluster/checkpointed_run.h"
#include "scheduler/simulator/cluster/cluster_run.h"
#include "scheduler/simulator/cluster/free_room.h"
#include "scheduler/simulator/cluster/power_replay.h"
#include "scheduler/simulator/flat/processor_map.h"

namespace muster::sim {

class ClusterReplay {
 public:
  ClusterReplay(const ClusterRun& run, Arrivals arrivals, FlatObserver& observer)
      : run_(run),
        observer_(observer),
        arrivals_(std::move(arrivals)),
        config_(run.config),
        failures_(run.seed),
        files_(run.file_system),
        power_(config_) {}

  absl::StatusOr<ClusterResult> Run();

 private:
  using Tick = std::int64_t;  // seconds of the trace
  // When, in which order of starts, whose, and which of the ends foreseen for it.
  using Ending = std::tuple<Tick, std::uint64_t, JobId, std::uint32_t>;
  using Repair = std::pair<Tick, std::size_t>;  // when, and of which of nodes_

  static constexpr Tick kNever = std::numeric_limits<Tick>::max();

  // What an attempt holds of a node.
  struct Part {
    std::size_t node = 0;
    std::int64_t threads = 0;
    std::int64_t gpus = 0;
  };
  // A job from its arrival to its end.
  struct Live {
    TraceJob job;
    JobCheckpoints checkpoints;
    std::uint32_t generation = 0;  // of its end: an end that was foreseen before counts no more
    std::uint32_t attempts = 0;
    Tick limit = 0;  // that it asked for
    Tick work = 0;   // that is not done and saved
    Tick start = 0;
    Tick left = 0;  // of the attempt, when it last went on; of one without `staged`
    // Stage by stage, where its checkpoints go to the shared file system.
    std::optional<CheckpointedRun> staged;
    Tick writes_since = 0;
    Tick held_up = 0;  // by others that wrote to it
    Tick since = 0;
    bool started = false;  // an attempt is under way
    bool runs = false;     // and not suspended
    bool overtook = false;
    ProcessorRanges processors;
    std::vector<Part> parts;
    std::int64_t threads = 0;  // that it holds
    std::int64_t asked = 0;    // hardware threads
    std::uint32_t nodes = 0;
    std::uint32_t gpus = 0;
    std::string earlier;  // attempts, as in ScheduleRow
    Tick promised = -1;   // its latest start; -1: it has none
  };
  // The result of a cycle: of the plan without the reasons of waiting jobs.
  struct Decision {
    Tick now = 0;
    Plan plan;
    JobId oldest_left;           // the oldest job that is left waiting for resources
    std::vector<NodeId> wanted;  // that are off, by jobs without a place
    static constexpr auto Fields(auto list) {
      return list(Field{"now", &Decision::now}, Field{"plan", &Decision::plan},
                  Field{"oldest_left", &Decision::oldest_left}, Field{"wanted", &Decision::wanted});
    }
  };
  struct SimulatedNode {
    NodeId id;
    std::string name;
    std::size_t kind = 0;  // of run_.nodes
    std::uint32_t boots = 0;
    std::int64_t first_processor = 0;
    std::shared_ptr<const std::vector<std::uint32_t>> threads;  // sorted
    std::int64_t free_threads = 0;
    std::int64_t free_gpus = 0;
  };

  static Time TimeOf(Tick tick);
  static Tick TickOf(Time time);
  static User Operator() { return User{0, 0, "root"}; }

  absl::Status SetUp();
  absl::StatusOr<bool> RunInstant();
  absl::StatusOr<Tick> NextMoment();
  absl::Status RunCyclesUntilDone();
  absl::Status RunCycle();
  Decision Decide();
  absl::StatusOr<Decision> NextKnown();
  absl::Status KeepDecisions(bool stopped);
  absl::Status DropHopeless(const Plan& plan);
  absl::Status Take(const Command& command, core::Transition* transition = nullptr);
  absl::Status Answer(const std::vector<Effect>& effects);
  absl::Status EndOn(JobId id, const std::vector<NodeId>& nodes, EndCause cause);
  void Note(const Event& event, std::vector<JobId>& ended);
  // Under the order called prompt, unless the trace is to say how long jobs run.
  [[nodiscard]] bool LearnsEstimates() const {
    return config_.priority.order == QueueRule::kPrompt && run_.estimates == Estimates::kLearned;
  }
  void Report(FlatProgress* progress) const;

  absl::Status Refuse(const std::string& why);
  absl::Status Arrive(const TraceJob& job);
  [[nodiscard]] JobSpec SpecOf(const TraceJob& job) const;
  [[nodiscard]] JobCheckpoints CheckpointsOf(const ResourceRequest& request) const;
  [[nodiscard]] std::string KnownName(PolicyKind kind, const NameTable& names, const char* prefix,
                                      std::int64_t number) const;
  void NoteStart(const AttemptStarted& start);
  void AddProcessors(const NodeAllocation& part, ProcessorRanges& ranges) const;
  void HoldThreads(const Live& live, std::int64_t sign);
  void HoldGpus(const Live& live, std::int64_t sign);
  void SetRoom(std::size_t number);
  void GoOn(JobId id);
  void PassStage(Live& live) const;
  void BeginStage(JobId id, Live& live);
  [[nodiscard]] std::int64_t CheckpointBytes(const Live& live) const;
  void EndWrites();
  void NoteWrite(Live& live);
  void AdmitWriters();
  void Freeze(JobId id);
  void BeginAgain(const JobRequeued& again);
  AttemptParts Settle(Live& live);
  absl::Status EndNext();
  absl::Status Finish(JobId id);

  absl::Status RegisterNode(SimulatedNode& node);
  absl::Status SetUpFailures();
  absl::Status RepairNodes();
  absl::Status FailNodes();
  absl::Status Fail(const NodeFailure& failure);
  absl::Status ReleaseHeld();
  void SumUpFailures();
  [[nodiscard]] absl::Status CheckProgress() const;

  const ClusterRun& run_;
  FlatObserver& observer_;
  Arrivals arrivals_;
  const SchedulerConfig config_;
  core::ClusterState state_;
  core::JobEstimates estimates_;  // of the order called prompt
  core::SnapshotBuilder snapshots_;
  core::PlannerMemory memory_;
  std::shared_ptr<Plan> last_plan_;
  bool follows_ = false;  // the decisions of an earlier run
  std::vector<SimulatedNode> nodes_;
  std::map<NodeId, std::size_t> node_numbers_;
  std::map<JobId, Live> live_;
  std::priority_queue<Ending, std::vector<Ending>, std::greater<>> endings_;
  NodeFailures failures_;
  SharedFileSystem files_;
  std::priority_queue<Repair, std::vector<Repair>, std::greater<>> repairs_;
  PowerReplay power_;
  std::vector<JobId> held_;    // by the scheduler, after too many requeues
  bool faults_ = false;        // nodes fail, or jobs write checkpoints
  double node_rate_ = 0;       // failures of a node in a second, on average
  std::uint32_t started_ = 0;  // attempts under way
  struct Progress {
    Tick last_change = 0;  // a job came, started or ended
    JobId hopeless;        // it begins again and again
  };
  Progress progress_;
  std::uint64_t starts_ = 0;
  bool plan_wanted_ = false;
  Tick now_ = 0;
  ScheduleRow row_;
  ClusterResult result_;
};

}  // namespace muster::sim
