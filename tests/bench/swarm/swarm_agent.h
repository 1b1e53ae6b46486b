#pragma once

// One agent of a swarm: registers, sends heartbeats, takes launch orders and reports their ends
// once their scripts would have slept, and comes back when its stream ends.
//
// Thread promise: Start from one thread; everything else runs on gRPC's threads and the clock's.
// Invariants: a report is sent again until it is acknowledged, as a real agent does; it outlives
// its streams.

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "proto/agent.grpc.pb.h"
#include "tests/bench/swarm/swarm_clock.h"

namespace muster::swarm {

// What all agents together have seen.
struct SwarmCounts {
  std::atomic<std::uint64_t> registered = 0;  // now
  std::atomic<std::uint64_t> welcomes = 0;
  std::atomic<std::uint64_t> lost_streams = 0;
  std::atomic<std::uint64_t> refusals = 0;
  std::atomic<std::uint64_t> orders = 0;
  std::atomic<std::uint64_t> ended = 0;  // attempts, acknowledged
  std::atomic<std::uint64_t> beats = 0;
  std::atomic<std::uint64_t> late_beats = 0;  // unanswered when the next one was due
};

class SwarmAgent {
 public:
  // All that is referred to outlives it. `target` is gRPC's; `registration` has the machine.
  SwarmAgent(std::string target, wire::Registration registration, SwarmClock& clock,
             SwarmCounts& counts);
  ~SwarmAgent();
  SwarmAgent(const SwarmAgent&) = delete;
  SwarmAgent& operator=(const SwarmAgent&) = delete;

  void Start();

 private:
  class Stream;
  using Key = std::pair<std::uint64_t, std::uint32_t>;  // job, attempt
  struct Attempt {
    wire::KnownAttempt known;
    std::deque<wire::Report> unacknowledged;
    std::uint64_t last = 0;  // number of its reports
  };

  void OnMessage(const wire::ControllerMessage& message);
  void OnWelcome(const wire::Welcome& welcome);
  void OnOrder(const wire::ControllerMessage& order);
  void Launch(const wire::LaunchOrder& order);
  void Terminate(const wire::TerminateOrder& order);
  void OnAck(const wire::ReportAck& ack);
  void OnStreamEnd();
  void Beat(std::uint64_t stream);
  void End(Key key, bool cancelled);
  // REQUIRES: mutex_ is held.
  void AddReport(Attempt& attempt, wire::Report report);
  void SendReport(wire::Report report);
  void Send(wire::AgentMessage message);

  const std::string target_;
  const wire::Registration registration_;
  SwarmClock& clock_;
  SwarmCounts& counts_;

  std::mutex mutex_;
  std::unique_ptr<Stream> stream_;
  std::uint64_t streams_ = 0;  // so far: tells the timers of an older one
  bool welcome_ = false;
  std::uint64_t beat_ = 0;
  std::uint64_t heard_ = 0;
  std::chrono::milliseconds heartbeat_{0};
  std::uint64_t epoch_ = 0;
  std::map<Key, Attempt> attempts_;
};

}  // namespace muster::swarm
