#pragma once

// Events: every change of the cluster's state, one sentence each. They are what the journal holds.
//
// An event is durable before its effect leaves. core/state/cluster_state's Apply is the only reader
// that changes state. Changing an alternative means a new field number in proto/journal.proto and a
// journal kept in tests/fixtures from the version before.

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "scheduler/model/change/alert.h"
#include "scheduler/model/job/checkpoint_record.h"
#include "scheduler/model/job/exit_status.h"
#include "scheduler/model/job/job.h"
#include "scheduler/model/job/job_estimate.h"
#include "scheduler/model/job/job_spec.h"
#include "scheduler/model/job/job_state.h"
#include "scheduler/model/job/report.h"
#include "scheduler/model/machine/allocation.h"
#include "scheduler/model/machine/gpu_occupant.h"
#include "scheduler/model/machine/health.h"
#include "scheduler/model/machine/mig.h"
#include "scheduler/model/machine/narrow_link.h"
#include "scheduler/model/machine/node.h"
#include "scheduler/model/machine/power.h"
#include "scheduler/model/policy/decayed_usage.h"
#include "scheduler/model/policy/policy.h"
#include "scheduler/model/value/fields.h"
#include "scheduler/model/value/ids.h"
#include "scheduler/model/value/time.h"

namespace muster {

// A controller took the state directory: orders of an older epoch are void.
struct EpochBegan {
  Epoch epoch;
  Time time = kNoTime;
  Duration half_life{0};  // of usage from now on
  JobId next_job = {};    // the state was restored: no job has a number below; 0: it was not
  static constexpr auto Fields(auto list) {
    return list(Field{"epoch", &EpochBegan::epoch}, Field{"time", &EpochBegan::time},
                Field{"half_life", &EpochBegan::half_life},
                Field{"next_job", &EpochBegan::next_job});
  }
  friend bool operator==(const EpochBegan&, const EpochBegan&) = default;
};

// A submission was accepted: `count` jobs from `first` on.
struct JobSubmitted {
  JobId first;
  std::uint32_t count = 1;
  std::string token;  // the client's, so that a retry has one effect
  JobSpec spec;
  Program program;
  Time time = kNoTime;
  std::vector<TargetHistory> history = {};  // of the jobs that it depends on
  std::vector<Component> components = {};   // of a heterogeneous job: those after the first
  JobEstimate estimate = {};
  static constexpr auto Fields(auto list) {
    return list(Field{"first", &JobSubmitted::first}, Field{"count", &JobSubmitted::count},
                Field{"token", &JobSubmitted::token}, Field{"spec", &JobSubmitted::spec},
                Field{"program", &JobSubmitted::program}, Field{"time", &JobSubmitted::time},
                Field{"history", &JobSubmitted::history},
                Field{"components", &JobSubmitted::components},
                Field{"estimate", &JobSubmitted::estimate});
  }
  friend bool operator==(const JobSubmitted&, const JobSubmitted&) = default;
};

// A waiting job was held or released.
struct JobHeld {
  JobId job;
  bool held = true;
  Time time = kNoTime;
  HoldBy by = HoldBy::kUser;
  static constexpr auto Fields(auto list) {
    return list(Field{"job", &JobHeld::job}, Field{"held", &JobHeld::held},
                Field{"time", &JobHeld::time}, Field{"by", &JobHeld::by});
  }
  friend bool operator==(const JobHeld&, const JobHeld&) = default;
};

// A verified plan gave a job its resources: an attempt begins.
struct AttemptStarted {
  JobId job;
  AttemptNumber attempt;
  Allocation allocation;
  Time time = kNoTime;
  std::uint64_t plan_hash = 0;
  std::string partition;
  BillingRate billing;            // what it is charged for each second
  std::uint32_t alternative = 0;  // which of the job's alternatives it is
  std::uint32_t tasks = 0;        // of a job that takes as many nodes as it can; 0: as asked
  static constexpr auto Fields(auto list) {
    return list(
        Field{"job", &AttemptStarted::job}, Field{"attempt", &AttemptStarted::attempt},
        Field{"allocation", &AttemptStarted::allocation}, Field{"time", &AttemptStarted::time},
        Field{"plan_hash", &AttemptStarted::plan_hash},
        Field{"partition", &AttemptStarted::partition}, Field{"billing", &AttemptStarted::billing},
        Field{"alternative", &AttemptStarted::alternative}, Field{"tasks", &AttemptStarted::tasks});
  }
  friend bool operator==(const AttemptStarted&, const AttemptStarted&) = default;
};

// A node reported a fact about an attempt.
struct RunReported {
  NodeId node;
  Report report;
  static constexpr auto Fields(auto list) {
    return list(Field{"node", &RunReported::node}, Field{"report", &RunReported::report});
  }
  friend bool operator==(const RunReported&, const RunReported&) = default;
};

// An attempt was ordered to end.
struct AttemptEnding {
  JobId job;
  AttemptNumber attempt;
  EndCause cause = EndCause::kCancelled;
  std::string text;
  Time time = kNoTime;
  std::uint32_t within = 0;  // kResized: it goes on with at most that many nodes; 0: any
  static constexpr auto Fields(auto list) {
    return list(Field{"job", &AttemptEnding::job}, Field{"attempt", &AttemptEnding::attempt},
                Field{"cause", &AttemptEnding::cause}, Field{"text", &AttemptEnding::text},
                Field{"time", &AttemptEnding::time}, Field{"within", &AttemptEnding::within});
  }
  friend bool operator==(const AttemptEnding&, const AttemptEnding&) = default;
};

// `muster run` inside an allocation: a step was placed, at once or after it had waited; then its
// program and token are StepQueued's.
struct StepStarted {
  JobId job;
  AttemptNumber attempt;
  StepId step;
  std::string token;
  std::string name;
  Program program;
  Allocation placement;
  Time time = kNoTime;
  bool exclusive = false;  // as in StepRun
  bool own_memory = false;
  static constexpr auto Fields(auto list) {
    return list(Field{"job", &StepStarted::job}, Field{"attempt", &StepStarted::attempt},
                Field{"step", &StepStarted::step}, Field{"token", &StepStarted::token},
                Field{"name", &StepStarted::name}, Field{"program", &StepStarted::program},
                Field{"placement", &StepStarted::placement}, Field{"time", &StepStarted::time},
                Field{"exclusive", &StepStarted::exclusive},
                Field{"own_memory", &StepStarted::own_memory});
  }
  friend bool operator==(const StepStarted&, const StepStarted&) = default;
};

// A job reached its terminal state; its resources are free. Or: it did so with the elements of its
// array that have the `more` ids after it, all of them untouched.
struct JobEnded {
  JobId job;
  JobState state = JobState::kCompleted;
  ExitStatus status;
  std::string text;  // why, when it did not end by itself
  Time time = kNoTime;
  std::uint32_t more = 0;
  static constexpr auto Fields(auto list) {
    return list(Field{"job", &JobEnded::job}, Field{"state", &JobEnded::state},
                Field{"status", &JobEnded::status}, Field{"text", &JobEnded::text},
                Field{"time", &JobEnded::time}, Field{"more", &JobEnded::more});
  }
  friend bool operator==(const JobEnded&, const JobEnded&) = default;
};

// An agent registered: a node is new, is back, or says something else of itself.
struct NodeRegistered {
  NodeId node;
  Registration registration;
  Time time = kNoTime;
  static constexpr auto Fields(auto list) {
    return list(Field{"node", &NodeRegistered::node},
                Field{"registration", &NodeRegistered::registration},
                Field{"time", &NodeRegistered::time});
  }
  friend bool operator==(const NodeRegistered&, const NodeRegistered&) = default;
};

// A node's agent stopped answering. Its attempts go on; nothing new is placed there.
struct NodeLost {
  NodeId node;
  Time time = kNoTime;
  Time heard = kNoTime;  // the last sign of life; kNoTime: just now
  static constexpr auto Fields(auto list) {
    return list(Field{"node", &NodeLost::node}, Field{"time", &NodeLost::time},
                Field{"heard", &NodeLost::heard});
  }
  friend bool operator==(const NodeLost&, const NodeLost&) = default;
};

// An operator, its own health, or a script of the site's that failed there drained a node; or it
// was resumed.
struct NodeDrained {
  NodeId node;
  bool drained = true;
  std::string reason;
  Time time = kNoTime;
  bool by_health = false;
  Time until = kNoTime;     // as Node's
  Time deadline = kNoTime;  // as Node's
  bool narrow = false;      // as Node's
  static constexpr auto Fields(auto list) {
    return list(Field{"node", &NodeDrained::node}, Field{"drained", &NodeDrained::drained},
                Field{"reason", &NodeDrained::reason}, Field{"time", &NodeDrained::time},
                Field{"by_health", &NodeDrained::by_health}, Field{"until", &NodeDrained::until},
                Field{"deadline", &NodeDrained::deadline}, Field{"narrow", &NodeDrained::narrow});
  }
  friend bool operator==(const NodeDrained&, const NodeDrained&) = default;
};

// An attempt that the controller does not know of was found on a node, or is over.
struct AttemptQuarantined {
  NodeId node;
  QuarantinedAttempt attempt;
  bool over = false;
  Time time = kNoTime;
  static constexpr auto Fields(auto list) {
    return list(Field{"node", &AttemptQuarantined::node},
                Field{"attempt", &AttemptQuarantined::attempt},
                Field{"over", &AttemptQuarantined::over}, Field{"time", &AttemptQuarantined::time});
  }
  friend bool operator==(const AttemptQuarantined&, const AttemptQuarantined&) = default;
};

// An attempt is over and its job waits again.
struct JobRequeued {
  JobId job;
  AttemptNumber attempt;
  bool held = false;  // it was requeued too often
  std::string text;   // why it runs again
  Time time = kNoTime;
  bool preempted = false;   // which does not count against the requeues that it has
  bool progressed = false;  // nor does this: it ran for a while and asked to be run again
  bool resized = false;     // nor this: it goes on with another number of nodes
  static constexpr auto Fields(auto list) {
    return list(Field{"job", &JobRequeued::job}, Field{"attempt", &JobRequeued::attempt},
                Field{"held", &JobRequeued::held}, Field{"text", &JobRequeued::text},
                Field{"time", &JobRequeued::time}, Field{"preempted", &JobRequeued::preempted},
                Field{"progressed", &JobRequeued::progressed},
                Field{"resized", &JobRequeued::resized});
  }
  friend bool operator==(const JobRequeued&, const JobRequeued&) = default;
};

// A job asks something else from now on: `spec` is the whole of it.
struct JobUpdated {
  JobId job;
  JobSpec spec;
  std::vector<TargetHistory> history;  // of the jobs that it depends on
  Time time = kNoTime;
  static constexpr auto Fields(auto list) {
    return list(Field{"job", &JobUpdated::job}, Field{"spec", &JobUpdated::spec},
                Field{"history", &JobUpdated::history}, Field{"time", &JobUpdated::time});
  }
  friend bool operator==(const JobUpdated&, const JobUpdated&) = default;
};

// A partition, QOS, account, association or reservation was set as `object` says, or deleted.
struct PolicyChanged {
  PolicyObject object;
  bool deleted = false;
  bool spent_reset = false;  // what was used of its budgets is forgotten
  User by;
  std::string text;  // what changed: "MaxJobs=4 (was 2)"
  Time time = kNoTime;
  static constexpr auto Fields(auto list) {
    return list(Field{"object", &PolicyChanged::object}, Field{"deleted", &PolicyChanged::deleted},
                Field{"spent_reset", &PolicyChanged::spent_reset}, Field{"by", &PolicyChanged::by},
                Field{"text", &PolicyChanged::text}, Field{"time", &PolicyChanged::time});
  }
  friend bool operator==(const PolicyChanged&, const PolicyChanged&) = default;
};

// An attempt was ordered to give its cores back, or, `by` kReleased, was asked back.
struct AttemptSuspending {
  JobId job;
  AttemptNumber attempt;
  SuspendedBy by = SuspendedBy::kOperator;
  std::string text;
  Time time = kNoTime;
  static constexpr auto Fields(auto list) {
    return list(Field{"job", &AttemptSuspending::job},
                Field{"attempt", &AttemptSuspending::attempt}, Field{"by", &AttemptSuspending::by},
                Field{"text", &AttemptSuspending::text}, Field{"time", &AttemptSuspending::time});
  }
  friend bool operator==(const AttemptSuspending&, const AttemptSuspending&) = default;
};

// Nothing of the attempt runs on any of its nodes: its cores are free for others.
struct AttemptSuspended {
  JobId job;
  AttemptNumber attempt;
  Time time = kNoTime;
  static constexpr auto Fields(auto list) {
    return list(Field{"job", &AttemptSuspended::job}, Field{"attempt", &AttemptSuspended::attempt},
                Field{"time", &AttemptSuspended::time});
  }
  friend bool operator==(const AttemptSuspended&, const AttemptSuspended&) = default;
};

// A verified plan gave a suspended attempt its own cores again.
struct AttemptResumed {
  JobId job;
  AttemptNumber attempt;
  Time time = kNoTime;
  static constexpr auto Fields(auto list) {
    return list(Field{"job", &AttemptResumed::job}, Field{"attempt", &AttemptResumed::attempt},
                Field{"time", &AttemptResumed::time});
  }
  friend bool operator==(const AttemptResumed&, const AttemptResumed&) = default;
};

// Usage halves in another time from now on.
struct HalfLifeSet {
  Duration half_life{0};
  Time time = kNoTime;
  static constexpr auto Fields(auto list) {
    return list(Field{"half_life", &HalfLifeSet::half_life}, Field{"time", &HalfLifeSet::time});
  }
  friend bool operator==(const HalfLifeSet&, const HalfLifeSet&) = default;
};

// A check of a node's health was ordered.
struct HealthCheckOrdered {
  NodeId node;
  std::uint64_t number = 0;
  HealthKind kind = HealthKind::kQuick;
  HealthCause cause = HealthCause::kAsked;
  Time time = kNoTime;
  static constexpr auto Fields(auto list) {
    return list(
        Field{"node", &HealthCheckOrdered::node}, Field{"number", &HealthCheckOrdered::number},
        Field{"kind", &HealthCheckOrdered::kind}, Field{"cause", &HealthCheckOrdered::cause},
        Field{"time", &HealthCheckOrdered::time});
  }
  friend bool operator==(const HealthCheckOrdered&, const HealthCheckOrdered&) = default;
};

// A user wants a check as soon as the node is idle.
struct HealthCheckWanted {
  NodeId node;
  HealthKind kind = HealthKind::kQuick;
  Time time = kNoTime;
  static constexpr auto Fields(auto list) {
    return list(Field{"node", &HealthCheckWanted::node}, Field{"kind", &HealthCheckWanted::kind},
                Field{"time", &HealthCheckWanted::time});
  }
  friend bool operator==(const HealthCheckWanted&, const HealthCheckWanted&) = default;
};

// A check ended and was judged.
struct HealthChecked {
  NodeId node;
  HealthRecord record;
  Time time = kNoTime;
  static constexpr auto Fields(auto list) {
    return list(Field{"node", &HealthChecked::node}, Field{"record", &HealthChecked::record},
                Field{"time", &HealthChecked::time});
  }
  friend bool operator==(const HealthChecked&, const HealthChecked&) = default;
};

// A step waits until others of its job have ended.
struct StepQueued {
  JobId job;
  AttemptNumber attempt;
  StepId step;
  std::string token;
  std::string name;
  Program program;
  StepSpec spec;
  Time time = kNoTime;
  static constexpr auto Fields(auto list) {
    return list(Field{"job", &StepQueued::job}, Field{"attempt", &StepQueued::attempt},
                Field{"step", &StepQueued::step}, Field{"token", &StepQueued::token},
                Field{"name", &StepQueued::name}, Field{"program", &StepQueued::program},
                Field{"spec", &StepQueued::spec}, Field{"time", &StepQueued::time});
  }
  friend bool operator==(const StepQueued&, const StepQueued&) = default;
};

// A step that waited will not start.
struct StepDropped {
  JobId job;
  AttemptNumber attempt;
  StepId step;
  std::string text;  // why
  Time time = kNoTime;
  static constexpr auto Fields(auto list) {
    return list(Field{"job", &StepDropped::job}, Field{"attempt", &StepDropped::attempt},
                Field{"step", &StepDropped::step}, Field{"text", &StepDropped::text},
                Field{"time", &StepDropped::time});
  }
  friend bool operator==(const StepDropped&, const StepDropped&) = default;
};

// An attempt's programs get other advice about checkpoints from now on.
struct AttemptAdvised {
  JobId job;
  AttemptNumber attempt;
  CheckpointAdvice advice;
  Time time = kNoTime;
  static constexpr auto Fields(auto list) {
    return list(Field{"job", &AttemptAdvised::job}, Field{"attempt", &AttemptAdvised::attempt},
                Field{"advice", &AttemptAdvised::advice}, Field{"time", &AttemptAdvised::time});
  }
  friend bool operator==(const AttemptAdvised&, const AttemptAdvised&) = default;
};

// A waiting job was promised to start by then, or an earlier promise was changed.
struct StartPromised {
  JobId job;
  Time by = kNoTime;
  Time time = kNoTime;
  static constexpr auto Fields(auto list) {
    return list(Field{"job", &StartPromised::job}, Field{"by", &StartPromised::by},
                Field{"time", &StartPromised::time});
  }
  friend bool operator==(const StartPromised&, const StartPromised&) = default;
};

// An operator had the controller forget a node that is gone. One of the same name is a new node.
struct NodeForgotten {
  NodeId node;
  std::string name;
  Time time = kNoTime;
  static constexpr auto Fields(auto list) {
    return list(Field{"node", &NodeForgotten::node}, Field{"name", &NodeForgotten::name},
                Field{"time", &NodeForgotten::time});
  }
  friend bool operator==(const NodeForgotten&, const NodeForgotten&) = default;
};

// A node was ordered to be switched off or on, is off, is on again, or did not come up in time.
struct NodePowered {
  NodeId node;
  PowerState state = PowerState::kOn;
  Time time = kNoTime;
  Time until = kNoTime;  // as NodePower's
  Duration boot{0};      // as NodePower's
  Duration took{0};      // kOn: its boot, as measured; 0: it was not
  static constexpr auto Fields(auto list) {
    return list(Field{"node", &NodePowered::node}, Field{"state", &NodePowered::state},
                Field{"time", &NodePowered::time}, Field{"until", &NodePowered::until},
                Field{"boot", &NodePowered::boot}, Field{"took", &NodePowered::took});
  }
  friend bool operator==(const NodePowered&, const NodePowered&) = default;
};

// A condition that needs attention has lasted for as long as its rule says.
struct AlertBegan {
  Alert alert;
  Time time = kNoTime;
  static constexpr auto Fields(auto list) {
    return list(Field{"alert", &AlertBegan::alert}, Field{"time", &AlertBegan::time});
  }
  friend bool operator==(const AlertBegan&, const AlertBegan&) = default;
};

// It is over: `alert` is what it was.
struct AlertEnded {
  Alert alert;
  Time time = kNoTime;
  static constexpr auto Fields(auto list) {
    return list(Field{"alert", &AlertEnded::alert}, Field{"time", &AlertEnded::time});
  }
  friend bool operator==(const AlertEnded&, const AlertEnded&) = default;
};

// Other processes use GPUs of the node than before, outside of jobs.
struct GpusOccupied {
  NodeId node;
  GpuOccupants occupants;  // all of them
  Time time = kNoTime;
  static constexpr auto Fields(auto list) {
    return list(Field{"node", &GpusOccupied::node}, Field{"occupants", &GpusOccupied::occupants},
                Field{"time", &GpusOccupied::time});
  }
  friend bool operator==(const GpusOccupied&, const GpusOccupied&) = default;
};

// The link between two switches is narrow from now on; or it is one like others again.
struct LinkNarrowed {
  NarrowLink link;
  bool narrow = true;
  Time time = kNoTime;
  static constexpr auto Fields(auto list) {
    return list(Field{"link", &LinkNarrowed::link}, Field{"narrow", &LinkNarrowed::narrow},
                Field{"time", &LinkNarrowed::time});
  }
  friend bool operator==(const LinkNarrowed&, const LinkNarrowed&) = default;
};

// A GPU of the node is to be divided otherwise, is so, or is not, or that matters no more.
struct GpuLayoutSet {
  NodeId node;
  GpuLayout layout;
  bool over = false;
  Time time = kNoTime;
  static constexpr auto Fields(auto list) {
    return list(Field{"node", &GpuLayoutSet::node}, Field{"layout", &GpuLayoutSet::layout},
                Field{"over", &GpuLayoutSet::over}, Field{"time", &GpuLayoutSet::time});
  }
  friend bool operator==(const GpuLayoutSet&, const GpuLayoutSet&) = default;
};

// The order of alternatives is the order of the wire's oneof: append only.
using Event =
    std::variant<EpochBegan, JobSubmitted, JobHeld, AttemptStarted, RunReported, AttemptEnding,
                 StepStarted, JobEnded, NodeRegistered, NodeLost, NodeDrained, AttemptQuarantined,
                 JobRequeued, JobUpdated, PolicyChanged, AttemptSuspending, AttemptSuspended,
                 AttemptResumed, HalfLifeSet, HealthCheckOrdered, HealthCheckWanted, HealthChecked,
                 StepQueued, StepDropped, AttemptAdvised, StartPromised, NodeForgotten, NodePowered,
                 AlertBegan, AlertEnded, GpusOccupied, LinkNarrowed, GpuLayoutSet>;

struct JournalEntry {
  Version version;
  Event event;
  static constexpr auto Fields(auto list) {
    return list(Field{"version", &JournalEntry::version}, Field{"event", &JournalEntry::event});
  }
  friend bool operator==(const JournalEntry&, const JournalEntry&) = default;
};

}  // namespace muster
