#include "agent/gpu_division.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::agent {
namespace {

TEST(GpuDivision, ItsRecordIsReadAsItWasWritten) {
  TempDirectory directory;
  EXPECT_EQ(ReadDivision(directory.path()).last.number, 0U);
  DivisionRecord record{{17, "it is\nin use"}, {"GPU-b", "MIG-a1"}};
  ASSERT_TRUE(WriteDivision(directory.path(), record).ok());
  const DivisionRecord read = ReadDivision(directory.path());
  EXPECT_EQ(read.last.number, 17U);
  EXPECT_EQ(read.last.text.find('\n'), std::string::npos);
  EXPECT_EQ(read.gpus, record.gpus);
  std::ofstream(directory / "gpu-division") << "not a number\n\n";
  EXPECT_EQ(ReadDivision(directory.path()).last.number, 0U);
}

TEST(GpuDivision, AGpuThatAnAttemptHasIsNotTouched) {
  Machine machine;
  machine.gpus.resize(2);
  machine.gpus[0].uuid = "GPU-a";
  machine.gpus[1].uuid = "MIG-b1";
  machine.gpus[1].parent = "GPU-b";
  for (const char* uuid : {"GPU-a", "GPU-b"}) {
    machine.mig.emplace_back().whole.uuid = uuid;
  }
  KnownAttempt attempt;
  attempt.job = JobId(4);
  attempt.allocation.gpus = {{1, kWholeGpu}};
  EXPECT_EQ(WhyNotDivided(machine, {attempt}, "GPU-a"), "");
  EXPECT_EQ(WhyNotDivided(machine, {attempt}, "GPU-b"), "job 4 uses it");
  attempt.ended = true;
  EXPECT_EQ(WhyNotDivided(machine, {attempt}, "GPU-b"), "");
  EXPECT_EQ(WhyNotDivided(machine, {}, "GPU-c"), "this node has no such GPU that MIG can divide");
}

TEST(GpuDivision, ARefusalIsWhatBecameOfTheOrder) {
  LayoutOrder order;
  order.number = 3;
  EXPECT_EQ(Divide(Machine(), order, "job 4 uses it"), (LayoutReport{3, "job 4 uses it"}));
}

}  // namespace
}  // namespace muster::agent
