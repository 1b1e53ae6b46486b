#include "agent/node_samples.h"

#include <gtest/gtest.h>

#include <chrono>
#include <ctime>
#include <vector>

#include "agent/supervisor/attempt/journal.h"
#include "agent/supervisor/attempt/reported_values.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::agent {
namespace {

// A GPU that is busy and clocks low.
class BusyMeter final : public topology::GpuMeter {
 public:
  std::vector<topology::GpuReading> Read() override {
    topology::GpuReading gpu;
    gpu.uuid = "GPU-a";
    gpu.busy_percent = 100;
    gpu.clock_mhz = 1395;
    return {gpu};
  }
};

class NodeSamplesTest : public ::testing::Test {
 protected:
  NodeSamplesTest() : state_(StateDirectory::Open(directory_ / "agent").value()) {}

  const TempDirectory directory_;
  const SystemClock clock_;
  const Machine machine_;
  StateDirectory state_;
  const AttemptKey key_{JobId(7), AttemptNumber(1)};
};

TEST_F(NodeSamplesTest, WhatAnAttemptUsedAndSaidIsToldAndOnceThatItIsGone) {
  NodeSamples samples(machine_, state_, clock_, {});
  ASSERT_TRUE(state_.MakeAttempt(key_).ok());
  samples.Take({}, "n1");
  EXPECT_FALSE(samples.Tell().has_value()) << "there is nothing to tell";
  ReportedValues said;
  said.values = {{"loss", 0.5, Time(Duration(1)), 3}};
  ASSERT_TRUE(WriteReported(state_.Attempt(key_).Reported(), said).ok());
  samples.Take({{key_, {}}}, "n1");
  const wire::UsageSamples told = samples.Tell().value();
  ASSERT_EQ(told.attempts_size(), 1);
  EXPECT_EQ(told.attempts(0).job(), 7U);
  ASSERT_EQ(told.attempts(0).reported_size(), 1);
  EXPECT_EQ(told.attempts(0).reported(0).last(), 0.5);
  EXPECT_EQ(told.attempts(0).ranks_size(), 0);
  samples.Take({}, "n1");
  ASSERT_TRUE(samples.Tell().has_value());
  EXPECT_FALSE(samples.Tell().has_value());
}

TEST_F(NodeSamplesTest, AGpuIsToldAtOnceAndItsPaceFromTheSecondLookOn) {
  BusyMeter meter;
  NodeSamples samples(machine_, state_, clock_, {.gpus = &meter});
  samples.Take({}, "n1");
  EXPECT_FALSE(samples.Tell().value().gpus(0).has_pace());
  timespec pause{0, 5'000'000};
  nanosleep(&pause, nullptr);
  samples.Take({}, "n1");
  const wire::UsageSamples told = samples.Tell().value();
  EXPECT_EQ(told.gpus(0).busy(), 100U);
  EXPECT_EQ(told.gpus(0).pace().clock_mhz(), 1395U);
  EXPECT_FALSE(told.gpus(0).pace().has_brakes());
}

// A GPU with counters, of which the driver tells what the test has it tell.
class ToldMeter final : public topology::GpuMeter {
 public:
  ToldMeter() {
    gpu.uuid = "GPU-a";
    gpu.counters = topology::GpuCounters{.sm_active = 0.5};
  }
  std::vector<topology::GpuReading> Read() override { return {gpu}; }
  topology::GpuReading gpu;
};

TEST_F(NodeSamplesTest, AnErrorThatEndsAnAttemptIsInTheReportOfItsEnd) {
  ToldMeter meter;
  NodeSamples samples(machine_, state_, clock_, {.gpus = &meter});
  ASSERT_TRUE(state_.MakeAttempt(key_).ok());
  JournalWriter journal =
      JournalWriter::Open(state_.Attempt(key_).Journal(), key_.job, key_.attempt).value();
  RunStarted started;
  started.time = clock_.Now() - std::chrono::seconds(5);
  ASSERT_TRUE(journal.Append(started).ok());
  RankBinding rank;
  rank.step = StepId(1);
  rank.rank = 3;
  rank.pid = 1;
  rank.gpus = {"GPU-a"};
  ASSERT_TRUE(journal.Append(BindingRead{clock_.Now(), {rank}}).ok());
  EXPECT_TRUE(samples.Take({{key_, {}}}, "n1").empty());
  meter.gpu.xid_counts[79] = 1;
  meter.gpu.breaking_xid = 79;
  meter.gpu.breaking_xids = 1;
  EXPECT_EQ(samples.LookForErrors().size(), 1U) << "before the next sample";
  RunEnded end;
  end.time = clock_.Now();
  samples.Complete(key_, "n1", end);
  ASSERT_EQ(end.gpu_errors.size(), 1U);
  EXPECT_EQ(end.gpu_errors[0], "rank 3 on n1 met XID 79 (GPU has fallen off the bus) on GPU GPU-a");
  EXPECT_TRUE(samples.Take({}, "n1").empty()) << "it is told once";
}

TEST_F(NodeSamplesTest, WhatAnAttemptMetIsKeptForTheNextAgent) {
  ToldMeter meter;
  ASSERT_TRUE(state_.MakeAttempt(key_).ok());
  JournalWriter journal =
      JournalWriter::Open(state_.Attempt(key_).Journal(), key_.job, key_.attempt).value();
  RunStarted started;
  started.time = clock_.Now() - std::chrono::seconds(5);
  ASSERT_TRUE(journal.Append(started).ok());
  RankBinding script;
  script.pid = 1;
  script.gpus = {"GPU-a"};
  ASSERT_TRUE(journal.Append(BindingRead{clock_.Now(), {script}}).ok());
  NodeAllocation part;
  part.gpus = {{0, kWholeGpu}};
  {
    NodeSamples samples(machine_, state_, clock_, {.gpus = &meter});
    meter.gpu.xid_counts[31] = 1;
    samples.Take({{key_, {&part, "", 0}}}, "n1");
  }
  meter.gpu.xid_counts.clear();
  const NodeSamples next(machine_, state_, clock_, {.gpus = &meter});
  RunEnded end;
  next.Complete(key_, "n1", end);
  ASSERT_EQ(end.gpu_errors.size(), 1U);
  EXPECT_EQ(end.gpu_errors[0], "the script on n1 met XID 31 (GPU memory page fault) on GPU GPU-a");
}

}  // namespace
}  // namespace muster::agent
