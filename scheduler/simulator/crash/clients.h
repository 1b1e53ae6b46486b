#pragma once

// Simulated users: they submit, cancel, hold, release, start steps, drain and reserve nodes, and
// ask again with the same token until they have an answer.
//
// Thread promise: none; one thread. Invariants: (1) the oracle hears of each submission when its
// answer arrives; (2) a request is repeated until it is answered, across any number of controllers;
// (3) what is held is released and what is drained is resumed in the end.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "scheduler/core/handle/handle.h"
#include "scheduler/model/change/command.h"
#include "scheduler/simulator/crash/controller_loop.h"
#include "scheduler/simulator/crash/faults.h"
#include "scheduler/simulator/crash/oracle.h"
#include "scheduler/simulator/crash/virtual_clock.h"

namespace muster::sim {

// What they have to work with.
struct ClientPlan {
  std::uint32_t submissions = 0;
  Duration active{0};  // they submit within this time from the start
  std::uint32_t nodes = 0;
  std::uint32_t cpus_per_node = 0;
  std::uint32_t gpus_per_node = 0;
  std::uint32_t elastic = 0;  // thousandths of the batch jobs that may change their size
  std::uint32_t urgent = 0;   // thousandths of QOS high, as many of low, and of mild
  std::uint32_t reservations = 0;
};

class Clients {
 public:
  // Brings a request to a controller.
  using Bring = std::function<void(const Command&, ControllerLoop::Done)>;
  Clients(VirtualClock& clock, Faults& faults, Oracle& oracle, Bring bring, ClientPlan plan)
      : clock_(clock), faults_(faults), oracle_(oracle), bring_(std::move(bring)), plan_(plan) {}
  Clients(const Clients&) = delete;
  Clients& operator=(const Clients&) = delete;

  void Start();
  // How many requests have no answer yet.
  [[nodiscard]] std::uint64_t unanswered() const { return unanswered_; }

 private:
  using Answer = std::function<void(const core::Transition&)>;

  // Sends it at once, and again and again until there is an answer.
  void Request(Command command, Answer answer);
  void Try(const std::shared_ptr<const Command>& command, const std::shared_ptr<bool>& answered,
           const std::shared_ptr<const Answer>& answer);
  void Submit(std::uint32_t number);
  void Afterwards(JobId job, bool batch);
  void StartSteps(JobId job);
  void HoldAndRelease(JobId job);
  void ChangeLimit(JobId job);
  void SuspendAndResume(JobId job);
  void DrainAndResume();
  void Reserve(std::uint32_t number);
  SubmitJob Make(std::uint32_t number);

  VirtualClock& clock_;
  Faults& faults_;
  Oracle& oracle_;
  const Bring bring_;
  const ClientPlan plan_;
  std::uint64_t unanswered_ = 0;
};

}  // namespace muster::sim
