#pragma once

// Simulated users: they submit, cancel, hold, release, start steps, drain and reserve nodes, and
// ask again with the same token until they have an answer.
//
// Thread promise: none; one thread. Invariants: (1) the oracle hears of each submission when its
// answer arrives; (2) a request is repeated until it is answered, across any number of controllers;
// (3) what is held is released, what is drained is resumed and what was
// limited is freed in the end.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/core/handle/handle.h"
#include "scheduler/model/change/command.h"
#include "scheduler/simulator/crash/controller_loop.h"
#include "scheduler/simulator/crash/faults.h"
#include "scheduler/simulator/crash/oracle.h"
#include "scheduler/simulator/crash/virtual_clock.h"
#include "scheduler/simulator/random_sequence.h"
#include "scheduler/simulator/workload/wishes.h"

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
  bool wishes = false;
  std::uint32_t changes = 0;
  std::uint64_t seed = 0;  // of wishes and changes
};

class Clients {
 public:
  // Brings a request to a controller.
  using Bring = std::function<void(const Command&, ControllerLoop::Done)>;
  Clients(VirtualClock& clock, Faults& faults, Oracle& oracle, Bring bring, ClientPlan plan);
  Clients(const Clients&) = delete;
  Clients& operator=(const Clients&) = delete;

  void Start();
  // How many requests have no answer yet.
  [[nodiscard]] std::uint64_t unanswered() const { return unanswered_; }
  // How many submissions were refused.
  [[nodiscard]] std::uint64_t refused() const { return refused_; }

 private:
  using Answer = std::function<void(const core::Transition&)>;

  // They are not done before that.
  void Later(Duration after, std::function<void()> act);
  // Sends it at once, and again and again until there is an answer.
  void Request(
      Command command, Answer answer = [](const core::Transition&) {});
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
  // The operators of a site with accounts, partitions and QOS.
  void StartSite();
  void LiftAll();
  void CancelAll();
  void UpdateRequest(JobId job);
  SubmitJob Make(std::uint32_t number);

  VirtualClock& clock_;
  Faults& faults_;
  Oracle& oracle_;
  const Bring bring_;
  const ClientPlan plan_;
  std::uint64_t unanswered_ = 0;
  std::uint64_t refused_ = 0;
  RandomSequence random_;  // of wishes and changes: other lives draw nothing of it
  WishList wishes_;
  std::vector<JobId> known_;  // those that were submitted
};

}  // namespace muster::sim
