#pragma once

// Orders: what the controller tells an agent to bring about. All are safe to receive twice.
//
// An order names (cluster, job, attempt, node, epoch) and expires; an agent refuses one of an older
// epoch, of another node or past its expiry.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/model/job/checkpoint_record.h"
#include "scheduler/model/job/exit_status.h"
#include "scheduler/model/job/job_spec.h"
#include "scheduler/model/machine/allocation.h"
#include "scheduler/model/value/fields.h"
#include "scheduler/model/value/ids.h"
#include "scheduler/model/value/time.h"

namespace muster {

// What a component of a heterogeneous job learns of each.
struct ComponentExtent {
  JobId job;
  ResourceRequest request;
  Allocation allocation;
  static constexpr auto Fields(auto list) {
    return list(Field{"job", &ComponentExtent::job}, Field{"request", &ComponentExtent::request},
                Field{"allocation", &ComponentExtent::allocation});
  }
  friend bool operator==(const ComponentExtent&, const ComponentExtent&) = default;
};

// Start an attempt on this node.
struct LaunchOrder {
  std::string cluster;
  JobId job;
  JobId submission;  // the array's id for an element, else the job's
  std::optional<std::uint32_t> array_index;
  AttemptNumber attempt;
  Epoch epoch;
  NodeId node;
  Time expiry = kNoTime;
  Time started = kNoTime;  // when the attempt was given its resources
  JobSpec spec;            // with time_limit and kill_grace filled in
  Program program;
  Allocation allocation;                         // the whole attempt's
  std::vector<ComponentExtent> components = {};  // of a heterogeneous job: all of them, in order
  // By which the attempt's supervisors know one another: 64 hex digits that no process of the job
  // sees. Empty: its steps have no MPI over several nodes.
  std::string secret = {};
  CheckpointAdvice advice = {};
  CheckpointQuota checkpoint_quota = {};  // of the job's user
  static constexpr auto Fields(auto list) {
    return list(Field{"cluster", &LaunchOrder::cluster}, Field{"job", &LaunchOrder::job},
                Field{"submission", &LaunchOrder::submission},
                Field{"array_index", &LaunchOrder::array_index},
                Field{"attempt", &LaunchOrder::attempt}, Field{"epoch", &LaunchOrder::epoch},
                Field{"node", &LaunchOrder::node}, Field{"expiry", &LaunchOrder::expiry},
                Field{"started", &LaunchOrder::started}, Field{"spec", &LaunchOrder::spec},
                Field{"program", &LaunchOrder::program},
                Field{"allocation", &LaunchOrder::allocation},
                Field{"components", &LaunchOrder::components},
                Field{"secret", &LaunchOrder::secret}, Field{"advice", &LaunchOrder::advice},
                Field{"checkpoint_quota", &LaunchOrder::checkpoint_quota});
  }
  friend bool operator==(const LaunchOrder&, const LaunchOrder&) = default;
};

// False for the further components of a heterogeneous job: the batch script runs on the leader.
inline bool IsLeader(const LaunchOrder& order) {
  return order.components.empty() || order.components.front().job == order.job;
}

// Start a step of an attempt on this node.
struct StepOrder {
  std::string cluster;
  JobId job;
  AttemptNumber attempt;
  StepId step;
  Epoch epoch;
  NodeId node;
  Time expiry = kNoTime;
  Program program;
  Allocation placement;  // the whole step's
  static constexpr auto Fields(auto list) {
    return list(Field{"cluster", &StepOrder::cluster}, Field{"job", &StepOrder::job},
                Field{"attempt", &StepOrder::attempt}, Field{"step", &StepOrder::step},
                Field{"epoch", &StepOrder::epoch}, Field{"node", &StepOrder::node},
                Field{"expiry", &StepOrder::expiry}, Field{"program", &StepOrder::program},
                Field{"placement", &StepOrder::placement});
  }
  friend bool operator==(const StepOrder&, const StepOrder&) = default;
};

// Freeze an attempt on this node, or let it run again. Of two orders the one with the higher
// `suspension` holds, in whatever sequence they come.
struct SuspendOrder {
  JobId job;
  AttemptNumber attempt;
  Epoch epoch;
  NodeId node;
  std::uint32_t suspension = 0;
  bool resume = false;
  static constexpr auto Fields(auto list) {
    return list(Field{"job", &SuspendOrder::job}, Field{"attempt", &SuspendOrder::attempt},
                Field{"epoch", &SuspendOrder::epoch}, Field{"node", &SuspendOrder::node},
                Field{"suspension", &SuspendOrder::suspension},
                Field{"resume", &SuspendOrder::resume});
  }
  friend bool operator==(const SuspendOrder&, const SuspendOrder&) = default;
};

// What the attempt's programs are to know about checkpoints from now on.
struct AdviceOrder {
  JobId job;
  AttemptNumber attempt;
  Epoch epoch;
  NodeId node;
  CheckpointAdvice advice;
  static constexpr auto Fields(auto list) {
    return list(Field{"job", &AdviceOrder::job}, Field{"attempt", &AdviceOrder::attempt},
                Field{"epoch", &AdviceOrder::epoch}, Field{"node", &AdviceOrder::node},
                Field{"advice", &AdviceOrder::advice});
  }
  friend bool operator==(const AdviceOrder&, const AdviceOrder&) = default;
};

// End an attempt on this node: SIGTERM, the grace, SIGKILL. An attempt that the agent never saw is
// remembered as ended, so that a launch order that comes late is refused.
struct TerminateOrder {
  JobId job;
  AttemptNumber attempt;
  Epoch epoch;
  NodeId node;
  EndCause cause = EndCause::kCancelled;
  Duration grace{0};
  static constexpr auto Fields(auto list) {
    return list(Field{"job", &TerminateOrder::job}, Field{"attempt", &TerminateOrder::attempt},
                Field{"epoch", &TerminateOrder::epoch}, Field{"node", &TerminateOrder::node},
                Field{"cause", &TerminateOrder::cause}, Field{"grace", &TerminateOrder::grace});
  }
  friend bool operator==(const TerminateOrder&, const TerminateOrder&) = default;
};

// Which processes of an attempt a signal is for.
enum class SignalScope : std::uint8_t {
  kSteps = 0,  // the ranks of all steps, and not the batch script
  kBatch = 1,  // the batch script's own process
  kFull = 2,   // everything
};

// Send a signal to processes of an attempt on this node, or end a step there. It is sent once: a
// node that it does not reach is named to the caller, and it is not repeated.
struct SignalOrder {
  JobId job;
  AttemptNumber attempt;
  Epoch epoch;
  NodeId node;
  std::optional<StepId> step = {};  // of this step alone
  std::uint32_t signal = 0;         // 0: SIGTERM and then SIGKILL
  SignalScope scope = SignalScope::kSteps;
  static constexpr auto Fields(auto list) {
    return list(Field{"job", &SignalOrder::job}, Field{"attempt", &SignalOrder::attempt},
                Field{"epoch", &SignalOrder::epoch}, Field{"node", &SignalOrder::node},
                Field{"step", &SignalOrder::step}, Field{"signal", &SignalOrder::signal},
                Field{"scope", &SignalOrder::scope});
  }
  friend bool operator==(const SignalOrder&, const SignalOrder&) = default;
};

// Send what a step prints here from now on to a client that listens.
struct AttachOrder {
  JobId job;
  AttemptNumber attempt;
  Epoch epoch;
  NodeId node;
  StepId step;
  StepIo io = {};
  bool input = false;  // what comes back is typed into its terminal
  static constexpr auto Fields(auto list) {
    return list(Field{"job", &AttachOrder::job}, Field{"attempt", &AttachOrder::attempt},
                Field{"epoch", &AttachOrder::epoch}, Field{"node", &AttachOrder::node},
                Field{"step", &AttachOrder::step}, Field{"io", &AttachOrder::io},
                Field{"input", &AttachOrder::input});
  }
  friend bool operator==(const AttachOrder&, const AttachOrder&) = default;
};

}  // namespace muster
