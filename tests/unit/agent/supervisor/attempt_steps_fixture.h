#pragma once

// Real steps in the test's own process: what a supervisor has of them, without the rest of it.
//
// Thread promise: one thread. Invariant: a step that has ended is kept until the test is over.

#include <memory>
#include <string>
#include <vector>

#include "agent/supervisor/attempt_steps.h"
#include "agent/supervisor/confinement.h"
#include "tests/unit/agent/supervisor/attempt_parts.h"

namespace muster::agent {

class AttemptStepsFixture : public AttemptParts {
 protected:
  AttemptStepsFixture() {
    EXPECT_TRUE(confinement_.Make(0).ok());
    before_reap_ = [this](pid_t pid) {
      owner_ = steps_.Find(pid);
      if (owner_ != nullptr) {
        owner_->BeforeReap(pid);
      }
    };
    reaped_ = [this](pid_t pid, int status, const rusage& usage) {
      if (owner_ != nullptr) {
        owner_->Reaped(pid, status, usage);
      }
    };
  }

  // A step of `ranks` ranks that each run `script`.
  StepPlan PlanOf(std::uint32_t step, const std::string& script, std::uint32_t ranks = 1) const {
    StepPlan plan;
    plan.step = StepId(step);
    plan.program = order_.launch.program;
    plan.program.argv = {"sh", "-c", script};
    plan.program.mpi = MpiFlavour::kNone;
    plan.placement = Placement(ranks);
    return plan;
  }
  // The batch script.
  StepPlan BatchPlan(const std::string& script);

  Confinement confinement_{directory_, order_};
  std::vector<StepId> started_;
  std::vector<std::unique_ptr<Step>> ended_;
  AttemptSteps steps_{
      {*loop_, clock_, log_, directory_, order_, reporter_, confinement_},
      {.on_started = [this](StepId step) { started_.push_back(step); },
       .on_ended = [this](std::unique_ptr<Step> step) { ended_.push_back(std::move(step)); }}};

 private:
  Step* owner_ = nullptr;
};

inline StepPlan AttemptStepsFixture::BatchPlan(const std::string& script) {
  Batch(script);
  EXPECT_TRUE(confinement_.WriteScript().ok());
  StepPlan plan;
  plan.program = order_.launch.program;
  plan.placement = order_.launch.allocation;
  plan.script = directory_.Script();
  return plan;
}

}  // namespace muster::agent
