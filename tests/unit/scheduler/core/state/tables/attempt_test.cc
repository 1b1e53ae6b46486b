#include "scheduler/core/state/tables/attempt.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace muster::core {
namespace {

const NodeId kNode(1);

class AttemptTest : public ::testing::Test {
 protected:
  AttemptTest() {
    NodeAllocation part;
    part.node = kNode;
    attempt_.allocation.nodes.push_back(part);
    attempt_.runs.emplace_back();
  }

  void Hear(Fact fact) {
    Report report;
    report.index = Of().reported + 1;
    report.fact = std::move(fact);
    TakeInReport(attempt_, kNode, report);
  }

  StepId Begin() {
    StepStarted event;
    event.step = attempt_.last_step.Next();
    event.placement = attempt_.allocation;
    TakeInStep(attempt_, event);
    return event.step;
  }

  void Read(StepId step, std::uint32_t ranks, BindingVerdict verdict) {
    BindingRead fact;
    for (std::uint32_t i = 0; i < ranks; ++i) {
      RankBinding rank;
      rank.step = step;
      rank.rank = i;
      rank.verdict = verdict;
      fact.ranks.push_back(rank);
    }
    Hear(std::move(fact));
  }

  void End(StepId step) {
    StepEnded fact;
    fact.step = step;
    Hear(std::move(fact));
  }

  [[nodiscard]] const NodeRun& Of() const { return attempt_.runs.front(); }

  [[nodiscard]] std::size_t RanksOf(StepId step) const {
    return static_cast<std::size_t>(
        std::count_if(Of().bindings.begin(), Of().bindings.end(),
                      [step](const RankBinding& rank) { return rank.step == step; }));
  }

  Attempt attempt_;
};

TEST_F(AttemptTest, AJobOfManyStepsKeepsTheBindingsOfTheLastAndCountsTheOthers) {
  constexpr std::uint32_t kSteps = 1000;
  for (std::uint32_t i = 0; i < kSteps; ++i) {
    const StepId step = Begin();
    Read(step, 1, i == 500 ? BindingVerdict::kDiffers : BindingVerdict::kVerified);
    End(step);
    ASSERT_LE(Of().bindings.size(), kBindingsKept + 1);
  }
  EXPECT_EQ(Of().bindings.size() + Of().ranks_left_out, kSteps);
  EXPECT_EQ(Of().verified_left_out, Of().ranks_left_out);
  EXPECT_EQ(Of().bindings.back().step, StepId(kSteps));
  EXPECT_EQ(RanksOf(StepId(1)), 1U) << "the first that was verified";
  EXPECT_EQ(RanksOf(StepId(501)), 1U) << "the first that differs";
}

TEST_F(AttemptTest, TheBindingsOfRanksThatRunAreAllKept) {
  const StepId wide = Begin();
  Read(wide, 300, BindingVerdict::kVerified);
  for (int i = 0; i < 100; ++i) {
    const StepId step = Begin();
    Read(step, 1, BindingVerdict::kVerified);
    End(step);
  }
  EXPECT_EQ(RanksOf(wide), 300U);
  End(wide);
  Read(Begin(), 1, BindingVerdict::kVerified);
  EXPECT_LE(Of().bindings.size(), kBindingsKept + 1);
  EXPECT_EQ(Of().bindings.size() + Of().ranks_left_out, 401U);
}

TEST_F(AttemptTest, AWideStepThatWasTheLastIsKeptWhole) {
  const StepId wide = Begin();
  Read(wide, 300, BindingVerdict::kVerified);
  End(wide);
  EXPECT_EQ(RanksOf(wide), 300U);
  EXPECT_EQ(Of().ranks_left_out, 0U);
}

TEST_F(AttemptTest, WhatRanksHadOfGpusStaysForThoseThatAreStillListed) {
  const StepId step = Begin();
  Read(step, 2, BindingVerdict::kVerified);
  RunEnded end;
  const GpuWork work{Duration(1000), Duration(970), {}, {}, {}, {}};
  end.gpu_work = {{step, 1, work}, {step.Next(), 0, work}};
  end.gpu_errors = {"rank 1 met XID 79"};
  Hear(end);
  ASSERT_EQ(Of().gpu_work.size(), 1U);
  EXPECT_EQ(Of().gpu_work[0], (RankGpuWork{step, 1, work}));
  EXPECT_EQ(Of().gpu_errors, end.gpu_errors);
}

}  // namespace
}  // namespace muster::core
