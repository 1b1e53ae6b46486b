#pragma once

// Effects: all that the scheduler can ask of the outside world. Performed only after the events are
// durable.
//
// Every effect but PassSignal and ShowStep, which are performed once or not at all, is safe to
// repeat: at start-up ActionsFor (core/state/actions) names again what should be under way.

#include <cstdint>
#include <string>
#include <variant>

#include "scheduler/model/job/exit_status.h"
#include "scheduler/model/job/order.h"
#include "scheduler/model/value/ids.h"

namespace muster {

// Tell the node to start its part of the attempt.
struct Launch {
  JobId job;
  AttemptNumber attempt;
  NodeId node;
  friend bool operator==(const Launch&, const Launch&) = default;
};

// Tell the node to start its ranks of the step.
struct LaunchStep {
  JobId job;
  AttemptNumber attempt;
  StepId step;
  NodeId node;
  friend bool operator==(const LaunchStep&, const LaunchStep&) = default;
};

// Tell the node to end its part of the attempt.
struct Terminate {
  JobId job;
  AttemptNumber attempt;
  NodeId node;
  EndCause cause = EndCause::kCancelled;
  friend bool operator==(const Terminate&, const Terminate&) = default;
};

// Tell the node that its facts up to `index` are durable here.
struct Acknowledge {
  NodeId node;
  JobId job;
  AttemptNumber attempt;
  std::uint64_t index = 0;
  friend bool operator==(const Acknowledge&, const Acknowledge&) = default;
};

// Plan again: something changed that a cycle should see.
struct Replan {
  friend bool operator==(const Replan&, const Replan&) = default;
};

// Order the node to freeze its part of the attempt. A node obeys the highest `suspension` only.
struct Suspend {
  JobId job;
  AttemptNumber attempt;
  NodeId node;
  std::uint32_t suspension = 0;  // Attempt::suspension
  friend bool operator==(const Suspend&, const Suspend&) = default;
};

// Tell the node to let its part of the attempt run again.
struct Resume {
  JobId job;
  AttemptNumber attempt;
  NodeId node;
  std::uint32_t suspension = 0;
  friend bool operator==(const Resume&, const Resume&) = default;
};

// Tell the node to measure its health.
struct CheckHealth {
  NodeId node;
  friend bool operator==(const CheckHealth&, const CheckHealth&) = default;
};

// Tell the node to send a signal. The order has all but the epoch.
struct PassSignal {
  SignalOrder order;
  friend bool operator==(const PassSignal&, const PassSignal&) = default;
};

// Order the node to show a step to a client. The order has all but the epoch.
struct ShowStep {
  AttachOrder order;
  friend bool operator==(const ShowStep&, const ShowStep&) = default;
};

// Tell the node what its part of the attempt is to know about checkpoints.
struct Advise {
  JobId job;
  AttemptNumber attempt;
  NodeId node;
  friend bool operator==(const Advise&, const Advise&) = default;
};

// Have the node's power class switch it on, or off.
struct SwitchPower {
  NodeId node;
  bool on = false;
  friend bool operator==(const SwitchPower&, const SwitchPower&) = default;
};

// Order the node to divide the GPU as its layout says.
struct DivideGpu {
  NodeId node;
  std::string gpu;  // its UUID
  friend bool operator==(const DivideGpu&, const DivideGpu&) = default;
};

using Effect = std::variant<Launch, LaunchStep, Terminate, Acknowledge, Replan, Suspend, Resume,
                            CheckHealth, PassSignal, ShowStep, Advise, SwitchPower, DivideGpu>;

}  // namespace muster
