#pragma once

// One client of a swarm: over a connection of its own it asks again and again for the queue, as
// `muster queue` does, and counts how long the answers take.
//
// Thread promise: Start from one thread; everything else runs on gRPC's threads and the clock's.
// Invariant: one question is on its way at a time.

#include <grpcpp/grpcpp.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "proto/controller.grpc.pb.h"
#include "tests/bench/swarm/swarm_clock.h"

namespace muster::swarm {

// The times of all answers, in milliseconds; the last holds those that took longer.
class AnswerTimes {
 public:
  void Add(std::chrono::milliseconds time);
  void AddFailure() { ++failed_; }
  // The smallest time that this part (0 to 1) of the answers did not exceed; 0 without answers.
  [[nodiscard]] std::size_t Quantile(double part) const;
  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] std::uint64_t failed() const { return failed_; }

 private:
  static constexpr std::size_t kMost = 10000;
  std::array<std::atomic<std::uint64_t>, kMost + 1> counts_{};
  std::atomic<std::uint64_t> count_ = 0;
  std::atomic<std::uint64_t> failed_ = 0;
};

class SwarmClient {
 public:
  // All that is referred to outlives it. `target` is gRPC's; it asks each time `pause` after an
  // answer.
  SwarmClient(const std::string& target, std::chrono::milliseconds pause, SwarmClock& clock,
              AnswerTimes& times);

  void Start() { Ask(); }

 private:
  void Ask();

  const std::chrono::milliseconds pause_;
  SwarmClock& clock_;
  AnswerTimes& times_;
  std::unique_ptr<wire::Controller::Stub> stub_;
  std::unique_ptr<grpc::ClientContext> context_;
  wire::ListJobsRequest question_;
  wire::ListJobsReply answer_;
};

}  // namespace muster::swarm
