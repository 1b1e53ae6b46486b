#pragma once

// The link to the controller: one stream, opened by the agent, opened again whenever it breaks.
//
// gRPC's threads parse, post to the loop and return; whatever is decided is decided on the loop.
// The next message is read only when the last one was dealt with, and what goes out is bounded, so
// neither side can flood the other. Thread promise: the owner of the loop. Invariants: (1) between
// Welcomed() and Lost() the link is attached, and nothing is sent outside; (2) nothing of an older
// stream arrives after Lost().

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "agent/link/controller_address.h"
#include "agent/link/link_stream.h"
#include "proto/agent.pb.h"
#include "scheduler/runtime/clock.h"
#include "scheduler/runtime/event_loop.h"
#include "scheduler/runtime/log.h"

namespace muster::agent {

// How long to wait before trying to connect again, after `failures` (from 1) in a row: from 50 ms
// doubling to 5 s, times 0.5 to 1 by `jitter` in [0, 1], so that a thousand agents do not come back
// at one instant.
std::chrono::milliseconds BackoffDelay(unsigned failures, double jitter);

class ControllerLink : private LinkStream::Owner {
 public:
  // What the link asks of its owner; every call is on the loop's thread.
  class Owner {
   public:
    virtual ~Owner() = default;
    // How the agent introduces itself just now: the first message of a stream.
    virtual absl::StatusOr<wire::AgentMessage> Introduce() = 0;
    // The controller took us in; over TLS `certificate` (PEM) is its. An error says why we do not
    // take it; the link then tries again later.
    virtual absl::Status Welcomed(const wire::Welcome& welcome, const std::string& certificate) = 0;
    virtual void Received(const wire::ControllerMessage& message) = 0;
    // The controller has received what was sent until then, and had not given us up before.
    virtual void HeardAt(SteadyTime /*said*/) {}
    // Send() takes messages again after having refused one.
    virtual void Writable() = 0;
    // There will be no link: the controller never has us, or is not one that we obey.
    virtual void Failed(const absl::Status& why) = 0;
  };

  struct Config {
    std::string address;  // of several controllers all, by commas: one of them leads
    AgentTlsFiles tls;  // empty: the address is a unix socket of our own user's controller
    std::string node;   // ours
    std::chrono::milliseconds welcome_within{10000};
    std::size_t messages_waiting_max = 1024;
  };

  ControllerLink(EventLoop& loop, const Logger& log, Config config, Owner* owner);
  ControllerLink(const ControllerLink&) = delete;
  ControllerLink& operator=(const ControllerLink&) = delete;
  // Ends the stream and waits until gRPC has let go of it.
  ~ControllerLink() override;

  // Opens the first stream.
  void Connect();

  // Ends the stream, if there is one; the next introduces the owner again.
  void Reconnect();

  bool attached() const { return attached_; }

  // Ends the stream: what came through it is not to be trusted. Connects again after a while.
  void Break();

  // Queues a message. False when it was not taken: not attached, or too many are waiting (then
  // Writable() follows).
  bool Send(const wire::AgentMessage& message);

 private:
  void Handle(const wire::ControllerMessage& message) override;
  void Welcome(const wire::Welcome& welcome);
  void Refuse(const wire::Refusal& refusal);
  void Lost(const absl::Status& status) override;
  void Drained() override;
  void Beat();
  void TakeHeard(std::uint64_t number);
  void CancelTimer(std::optional<EventLoop::TimerId>* timer);
  [[nodiscard]] std::chrono::milliseconds Delay() const;
  [[nodiscard]] bool Unheard() const;

  EventLoop& loop_;
  const Logger& log_;
  const Config config_;
  const std::vector<std::string> addresses_;  // of the configuration
  std::size_t place_ = 0;                     // the one of them that is tried, or attached to
  Owner* const owner_;
  // The newest channel, kept until the next one is made: with no channel at all gRPC would take its
  // threads down and up again at every attempt.
  std::shared_ptr<grpc::Channel> channel_;
  std::shared_ptr<LinkStream> stream_;
  bool attached_ = false;
  bool starved_ = false;  // Send() refused since the queue was last empty enough
  bool refused_ = false;  // the stream's end was announced in words
  unsigned failures_ = 0;
  std::chrono::milliseconds heartbeat_{0};
  SteadyTime introduced_ = SteadyTime::min();
  std::uint64_t beats_ = 0;                                // of this stream
  std::deque<std::pair<std::uint64_t, SteadyTime>> said_;  // beats that were not heard yet
  std::optional<EventLoop::TimerId> connect_timer_;
  std::optional<EventLoop::TimerId> welcome_timer_;
  std::optional<EventLoop::TimerId> heartbeat_timer_;
};

}  // namespace muster::agent
