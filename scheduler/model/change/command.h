#pragma once

// Inputs: what reaches the controller's loop from outside, before it is judged.
//
// core/handle turns a command into the events to persist and the effects to perform; a command that
// changes nothing (a retry, a stale report, a refused request) makes no event. Thread promise:
// plain values.

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "scheduler/model/job/job_spec.h"
#include "scheduler/model/job/job_update.h"
#include "scheduler/model/job/order.h"
#include "scheduler/model/job/report.h"
#include "scheduler/model/machine/health.h"
#include "scheduler/model/machine/node.h"
#include "scheduler/model/plan/plan.h"
#include "scheduler/model/policy/policy.h"
#include "scheduler/model/value/ids.h"

namespace muster {

// This controller took the state directory.
struct BeginEpoch {};

struct SubmitJob {
  std::string token;
  JobSpec spec;  // with `user` as the transport says
  Program program;
  // What the accounting knows of the jobs in spec.dependency: ended jobs are not in the state.
  std::vector<TargetHistory> history = {};
  std::vector<Component> components = {};  // of a heterogeneous job: those after the first
  bool refuse_misfit = false;  // what the known nodes can never hold is refused, not kept waiting
};

// Ends a job, all elements of an array (element unset, id the array's), or one element.
struct CancelJob {
  JobId job;
  std::optional<std::uint32_t> array_index;
  User by;
};

struct HoldJob {
  JobId job;
  std::optional<std::uint32_t> array_index;
  bool held = true;
  User by;
};

struct StartStep {
  std::string token;
  JobId job;
  StepSpec spec;
  Program program;
  User by;
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
};

// A pass finished; what of its plan still holds is to be started.
struct TakePlan {
  Plan plan;
};

// Ends the attempt of a batch job and sends it back to the queue.
struct RequeueJob {
  JobId job;
  std::optional<std::uint32_t> array_index;
  User by;
};

// Takes the cores of running jobs away for a while, or has them come back.
struct SuspendJob {
  JobId job;
  std::optional<std::uint32_t> array_index;
  bool suspended = true;
  User by;
};

struct UpdateJob {
  JobId job;
  std::optional<std::uint32_t> array_index;
  JobUpdate changes;
  std::vector<TargetHistory> history;  // as in SubmitJob
  User by;
  bool force = false;  // an operator's: past the rule of CheckpointPolicy::extension
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
  User by;
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
  JobId job;
  std::optional<std::uint32_t> array_index;
  std::optional<StepId> step;  // of one job
  std::uint32_t signal = 0;    // 0: end the step, by SIGTERM and then SIGKILL
  SignalScope scope = SignalScope::kSteps;
  User by;
};

// A user wants to see what a running step prints from now on, and maybe to type into it.
struct AttachStep {
  JobId job;
  std::optional<std::uint32_t> array_index;
  std::optional<StepId> step;  // unset: the one that runs
  StepIo io;
  bool input = false;
  User by;
};

// A node says that something of it has failed for good.
struct TakeNodeFault {
  NodeId node;
  std::string text;
};

// The order that should start an attempt cannot be delivered: it is not to be sent again.
struct FailLaunch {
  JobId job;
  AttemptNumber attempt;
  std::string text;  // why, for people
};

// It is time to see which elastic jobs have lost nodes.
struct TickElastic {};

using Command =
    std::variant<BeginEpoch, SubmitJob, CancelJob, HoldJob, StartStep, RegisterAgent, LoseAgent,
                 TakeReport, DrainNode, TakePlan, RequeueJob, UpdateJob, ChangePolicy,
                 ConfigurePolicy, SuspendJob, CheckNodeHealth, TakeHealthReport, TickHealth,
                 SignalJob, AttachStep, TakeNodeFault, TickElastic, FailLaunch>;

}  // namespace muster
