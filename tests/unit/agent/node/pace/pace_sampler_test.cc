#include "agent/node/pace/pace_sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "agent/supervisor/attempt/journal.h"
#include "agent/supervisor/attempt/reported_values.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::agent {
namespace {

using std::chrono::seconds;
using ::testing::IsEmpty;

// An attempt with two ranks of one step, 100 and 101, below its supervisor, 90; 100 has a child.
class PaceSamplerTest : public ::testing::Test {
 protected:
  PaceSamplerTest() {
    state_ = std::make_unique<StateDirectory>(StateDirectory::Open(directory_ / "agent").value());
    EXPECT_TRUE(state_->MakeAttempt(key_).ok());
    JournalWriter writer =
        JournalWriter::Open(state_->Attempt(key_).Journal(), key_.job, key_.attempt).value();
    BindingRead read;
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      RankBinding binding;
      binding.step = StepId(1);
      binding.rank = rank;
      binding.pid = 100 + rank;
      binding.cpus = CpuSet::Of({rank});
      binding.gpus = {rank == 0 ? "GPU-a" : "GPU-b"};
      read.ranks.push_back(binding);
    }
    EXPECT_TRUE(writer.Append(read).ok());
    AddProcess(90, 1);
    AddProcess(100, 90);
    AddProcess(101, 90);
    AddProcess(110, 100);
    sampler_ = std::make_unique<PaceSampler>(*state_, proc(), directory_ / "cpus");
  }
  [[nodiscard]] std::string proc() const { return directory_ / "proc"; }
  void AddProcess(pid_t pid, pid_t parent) const {
    const std::string path = absl::StrCat(proc(), "/", pid, "/task/", pid);
    std::filesystem::create_directories(path);
    std::ofstream(absl::StrCat(proc(), "/", pid, "/stat"))
        << pid << " (a) R " << parent << " 1 1 0 -1 0 0 0 0 0 0 0 0 0 0 20 0 1 0 7 1000 7\n";
  }
  void Spend(pid_t pid, int ran_ms, int waited_ms) const {
    std::ofstream(absl::StrCat(proc(), "/", pid, "/task/", pid, "/schedstat"))
        << ran_ms << "000000 " << waited_ms << "000000 1\n";
  }
  // The look at `second`.
  void Sample(int second, const std::vector<topology::GpuReading>& gpus = {}) {
    sampler_->Sample({{key_, {nullptr, "", 90}}}, gpus, SteadyTime(seconds(second)),
                     Time(seconds(second)));
  }
  std::vector<RankPace> Paces() { return sampler_->ranks()[key_]; }

  const TempDirectory directory_;
  const AttemptKey key_{JobId(7), AttemptNumber(1)};
  std::unique_ptr<StateDirectory> state_;
  std::unique_ptr<PaceSampler> sampler_;
};

TEST_F(PaceSamplerTest, ARankIsWhatItsProcessesRanAndWaitedBetweenTwoLooks) {
  Spend(100, 500'000, 0);
  Spend(110, 0, 0);
  Spend(101, 0, 0);
  Sample(100);
  EXPECT_THAT(Paces(), IsEmpty()) << "one look says nothing";
  Spend(100, 505'000, 0);
  Spend(110, 4'000, 1'000);
  Spend(101, 5'000, 5'000);
  Sample(110);
  const std::vector<RankPace> paces = Paces();
  ASSERT_EQ(paces.size(), 2U);
  EXPECT_EQ(paces[0].step, StepId(1));
  EXPECT_EQ(paces[0].rank, 0U);
  EXPECT_EQ(paces[0].span, seconds(10));
  EXPECT_EQ(paces[0].wanted, 1000U);
  EXPECT_EQ(paces[0].granted, 900U) << "its child counts";
  EXPECT_EQ(paces[1].granted, 500U);
  EXPECT_EQ(paces[1].stolen, std::nullopt);
  EXPECT_EQ(paces[1].cpu_mhz, std::nullopt);
  EXPECT_EQ(paces[1].progress, std::nullopt);
}

TEST_F(PaceSamplerTest, AProcessThatIsNotBelowTheSupervisorIsNoRank) {
  AddProcess(101, 1);
  Sample(100);
  Sample(110);
  ASSERT_EQ(Paces().size(), 1U);
  EXPECT_EQ(Paces()[0].rank, 0U);
  std::filesystem::remove_all(proc() + "/100");
  Sample(120);
  EXPECT_THAT(Paces(), IsEmpty()) << "it has ended";
}

TEST_F(PaceSamplerTest, AKernelThatKeepsNoTimesLeavesTheRankUnknown) {
  Sample(100);
  Sample(110);
  ASSERT_EQ(Paces().size(), 2U);
  EXPECT_EQ(Paces()[0].wanted, std::nullopt);
  EXPECT_EQ(Paces()[0].granted, std::nullopt);
}

TEST_F(PaceSamplerTest, StepsThatAProcessOfARankSaidAreTheRanks) {
  Sample(100);
  for (int second = 110; second <= 150; second += 10) {
    ReportedValues said;
    said.marks = {{{0, 0, 110}, 2.0 * second, Time(seconds(second))},
                  {{0, 0, 555}, 9.0 * second, Time(seconds(second))}};
    ASSERT_TRUE(WriteReported(state_->Attempt(key_).Reported(), said).ok());
    Sample(second);
  }
  EXPECT_EQ(Paces()[0].progress, 2'000'000U);
  EXPECT_EQ(Paces()[1].progress, std::nullopt);
}

TEST_F(PaceSamplerTest, StepsSaidForARankByProcessesThatHaveEndedAreTheRanks) {
  Sample(100);
  for (int second = 110; second <= 150; second += 10) {
    ReportedValues said;
    said.marks = {{{1, 1, 0}, 3.0 * second, Time(seconds(second))},
                  {{2, 0, 0}, 9.0 * second, Time(seconds(second))}};
    ASSERT_TRUE(WriteReported(state_->Attempt(key_).Reported(), said).ok());
    Sample(second);
  }
  EXPECT_EQ(Paces()[0].progress, std::nullopt) << "that step is another";
  EXPECT_EQ(Paces()[1].progress, 3'000'000U);
}

TEST_F(PaceSamplerTest, AGpuIsToldFromTheSecondLookOn) {
  topology::GpuReading gpu;
  gpu.uuid = "GPU-a";
  gpu.busy_percent = 100;
  gpu.clock_mhz = 1395;
  gpu.counters = topology::GpuCounters{.sm_active = 0.987};
  Sample(100, {gpu});
  EXPECT_EQ(sampler_->PaceOf("GPU-a"), std::nullopt);
  Sample(110, {gpu});
  ASSERT_TRUE(sampler_->PaceOf("GPU-a").has_value());
  EXPECT_EQ(sampler_->PaceOf("GPU-a")->clock_mhz, 1395U);
  EXPECT_EQ(sampler_->PaceOf("GPU-a")->work, 987U);
  EXPECT_EQ(sampler_->PaceOf("GPU-b"), std::nullopt);
  Sample(120);
  EXPECT_EQ(sampler_->PaceOf("GPU-a"), std::nullopt) << "it is gone";
}

topology::GpuReading Counted(const std::string& uuid, double sm_active) {
  topology::GpuReading gpu;
  gpu.uuid = uuid;
  gpu.counters = topology::GpuCounters{.sm_active = sm_active, .dram_active = 0.25, .pcie = 1000.0};
  return gpu;
}

TEST_F(PaceSamplerTest, WhatTheCountersOfARanksGpusSayIsTheRanks) {
  topology::GpuReading plain;
  plain.uuid = "GPU-b";
  plain.busy_percent = 100;
  Sample(100, {Counted("GPU-a", 0.9), plain});
  EXPECT_EQ(sampler_->WorkOf("GPU-a"), std::nullopt) << "nothing is known of before";
  Sample(110, {Counted("GPU-a", 0.5), plain});
  Sample(130, {Counted("GPU-a", 0.8), plain});
  EXPECT_EQ(sampler_->WorkOf("GPU-a")->counted, seconds(20));
  EXPECT_EQ(sampler_->WorkOf("GPU-a")->sm_active, seconds(16));
  EXPECT_EQ(sampler_->WorkOf("GPU-b"), std::nullopt) << "it has no counters";
  const GpuRecord record = ReadGpuRecord(state_->Attempt(key_).Gpus());
  ASSERT_EQ(record.work.size(), 1U) << "of the other rank nothing is known, and that is not 0";
  const GpuWork& work = record.work.at({1, 0});
  EXPECT_EQ(work.counted, seconds(30));
  EXPECT_EQ(work.sm_active, seconds(5 + 16));
  EXPECT_EQ(work.dram_active, Duration(7500));
  EXPECT_EQ(work.pcie_bytes, Bytes(30'000));
  EXPECT_EQ(work.nvlink_bytes, std::nullopt);
}

TEST_F(PaceSamplerTest, WhatARankDidStaysWhenItHasEndedAndTheNextAgentGoesOnFromIt) {
  Sample(100, {Counted("GPU-a", 0.5)});
  Sample(110, {Counted("GPU-a", 0.5)});
  std::filesystem::remove_all(proc() + "/100");
  Sample(120, {Counted("GPU-a", 0.5)});
  const auto counted = [this] {
    return ReadGpuRecord(state_->Attempt(key_).Gpus()).work.at({1, 0}).counted;
  };
  EXPECT_EQ(counted(), seconds(10)) << "it was not there at the last look";
  AddProcess(100, 90);
  sampler_ = std::make_unique<PaceSampler>(*state_, proc(), directory_ / "cpus");
  Sample(200, {Counted("GPU-a", 0.5)});
  Sample(205, {Counted("GPU-a", 0.5)});
  EXPECT_EQ(counted(), seconds(15));
}

TEST_F(PaceSamplerTest, AScriptHasWhatItsGpusDid) {
  JournalWriter writer =
      JournalWriter::Open(state_->Attempt(key_).Journal(), key_.job, key_.attempt).value();
  RankBinding script;
  script.pid = 95;
  script.gpus = {"GPU-a", "GPU-b"};
  ASSERT_TRUE(writer.Append(BindingRead{Time(), {script}}).ok());
  AddProcess(95, 90);
  Sample(100, {Counted("GPU-a", 1), Counted("GPU-b", 0)});
  Sample(110, {Counted("GPU-a", 1), Counted("GPU-b", 0)});
  Sample(120, {Counted("GPU-a", 1), Counted("GPU-b", 0)});
  const GpuWork work = ReadGpuRecord(state_->Attempt(key_).Gpus()).work.at({0, 0});
  EXPECT_EQ(work.counted, seconds(40)) << "of both GPUs";
  EXPECT_EQ(work.sm_active, seconds(20));
  EXPECT_EQ(Paces().size(), 2U) << "it is no rank";
}

}  // namespace
}  // namespace muster::agent
