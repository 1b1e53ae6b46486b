#pragma once

// Commands: what reaches the controller's loop from outside, before it is judged.
//
// core/handle turns a command into the events to persist and the effects to perform; a command that
// changes nothing (a retry, a stale report, a refused request) makes no event. A command that
// clients give is written once, here: `kMethod` is its method in proto/controller.proto, `Reply`
// the answer, and Fields() are those of the request; who may give it stands there beside the
// method. Invariant: the user who asks (`by`, `user`) is no field: the transport says who that is,
// and the site's settings what they may.

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "scheduler/model/change/actor.h"
#include "scheduler/model/change/alert.h"
#include "scheduler/model/change/reply.h"
#include "scheduler/model/job/job_selector.h"
#include "scheduler/model/job/job_spec.h"
#include "scheduler/model/job/job_update.h"
#include "scheduler/model/job/order.h"
#include "scheduler/model/job/report.h"
#include "scheduler/model/machine/gpu_occupant.h"
#include "scheduler/model/machine/health.h"
#include "scheduler/model/machine/node.h"
#include "scheduler/model/plan/plan.h"
#include "scheduler/model/policy/policy.h"
#include "scheduler/model/value/ids.h"

namespace muster {

// This controller took the state directory.
// A controller takes the state. `restored`: from a copy, and what the cluster did since it was made
// is not known.
struct BeginEpoch {
  bool restored = false;
};
// How many numbers of jobs are then left out: more than can have been given out since.
inline constexpr std::uint64_t kJobsSkipped = 1'000'000;

struct SubmitJob {
  std::string token;
  JobSpec spec;  // with `user` as the transport says
  Program program;
  // What the accounting knows of the jobs in spec.dependency: ended jobs are not in the state.
  std::vector<TargetHistory> history = {};
  std::vector<Component> components = {};  // of a heterogeneous job: those after the first
  bool refuse_misfit = false;  // what the known nodes can never hold is refused, not kept waiting
  bool by_operator = false;    // the user is one by the site's settings

  static constexpr const char* kMethod = "Submit";
  using Reply = Submitted;
  static constexpr auto Fields(auto list) {
    return list(Field{"token", &SubmitJob::token}, Field{"spec", &SubmitJob::spec},
                Field{"program", &SubmitJob::program}, Field{"components", &SubmitJob::components},
                Field{"refuse_misfit", &SubmitJob::refuse_misfit});
  }
};

// A command for one job as clients give it: for each of many.
template <class Each>
struct ForJobs : Each {
  std::vector<JobSelector> jobs;
  static constexpr auto Fields(auto list) {
    return Each::Fields([&](auto... field) {
      return list(Field{"jobs", &ForJobs::jobs}, field...);
    });
  }
};

// Ends a job, all elements of an array (element unset, id the array's), or one element.
struct CancelJob {
  JobId job;
  std::optional<std::uint32_t> array_index;
  Actor by;
};
struct CancelJobs {
  std::vector<JobSelector> jobs;
  bool all_of_user = false;

  static constexpr const char* kMethod = "Cancel";
  using Reply = CancelOutcome;
  static constexpr auto Fields(auto list) {
    return list(Field{"jobs", &CancelJobs::jobs}, Field{"all_of_user", &CancelJobs::all_of_user});
  }
};

struct HoldJob {
  JobId job = {};
  std::optional<std::uint32_t> array_index = {};
  bool held = true;
  Actor by = {};

  static constexpr const char* kMethod = "Hold";
  using Reply = ChangeOutcome;
  static constexpr auto Fields(auto list) { return list(Field{"held", &HoldJob::held}); }
};

struct StartStep {
  std::string token;
  JobId job;
  StepSpec spec;
  Program program;
  Actor by = {};

  static constexpr const char* kMethod = "StartStep";
  using Reply = StartedStep;
  static constexpr auto Fields(auto list) {
    return list(Field{"token", &StartStep::token}, Field{"job", &StartStep::job},
                Field{"spec", &StartStep::spec}, Field{"program", &StartStep::program});
  }
};

struct RegisterAgent {
  Registration registration;
};

struct LoseAgent {
  NodeId node;
  Duration silent{0};  // since its last sign of life
};

struct TakeReport {
  NodeId node;
  Report report;
};

struct DrainNode {
  std::string name;
  bool drained = true;
  std::string reason;
  Time until = kNoTime;     // resume it then
  Time deadline = kNoTime;  // have its jobs leave by then
  bool narrow = false;      // keep only jobs away that may span nodes
  // Not empty: `name` and this are switches, and jobs are kept off the link between them.
  std::string link_to = {};
  Actor by = {};

  static constexpr const char* kMethod = "Drain";
  using Reply = Nothing;
  static constexpr auto Fields(auto list) {
    return list(Field{"node", &DrainNode::name}, Field{"drained", &DrainNode::drained},
                Field{"reason", &DrainNode::reason}, Field{"until", &DrainNode::until},
                Field{"deadline", &DrainNode::deadline}, Field{"narrow", &DrainNode::narrow},
                Field{"link_to", &DrainNode::link_to});
  }
};

// Forgets a node whose agent is gone for good.
struct ForgetNode {
  std::string name;

  static constexpr const char* kMethod = "ForgetNode";
  using Reply = Nothing;
  static constexpr auto Fields(auto list) { return list(Field{"node", &ForgetNode::name}); }
};

// A cycle finished; what of its plan still holds is to be started.
struct TakePlan {
  Plan plan;
};

// Ends the attempt of a batch job and sends it back to the queue.
struct RequeueJob {
  JobId job = {};
  std::optional<std::uint32_t> array_index = {};
  Actor by = {};

  static constexpr const char* kMethod = "Requeue";
  using Reply = ChangeOutcome;
  static constexpr auto Fields(auto list) { return list(); }
};

// Takes the cores of running jobs away for a while, or has them come back.
struct SuspendJob {
  JobId job = {};
  std::optional<std::uint32_t> array_index = {};
  bool suspended = true;  // false resumes
  Actor by = {};

  static constexpr const char* kMethod = "Suspend";
  using Reply = ChangeOutcome;
  static constexpr auto Fields(auto list) {
    return list(Field{"suspended", &SuspendJob::suspended});
  }
};

struct UpdateJob {
  JobId job = {};
  std::optional<std::uint32_t> array_index = {};
  JobUpdate changes;
  std::vector<TargetHistory> history = {};  // as in SubmitJob
  Actor by = {};
  bool force = false;  // an operator's: past the rule of CheckpointPolicy::extension

  static constexpr const char* kMethod = "Update";
  using Reply = ChangeOutcome;
  static constexpr auto Fields(auto list) {
    return list(Field{"changes", &UpdateJob::changes}, Field{"force", &UpdateJob::force});
  }
};

enum class PolicyVerb : std::uint8_t {
  kAdd = 0,     // refused when it is there
  kSet = 1,     // refused when it is not
  kDelete = 2,  // refused while something needs it
};

// An administrator changes one object of the policy.
struct ChangePolicy {
  PolicyVerb verb = PolicyVerb::kSet;
  PolicyKind kind = PolicyKind::kPartition;
  std::string name;  // of an association: "ACCOUNT/USER"
  std::vector<Assignment> assignments;
  Actor by = {};

  static constexpr const char* kMethod = "ChangePolicy";
  using Reply = Nothing;
  static constexpr auto Fields(auto list) {
    return list(Field{"verb", &ChangePolicy::verb}, Field{"kind", &ChangePolicy::kind},
                Field{"name", &ChangePolicy::name},
                Field{"assignments", &ChangePolicy::assignments});
  }
};

// The configuration was read: what it names is as it says, what it named before and no more, goes.
struct ConfigurePolicy {
  std::vector<PolicyObject> objects;
  User by;
  std::string source;  // the file, for the history
};

// A user wants a node's health checked.
struct CheckNodeHealth {
  std::string name;
  HealthKind kind = HealthKind::kQuick;
  bool wait = false;  // until the node is idle

  static constexpr const char* kMethod = "CheckHealth";
  using Reply = std::uint64_t;  // the number of the check, or 0: it has one once it begins
  static constexpr auto Fields(auto list) {
    return list(Field{"node", &CheckNodeHealth::name}, Field{"kind", &CheckNodeHealth::kind},
                Field{"wait", &CheckNodeHealth::wait});
  }
};

// An operator wants a node started again once no job is on it.
struct RebootNode {
  std::string name;
  std::string reason;
  bool drain = false;         // nothing new starts there until then
  bool keep_drained = false;  // afterwards, too
  bool cancel = false;        // takes back what was asked before

  static constexpr const char* kMethod = "Reboot";
  using Reply = std::uint64_t;  // counted among the node's checks
  static constexpr auto Fields(auto list) {
    return list(Field{"node", &RebootNode::name}, Field{"reason", &RebootNode::reason},
                Field{"drain", &RebootNode::drain},
                Field{"keep_drained", &RebootNode::keep_drained},
                Field{"cancel", &RebootNode::cancel});
  }
};

// What an agent says of a check.
struct TakeHealthReport {
  NodeId node;
  HealthReport report;
};

// It is time to see which nodes are due for a check.
struct TickHealth {};

// Sends a signal to processes of running jobs, or ends a step.
struct SignalJob {
  JobId job = {};
  std::optional<std::uint32_t> array_index = {};
  std::optional<StepId> step = {};  // of one job
  std::uint32_t signal = 0;         // 0: end the step, by SIGTERM and then SIGKILL
  SignalScope scope = SignalScope::kSteps;
  Actor by = {};

  static constexpr const char* kMethod = "Signal";
  static constexpr bool kNow = true;  // not worth waiting for a controller that restarts
  using Reply = SignalOutcome;
  static constexpr auto Fields(auto list) {
    return list(Field{"step", &SignalJob::step}, Field{"signal", &SignalJob::signal},
                Field{"scope", &SignalJob::scope});
  }
};

// A user wants to see what a running step prints from now on, and maybe to type into it.
struct AttachStep {
  JobId job;
  std::optional<std::uint32_t> array_index;
  std::optional<StepId> step;  // unset: the one that runs
  StepIo io;                   // what the step's supervisors call
  bool input = false;          // what is typed goes to its terminal
  Actor by = {};

  static constexpr const char* kMethod = "Attach";
  static constexpr bool kNow = true;
  using Reply = ShownStep;
  static constexpr auto Fields(auto list) {
    return list(Field{"job", &AttachStep::job}, Field{"array_index", &AttachStep::array_index},
                Field{"step", &AttachStep::step}, Field{"io", &AttachStep::io},
                Field{"input", &AttachStep::input});
  }
};

// A node says that something of it has failed for good.
struct TakeNodeFault {
  NodeId node;
  std::string text;
};

// A node says which processes use its GPUs outside of jobs.
struct TakeGpuOccupants {
  NodeId node;
  GpuOccupants occupants;
};

// The order that should start an attempt cannot be delivered: it is not to be sent again.
struct FailLaunch {
  JobId job;
  AttemptNumber attempt;
  std::string text;  // why, for people
};

// It is time to see which elastic jobs have lost nodes.
struct TickElastic {};

// Nodes are to be switched off and on, as core/handle/nodes/power_watch found; and it is time to
// see which of those that were ordered before are off, or did not come up.
struct SwitchNodes {
  std::vector<NodeId> suspend;
  std::vector<NodeId> resume;
};

// GPUs are to be divided otherwise, as core/plan/mig_demand found; and it is time to see what has
// become of those that were to be.
struct LayOutGpus {
  std::vector<GpuWish> wishes;
};

// The alerts that last, as the rules found them: what is open and not among them is over.
struct SettleAlerts {
  std::vector<Alert> open;
};

using Command =
    std::variant<BeginEpoch, SubmitJob, CancelJob, HoldJob, StartStep, RegisterAgent, LoseAgent,
                 TakeReport, DrainNode, TakePlan, RequeueJob, UpdateJob, ChangePolicy,
                 ConfigurePolicy, SuspendJob, CheckNodeHealth, TakeHealthReport, TickHealth,
                 SignalJob, AttachStep, TakeNodeFault, TickElastic, FailLaunch, RebootNode,
                 ForgetNode, SwitchNodes, SettleAlerts, TakeGpuOccupants, LayOutGpus>;

// The commands of clients. The first are taken as they are given: one command, or one for each of
// the jobs that it names. The others have a handler of their own in daemon/client.
#define MUSTER_PLAIN_CLIENT_COMMANDS(X) \
  X(ForJobs<HoldJob>)                   \
  X(ForJobs<RequeueJob>)                \
  X(ForJobs<SuspendJob>)                \
  X(ForJobs<UpdateJob>)                 \
  X(ForJobs<SignalJob>)                 \
  X(StartStep)                          \
  X(AttachStep)                         \
  X(DrainNode)                          \
  X(CheckNodeHealth)                    \
  X(RebootNode)                         \
  X(ForgetNode)                         \
  X(ChangePolicy)
#define MUSTER_CLIENT_COMMANDS(X) MUSTER_PLAIN_CLIENT_COMMANDS(X) X(SubmitJob) X(CancelJobs)

}  // namespace muster
