#pragma once

// Orders to the supervisors of this node: each supervisor's one after the other.
//
// Thread promise: the owner of the loop. Invariant: after Forget() nothing is heard of what was
// sent to that supervisor.

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "agent/attempts/place/attempt_key.h"
#include "agent/attempts/control_call.h"
#include "agent/attempts/place/state_directory.h"
#include "scheduler/runtime/event_loop.h"
#include "scheduler/runtime/log.h"

namespace muster::agent {

class SupervisorCalls {
 public:
  // Everything that is referred to outlives it. `answer_within`: a supervisor's answer to an order.
  SupervisorCalls(EventLoop& loop, const Logger& log, StateDirectory& state,
                  std::chrono::milliseconds answer_within);

  // Sends a serialised SupervisorCommand; the log says when the supervisor does not take it. `what`
  // names it: "step of".
  void Send(const AttemptKey& key, const std::string& packet, const std::string& what);
  // The same for an order to end; `unheard` is called when the supervisor does not answer in time.
  void SendEnd(const AttemptKey& key, const std::string& packet, std::function<void()> unheard);
  // The supervisor is gone.
  void Forget(const AttemptKey& key) { calls_.erase(key); }

 private:
  ControlCall& To(const AttemptKey& key);
  void Say(const AttemptKey& key, const std::string& what, const absl::Status& status);

  EventLoop& loop_;
  const Logger& log_;
  StateDirectory& state_;
  const std::chrono::milliseconds answer_within_;
  std::map<AttemptKey, std::unique_ptr<ControlCall>> calls_;
};

}  // namespace muster::agent
