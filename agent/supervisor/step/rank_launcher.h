#pragma once

// Starts the ranks of a step on this node, in a control group of the step's own, and hears how that
// went.
//
// Thread promise: the loop's thread. Invariants: (1) on_settled is called once for each rank that
// was started, with its exec or its failure, at the latest when it is reaped; (2) a rank's pid is
// set from its fork on.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "agent/supervisor/launch/environment.h"
#include "agent/supervisor/launch/launch.h"
#include "agent/supervisor/limits/cgroup.h"
#include "agent/supervisor/mpi/step_pmix.h"
#include "agent/supervisor/step/step_plan.h"
#include "agent/supervisor/step/step_ranks.h"

namespace muster::agent {

class RankLauncher {
 public:
  using OnSettled = std::function<void(StepRank*, const LaunchOutcome&)>;

  // REQUIRES: the references outlive it. `on_heard` comes after on_settled, from the loop only.
  RankLauncher(const StepHost& host, const StepPlan& plan, const StepRanks& ranks,
               OnSettled on_settled, std::function<void()> on_heard);
  RankLauncher(const RankLauncher&) = delete;
  RankLauncher& operator=(const RankLauncher&) = delete;
  ~RankLauncher();

  // Without a group of their own the ranks are in the attempt's itself.
  void MakeGroup();
  // Has the step's container made, where it is to have one, and calls `done`; an `opened` that is
  // an error is passed on. Once, before the first rank starts.
  void EnterContainer(absl::Status opened, std::function<void(absl::Status)> done);
  // That error was of an image that may be had in a while.
  [[nodiscard]] bool image_may_come() const { return image_may_come_; }
  // What the ranks share, such as where those meet that ask for no MPI. Before the first of them
  // starts.
  void PrepareRanks();
  // `pmix` is null where the step has none; `terminal`: the standard streams are one.
  absl::Status Start(StepRank* rank, StepPmix* pmix, bool terminal);
  // What it has said up to now, which is all once it has ended.
  void Hear(StepRank* rank);
  // Why it could not be started.
  [[nodiscard]] std::string FailureText(const LaunchOutcome& outcome) const;

  // Why the kernel killed a rank; "": not for the step's memory.
  [[nodiscard]] std::string OutOfMemory() const;
  // What a rank left behind goes with the attempt, and the group with it.
  void RemoveGroup() const;

 private:
  [[nodiscard]] bool DoesNothing() const;
  [[nodiscard]] LaunchRequest RequestOf(const StepRank& rank) const;
  void TakeProgram(const StepRank& rank, LaunchRequest* request) const;
  void PutInContainer(LaunchRequest* request) const;
  [[nodiscard]] std::string ExecText(const LaunchOutcome& outcome) const;

  const StepHost& host_;
  const StepPlan& plan_;
  const StepRanks& ranks_;
  const OnSettled on_settled_;
  const std::function<void()> on_heard_;
  std::optional<AttemptCgroup> group_;            // in the attempt's
  std::unique_ptr<StepEnvironment> environment_;  // of the ranks; null: of a script
  const Container* container_ = nullptr;          // in which the ranks run; null: in none
  bool image_may_come_ = false;
  const std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);
};

}  // namespace muster::agent
