#pragma once

// Simulated users: they submit, cancel, hold, release, start steps, drain and reserve nodes, and
// ask again with the same token until they have an answer.
//
// Thread promise: none; one thread. Invariants: (1) the oracle hears of each submission when its
// answer arrives; (2) what is held is released, what is drained is resumed and what was limited is
// freed in the end.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "scheduler/model/change/command.h"
#include "scheduler/simulator/crash/operators.h"
#include "scheduler/simulator/crash/requests.h"
#include "scheduler/simulator/life/faults.h"
#include "scheduler/simulator/life/oracle.h"
#include "scheduler/simulator/life/virtual_clock.h"
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
  bool whole = false;      // they ask for, and do, all that there is
};

class Clients {
 public:
  using Bring = Requests::Bring;
  Clients(VirtualClock& clock, Faults& faults, Oracle& oracle, Bring bring, ClientPlan plan);
  Clients(const Clients&) = delete;
  Clients& operator=(const Clients&) = delete;

  void Start();
  // How many requests have no answer yet.
  [[nodiscard]] std::uint64_t unanswered() const { return requests_.unanswered(); }
  // How many submissions were refused.
  [[nodiscard]] std::uint64_t refused() const { return refused_; }

 private:
  void Submit(std::uint32_t number);
  void Afterwards(JobId job, bool batch);
  void StartSteps(JobId job);
  [[nodiscard]] StepSpec MakeStep();
  // What users of a whole site do besides.
  void DoRareThing(JobId job);
  void HoldAndRelease(JobId job);
  void ChangeLimit(JobId job);
  void SuspendAndResume(JobId job);
  void DrainAndResume();
  void Reserve(std::uint32_t number);
  // The operators of a site with accounts, partitions and QOS.
  void StartSite();
  void MakeSite(const std::shared_ptr<const std::vector<ChangePolicy>>& site, std::size_t next);
  void LiftAll();
  void CancelAll();
  void UpdateRequest(JobId job);
  SubmitJob Make(std::uint32_t number);
  void AddWhole(SubmitJob* submit);

  VirtualClock& clock_;
  Faults& faults_;
  Oracle& oracle_;
  const ClientPlan plan_;
  Requests requests_;
  Operators operators_;
  std::uint64_t refused_ = 0;
  RandomSequence random_;  // of wishes and changes: other lives draw nothing of it
  WishList wishes_;
  std::vector<JobId> known_;  // those that were submitted
};

}  // namespace muster::sim
