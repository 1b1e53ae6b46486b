#pragma once

// The supervisor's end of the control socket: takes commands, answers each with one line.
//
// Thread promise: the loop's thread. Invariants: only processes of our own user (or root) are
// listened to, whatever the socket's mode; at most kConnectionsMax at a time.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <variant>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "scheduler/model/job/order.h"
#include "scheduler/runtime/clock.h"
#include "scheduler/runtime/event_loop.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::agent {

// The part of an elastic job goes on up to then.
struct LeaseRenewal {
  SteadyTime until = SteadyTime::min();
};

class ControlSocket {
 public:
  using Command = std::variant<StepOrder, TerminateOrder, SuspendOrder, SignalOrder, AttachOrder,
                               AdviceOrder, LeaseRenewal>;
  // OK is answered with "ok", anything else with its message.
  using Handler = std::function<absl::Status(const Command&)>;

  static absl::StatusOr<std::unique_ptr<ControlSocket>> Open(EventLoop& loop,
                                                             const std::string& path,
                                                             Handler handler);
  ControlSocket(const ControlSocket&) = delete;
  ControlSocket& operator=(const ControlSocket&) = delete;
  // Removes the socket: an agent that connects is refused at once.
  ~ControlSocket();

 private:
  static constexpr std::size_t kConnectionsMax = 64;
  ControlSocket(EventLoop& loop, std::string path, UniqueFd listener, Handler handler);
  void Accept();
  void Serve(int fd);

  EventLoop& loop_;
  const std::string path_;
  UniqueFd listener_;
  Handler handler_;
  std::map<int, UniqueFd> connections_;
};

}  // namespace muster::agent
