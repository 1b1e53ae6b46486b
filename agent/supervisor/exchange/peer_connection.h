#pragma once

// A PeerSession on a TCP socket: connects or was called, proves itself, carries frames.
//
// A caller tries the peer's addresses one after the other until one leads to a process that knows
// the secret. Silence is not the end: a peer that cannot be reached any more is given up after many
// minutes, so that a network that fails for a while ends no job; a peer that has died is known at
// once, by its kernel. Thread promise: the loop's thread. Invariants: frames leave in the order
// they were given, and reach the peer although the connection ends; after on_closed no handler is
// called. on_closed may destroy the connection, the other handlers must not.

#include <netinet/in.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "agent/supervisor/exchange/peer_session.h"
#include "agent/supervisor/user_space/peer_address.h"
#include "scheduler/runtime/closing_sockets.h"
#include "scheduler/runtime/event_loop.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::agent {

struct PeerHandlers {
  std::function<void()> on_proved;
  std::function<void(const wire::PeerFrame&)> on_frame;
  std::function<void(const absl::Status& why)> on_closed;
};

class PeerConnection {
 public:
  // Calls the supervisor at position `to`; what goes wrong comes through on_closed. `closing` has
  // the socket from the connection's end until the peer has heard that.
  static std::unique_ptr<PeerConnection> Call(EventLoop& loop, ClosingSockets& closing,
                                              PeerSelf self, std::uint32_t to,
                                              std::vector<std::string> addresses,
                                              PeerHandlers handlers, PeerTraffic traffic = {});
  // Takes a connection that was accepted.
  static absl::StatusOr<std::unique_ptr<PeerConnection>> Answer(EventLoop& loop,
                                                                ClosingSockets& closing,
                                                                PeerSelf self, UniqueFd socket,
                                                                PeerHandlers handlers);
  PeerConnection(const PeerConnection&) = delete;
  PeerConnection& operator=(const PeerConnection&) = delete;
  ~PeerConnection();

  // REQUIRES: proved().
  void Send(const wire::PeerFrame& frame);
  [[nodiscard]] bool proved() const { return session_.has_value() && session_->proved(); }
  // See PeerSession::peer.
  [[nodiscard]] std::uint32_t peer() const { return session_->peer(); }

 private:
  PeerConnection(EventLoop& loop, ClosingSockets& closing, PeerSelf self, PeerHandlers handlers)
      : loop_(loop), closing_(closing), self_(std::move(self)), handlers_(std::move(handlers)) {}
  void TryNext(const absl::Status& last);
  absl::Status Connect(const std::string& address);
  absl::Status Begin();
  void OnReady(std::uint32_t events);
  void Connected();
  void Read();
  void Write();
  void UpdateEvents();
  void Fail(const absl::Status& why);
  void Drop();

  EventLoop& loop_;
  ClosingSockets& closing_;
  const PeerSelf self_;
  const PeerHandlers handlers_;
  PeerTraffic traffic_;  // of a connection that we begin
  std::uint32_t to_ = 0;
  std::vector<std::string> addresses_;  // not tried yet, the next one last
  std::string address_;                 // being tried; empty: we were called
  UniqueFd socket_;
  bool connecting_ = false;
  std::optional<PeerSession> session_;
  std::optional<EventLoop::TimerId> patience_;
  std::string outgoing_;
};

}  // namespace muster::agent
