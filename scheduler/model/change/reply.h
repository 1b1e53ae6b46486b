#pragma once

// What the controller answers to the commands of clients, and what makes a struct a client's
// request.
//
// Invariant: a field is named as the message of proto/controller.proto names it.

#include <cstdint>
#include <string>
#include <vector>

#include "scheduler/model/machine/allocation.h"
#include "scheduler/model/value/fields.h"
#include "scheduler/model/value/ids.h"

namespace muster {

// A request of clients: its method's name and its answer. `kNow`, where it is: it is not worth
// waiting long for a controller that restarts.
template <class T>
concept ClientRequest = requires {
  T::kMethod;
  typename T::Reply;
};

// It was done, or the status says why not.
struct Nothing {
  static constexpr auto Fields(auto list) { return list(); }
  friend bool operator==(const Nothing&, const Nothing&) = default;
};

// Of a command for many jobs: one line for each job that could not be changed.
struct ChangeOutcome {
  std::vector<std::string> errors;
  std::uint32_t changed = 0;  // jobs
  static constexpr auto Fields(auto list) {
    return list(Field{"errors", &ChangeOutcome::errors}, Field{"changed", &ChangeOutcome::changed});
  }
  friend bool operator==(const ChangeOutcome&, const ChangeOutcome&) = default;
};

struct CancelOutcome : ChangeOutcome {
  static constexpr auto Fields(auto list) {
    return list(Field{"errors", &ChangeOutcome::errors},
                Field{"cancelled", &ChangeOutcome::changed});
  }
};

struct SignalOutcome : ChangeOutcome {
  static constexpr auto Fields(auto list) {
    return list(Field{"errors", &ChangeOutcome::errors},
                Field{"signalled", &ChangeOutcome::changed});
  }
};

struct Submitted {
  JobId job;           // the first of several
  std::string error;   // of one of many: why it was refused
  std::string remark;  // why the known nodes can never hold the job; empty: they can
  static constexpr auto Fields(auto list) {
    return list(Field{"job", &Submitted::job}, Field{"error", &Submitted::error},
                Field{"remark", &Submitted::remark});
  }
  friend bool operator==(const Submitted&, const Submitted&) = default;
};

struct StartedStep {
  StepId step;
  Allocation placement;    // empty: it waits, or, asked again with the same token, has ended
  std::string waits = {};  // what for
  static constexpr auto Fields(auto list) {
    return list(Field{"step", &StartedStep::step}, Field{"placement", &StartedStep::placement},
                Field{"waits", &StartedStep::waits});
  }
  friend bool operator==(const StartedStep&, const StartedStep&) = default;
};

// A step to look at.
struct ShownStep {
  JobId job;
  StepId step;
  Allocation placement;
  static constexpr auto Fields(auto list) {
    return list(Field{"job", &ShownStep::job}, Field{"step", &ShownStep::step},
                Field{"placement", &ShownStep::placement});
  }
  friend bool operator==(const ShownStep&, const ShownStep&) = default;
};

}  // namespace muster
