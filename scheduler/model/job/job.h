#pragma once

// A job as the controller holds it: its spec, its state, and the attempt under way.
//
// Thread promise: plain values; changed only by core/state/cluster_state's Apply. Invariants: (1)
// `attempt` is set exactly while IsAllocated(state); (2) `spec` is never null in a cluster state;
// it is stored once per submission, so Fields() leaves it out; (3) `attempt->runs` is parallel to
// `attempt->allocation.nodes`; (4) while the state is SUSPENDED, and only then or while it ends
// from there, `attempt->suspension` is odd and `attempt->suspended_by` is not kNobody.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/model/job/checkpoint_record.h"
#include "scheduler/model/job/exit_status.h"
#include "scheduler/model/job/job_estimate.h"
#include "scheduler/model/job/job_spec.h"
#include "scheduler/model/job/job_state.h"
#include "scheduler/model/job/report.h"
#include "scheduler/model/machine/allocation.h"
#include "scheduler/model/machine/gpu_work.h"
#include "scheduler/model/policy/decayed_usage.h"
#include "scheduler/model/value/fields.h"
#include "scheduler/model/value/ids.h"
#include "scheduler/model/value/time.h"

namespace muster {

enum class RunPhase : std::uint8_t {
  kOrdered = 0,  // the order is sent (or will be); the node has not reported that it started
  kStarted = 1,
  kEnded = 2,
};

// An attempt's part on one node.
struct NodeRun {
  RunPhase phase = RunPhase::kOrdered;
  std::uint64_t reported = 0;  // the number of the last fact taken in
  Time started = kNoTime;
  Time ended = kNoTime;
  EndCause cause = EndCause::kNone;
  ExitStatus status;
  Usage usage;
  std::string text;
  std::string limits;
  std::vector<RankBinding> bindings;  // of the ranks that run, and of some of those that ran before
  std::uint64_t ranks_left_out = 0;   // of steps that have ended, which `bindings` no longer has
  std::uint64_t verified_left_out = 0;  // how many of these were where they were planned
  std::uint32_t suspension = 0;         // the last of Attempt::suspension that it has carried out
  CheckpointRecord checkpoints;
  std::string image = {};                    // of its container, as RunStarted says
  DataBrought data = {};                     // as RunStarted says, without what is gone
  std::vector<RankGpuWork> gpu_work = {};    // as RunEnded says, of the ranks in `bindings`
  std::vector<std::string> gpu_errors = {};  // as RunEnded says
  static constexpr auto Fields(auto list) {
    return list(Field{"phase", &NodeRun::phase}, Field{"reported", &NodeRun::reported},
                Field{"started", &NodeRun::started}, Field{"ended", &NodeRun::ended},
                Field{"cause", &NodeRun::cause}, Field{"status", &NodeRun::status},
                Field{"usage", &NodeRun::usage}, Field{"text", &NodeRun::text},
                Field{"limits", &NodeRun::limits}, Field{"bindings", &NodeRun::bindings},
                Field{"ranks_left_out", &NodeRun::ranks_left_out},
                Field{"verified_left_out", &NodeRun::verified_left_out},
                Field{"suspension", &NodeRun::suspension},
                Field{"checkpoints", &NodeRun::checkpoints}, Field{"image", &NodeRun::image},
                Field{"data", &NodeRun::data}, Field{"gpu_work", &NodeRun::gpu_work},
                Field{"gpu_errors", &NodeRun::gpu_errors});
  }
  friend bool operator==(const NodeRun&, const NodeRun&) = default;
};

// A step under way. Ended steps live in the accounting, not here.
struct StepRun {
  StepId id;
  std::string name;      // the command's
  Allocation placement;  // the step's own ranks
  Time started = kNoTime;
  std::vector<NodeId> waiting_for;  // nodes that have not reported its end
  std::vector<RankExit> exits;
  Usage usage;
  bool exclusive = false;   // no other such step has its CPUs and GPUs
  bool own_memory = false;  // nor the memory of its placement
  static constexpr auto Fields(auto list) {
    return list(Field{"id", &StepRun::id}, Field{"name", &StepRun::name},
                Field{"placement", &StepRun::placement}, Field{"started", &StepRun::started},
                Field{"waiting_for", &StepRun::waiting_for}, Field{"exits", &StepRun::exits},
                Field{"usage", &StepRun::usage}, Field{"exclusive", &StepRun::exclusive},
                Field{"own_memory", &StepRun::own_memory});
  }
  friend bool operator==(const StepRun&, const StepRun&) = default;
};

// A step that waits for what others of its job have.
struct QueuedStep {
  StepId id;
  std::string name;
  StepSpec spec;
  Time queued = kNoTime;
  static constexpr auto Fields(auto list) {
    return list(Field{"id", &QueuedStep::id}, Field{"name", &QueuedStep::name},
                Field{"spec", &QueuedStep::spec}, Field{"queued", &QueuedStep::queued});
  }
  friend bool operator==(const QueuedStep&, const QueuedStep&) = default;
};

// What suspended a job, and so how it resumes.
enum class SuspendedBy : std::uint8_t {
  kNobody = 0,      // it runs
  kOperator = 1,    // it waits to be asked back
  kPreemption = 2,  // it comes back as soon as its cores are free
  kReleased = 3,    // asked back: it comes back as soon as its cores are free
};

// A time in which an attempt's cores were given back.
struct Suspension {
  Time begin = kNoTime;
  Time end = kNoTime;  // kNoTime: it lasts
  std::string text;    // "suspended by ada", "preempted by job 7"
  static constexpr auto Fields(auto list) {
    return list(Field{"begin", &Suspension::begin}, Field{"end", &Suspension::end},
                Field{"text", &Suspension::text});
  }
  friend bool operator==(const Suspension&, const Suspension&) = default;
};
// Of an attempt; of one that was suspended more often, the last.
inline constexpr std::size_t kSuspensionsKept = 32;

struct Attempt {
  AttemptNumber number;
  Allocation allocation;
  Time started = kNoTime;  // when it was given its resources; they are charged from here
  std::vector<NodeRun> runs;
  std::vector<StepRun> steps;
  StepId last_step;
  EndCause ending = EndCause::kNone;  // why it was ordered to end, if it was
  std::string ending_text;
  std::string partition;  // where it runs; empty: the implied one
  BillingRate billing;    // what it is charged for each second
  SuspendedBy suspended_by = SuspendedBy::kNobody;
  std::string suspended_text;      // "suspended by ada", "preempted by job 7"
  std::uint32_t suspension = 0;    // counts the orders: odd to freeze, even to run
  Time suspended_since = kNoTime;  // since when its cores are given back; kNoTime: it holds them
  Duration suspended_total{0};     // how long they were, in earlier suspensions
  std::vector<QueuedStep> queued_steps;  // the first that came is the first to start
  CheckpointAdvice advice;
  std::vector<Suspension> suspensions;  // at most kSuspensionsKept
  static constexpr auto Fields(auto list) {
    return list(Field{"number", &Attempt::number}, Field{"allocation", &Attempt::allocation},
                Field{"started", &Attempt::started}, Field{"runs", &Attempt::runs},
                Field{"steps", &Attempt::steps}, Field{"last_step", &Attempt::last_step},
                Field{"ending", &Attempt::ending}, Field{"ending_text", &Attempt::ending_text},
                Field{"partition", &Attempt::partition}, Field{"billing", &Attempt::billing},
                Field{"suspended_by", &Attempt::suspended_by},
                Field{"suspended_text", &Attempt::suspended_text},
                Field{"suspension", &Attempt::suspension},
                Field{"suspended_since", &Attempt::suspended_since},
                Field{"suspended_total", &Attempt::suspended_total},
                Field{"queued_steps", &Attempt::queued_steps}, Field{"advice", &Attempt::advice},
                Field{"suspensions", &Attempt::suspensions});
  }
  friend bool operator==(const Attempt&, const Attempt&) = default;
};

// True while the attempt's cores are its own.
inline bool HoldsCores(const Attempt& attempt) {
  return attempt.suspended_since == kNoTime;
}
// True when it is ordered to be frozen.
inline bool IsToBeFrozen(const Attempt& attempt) {
  return attempt.suspension % 2 == 1;
}
// For how long of its time, up to `now`, its cores were given back.
inline Duration SuspendedFor(const Attempt& attempt, Time now) {
  return attempt.suspended_total +
         (HoldsCores(attempt) ? Duration(0) : std::max(now - attempt.suspended_since, Duration(0)));
}
// From when on it has used its cores, had it never been suspended: it is charged, and its time
// limit counts, from here.
inline Time CountedFrom(const Attempt& attempt, Time now) {
  return attempt.started + SuspendedFor(attempt, now);
}

// The role that holds a held job, and so may release it.
enum class HoldBy : std::uint8_t {
  kUser = 0,
  kAdmin = 1,          // the operator: the owner cannot release it
  kMaxRequeue = 2,     // it was requeued too often
  kOrderTooLarge = 3,  // the order that would start it is larger than an agent takes
  kOrderFailed = 4,    // the order that should have started it could not be delivered
  kRestored = 5,       // the state was restored from a copy: it may have run since
};
// The owner cannot release it.
constexpr bool IsOfOperators(HoldBy by) {
  return by == HoldBy::kAdmin || by == HoldBy::kRestored;
}

struct Job {
  JobId id;
  JobId submission;  // the first id of its submission: its own, its array's, or its leader's
  std::optional<std::uint32_t> array_index;
  std::shared_ptr<const JobSpec> spec;
  JobState state = JobState::kPending;
  bool held = false;
  Time submitted = kNoTime;
  AttemptNumber last_attempt;
  std::optional<Attempt> attempt;
  HoldBy held_by = HoldBy::kUser;  // while `held`
  std::uint32_t requeues = 0;      // how often it was sent back to the queue
  Time first_started = kNoTime;    // when its first attempt was given its resources
  // What it asks since it was changed; `spec` is then this one. Null: as submitted.
  std::shared_ptr<const JobSpec> changed_spec;
  // Of how many components the heterogeneous job is whose component it is; 0: it is a plain job.
  std::uint32_t het_size = 0;
  CheckpointTotals checkpoints;  // of its ended attempts
  Time resized = kNoTime;        // when it was given another number of nodes
  std::uint32_t within = 0;      // waiting: its next attempt has at most that many nodes; 0: any
  JobEstimate estimate;          // as made when it was submitted
  Time promised = kNoTime;       // the latest start that it was promised; kNoTime: none
  static constexpr auto Fields(auto list) {
    return list(Field{"id", &Job::id}, Field{"submission", &Job::submission},
                Field{"array_index", &Job::array_index}, Field{"state", &Job::state},
                Field{"held", &Job::held}, Field{"submitted", &Job::submitted},
                Field{"last_attempt", &Job::last_attempt}, Field{"attempt", &Job::attempt},
                Field{"held_by", &Job::held_by}, Field{"requeues", &Job::requeues},
                Field{"first_started", &Job::first_started},
                Field{"changed_spec", &Job::changed_spec}, Field{"het_size", &Job::het_size},
                Field{"checkpoints", &Job::checkpoints}, Field{"resized", &Job::resized},
                Field{"within", &Job::within}, Field{"estimate", &Job::estimate},
                Field{"promised", &Job::promised});
  }
};

inline bool IsComponent(const Job& job) {
  return job.het_size > 0;
}
// The place of a component among those of its heterogeneous job: 0 is the leader's.
inline std::uint32_t OffsetOf(const Job& job) {
  return IsComponent(job) ? static_cast<std::uint32_t>(job.id.value() - job.submission.value()) : 0;
}

}  // namespace muster
