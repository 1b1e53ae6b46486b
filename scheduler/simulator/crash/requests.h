#pragma once

// How simulated people ask a controller: again and again, until there is an answer.
//
// Thread promise: none; one thread. Invariants: every answer is heard, the first by whoever asked;
// what is still to be asked for counts as unanswered, too.

#include <cstdint>
#include <functional>
#include <memory>

#include "scheduler/core/handle/handle.h"
#include "scheduler/model/change/command.h"
#include "scheduler/simulator/crash/controller_loop.h"
#include "scheduler/simulator/life/faults.h"
#include "scheduler/simulator/life/virtual_clock.h"

namespace muster::sim {

class Requests {
 public:
  // Brings a request to a controller.
  using Bring = std::function<void(const Command&, ControllerLoop::Done)>;
  using Answer = std::function<void(const core::Transition&)>;
  static constexpr Duration kAskAgain{3'000};

  Requests(VirtualClock& clock, Faults& faults, Bring bring)
      : clock_(clock), faults_(faults), bring_(std::move(bring)) {}
  Requests(const Requests&) = delete;
  Requests& operator=(const Requests&) = delete;

  // They are not done before that.
  void Later(Duration after, std::function<void()> act);
  // Sends it at once, and again and again until there is an answer. `answer` hears the first, and
  // each further one that names a job.
  void Send(
      Command command, Answer answer = [](const core::Transition&) {});
  [[nodiscard]] std::uint64_t unanswered() const { return unanswered_; }

 private:
  void Try(const std::shared_ptr<const Command>& command, const std::shared_ptr<bool>& answered,
           const std::shared_ptr<const Answer>& answer);

  VirtualClock& clock_;
  Faults& faults_;
  const Bring bring_;
  std::uint64_t unanswered_ = 0;
};

}  // namespace muster::sim
