#pragma once

// Orders to one supervisor, one after the other, over its control socket.
//
// Each order is a packet and has an answer; nothing here waits. The connection stays between
// orders: where one step was started, others follow. A supervisor that is still starting has no
// socket yet, and one that dies closes it: the order is then sent again until its time is up, which
// is safe because orders may come twice. Thread promise: the owner of the loop.
// Invariant: an order's callback runs once, or never if this object goes first.

#include <chrono>
#include <deque>
#include <functional>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "scheduler/runtime/clock.h"
#include "scheduler/runtime/event_loop.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::agent {

class ControlCall {
 public:
  using Done = std::function<void(const absl::Status&)>;

  // Calls the supervisor that listens on the control socket `path`. `answer_within` is the time
  // from sending an order to giving it up.
  ControlCall(EventLoop& loop, std::string path, std::chrono::milliseconds answer_within)
      : loop_(loop), path_(std::move(path)), answer_within_(answer_within) {}
  ControlCall(const ControlCall&) = delete;
  ControlCall& operator=(const ControlCall&) = delete;
  ~ControlCall();

  // Sends a serialised SupervisorCommand after those before it. `done` gets OK when the supervisor
  // answered "ok", FailedPrecondition with its words when it refused, DeadlineExceeded when it did
  // not answer in time.
  void Send(std::string packet, Done done);

 private:
  struct Order {
    std::string packet;
    Done done;
  };

  void Begin();
  void Try();
  absl::Status Connect();
  void TakeAnswer();
  void TryAgain();
  void Disconnect();
  void Finish(const absl::Status& status);
  void CancelTimer();

  EventLoop& loop_;
  const std::string path_;
  const std::chrono::milliseconds answer_within_;
  const SystemClock clock_;
  std::deque<Order> orders_;  // the first is under way
  SteadyTime deadline_ = SteadyTime::min();
  UniqueFd socket_;
  std::optional<EventLoop::TimerId> timer_;
};

}  // namespace muster::agent
