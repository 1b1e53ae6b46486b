#pragma once

// The streams between agents and the controllers, with delays and losses.
//
// An agent tries the controllers in turn, until one listens. As with the real link, the agent opens
// the stream and what goes one way over one stream arrives in order. What a lost stream had under
// way downwards is gone; a report that had left the agent may still arrive, late. Thread promise:
// none; one thread. Invariants: (1) handlers are called from the clock, never from inside Send; (2)
// nothing reaches a controller that began after it was sent.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "scheduler/model/change/effect.h"
#include "scheduler/model/job/order.h"
#include "scheduler/model/job/report.h"
#include "scheduler/model/machine/health.h"
#include "scheduler/model/machine/mig.h"
#include "scheduler/model/machine/node.h"
#include "scheduler/simulator/life/faults.h"
#include "scheduler/simulator/life/virtual_clock.h"

namespace muster::sim {

// The controller's answers to a registration.
struct Welcome {
  NodeId node;
  Epoch epoch;
};
struct Refusal {
  std::string text;
};

using ToAgent = std::variant<Welcome, Refusal, LaunchOrder, StepOrder, TerminateOrder, Acknowledge,
                             SuspendOrder, AdviceOrder, HealthOrder, LayoutOrder, SignalOrder>;
using ToController = std::variant<Registration, Report, HealthReport>;

// One stream; never reused, 0 for none.
using Session = std::uint64_t;

class SimulatedNetwork {
 public:
  struct Handlers {
    std::function<void(std::size_t controller, Session, const ToController&)> up;
    std::function<void(std::size_t agent, Session, const ToAgent&)> down;
    std::function<void(std::size_t agent, Session)> agent_noticed_loss;
    std::function<void(std::size_t controller, Session, Duration silent)> controller_noticed_loss;
  };

  SimulatedNetwork(VirtualClock& clock, Faults& faults, std::size_t controllers = 1)
      : clock_(clock), faults_(faults), doors_(controllers) {}
  void Attach(Handlers handlers) { handlers_ = std::move(handlers); }

  // Opens a stream; 0 while no controller listens.
  Session Connect(std::size_t agent);
  void SendUp(Session session, ToController message);
  void SendDown(Session session, ToAgent message);

  // Both ends notice in their own time.
  void Cut(Session session);
  [[nodiscard]] bool IsOpen(Session session) const { return open_.contains(session); }
  // A stream that is open, or 0.
  [[nodiscard]] Session AnyOpen(std::uint64_t choice) const;

  // The controller is there, or gone with all its streams.
  void Listen(std::size_t controller = 0);
  void StopListening(std::size_t controller = 0);
  // No agent gets through to it any more, and its streams are lost; or they do again.
  void CutOff(std::size_t controller, bool cut_off);

 private:
  struct Stream {
    std::size_t agent = 0;
    std::size_t controller = 0;
    Time last_up = kNoTime;  // when the newest message that way arrives
    Time last_down = kNoTime;
  };
  struct Door {
    std::uint64_t listener = 0;  // which life of the controller
    bool listening = false;
    bool cut_off = false;
  };
  // Who is meant: a life of a controller.
  struct Listener {
    std::size_t controller = 0;
    std::uint64_t life = 0;
  };
  [[nodiscard]] Listener ListenerOf(const Stream& stream) const {
    return Listener{stream.controller, doors_[stream.controller].listener};
  }
  [[nodiscard]] bool IsThere(const Listener& listener) const {
    const Door& door = doors_[listener.controller];
    return door.listening && door.listener == listener.life;
  }
  void CutAll(std::size_t controller);
  Duration InOrder(Time& last);
  void Arrive(Session session, const Listener& listener, bool late, const ToController& message);

  VirtualClock& clock_;
  Faults& faults_;
  Handlers handlers_;
  std::map<Session, Stream> open_;
  Session last_ = 0;
  std::vector<Door> doors_;
  std::map<std::size_t, std::size_t> tried_;  // by agent: the controller that it tried last
};

}  // namespace muster::sim
