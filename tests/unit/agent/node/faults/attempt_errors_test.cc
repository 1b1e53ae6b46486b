#include "agent/node/faults/attempt_errors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <deque>
#include <string>
#include <vector>

#include "agent/supervisor/attempt/journal.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::agent {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

Time At(int second) {
  return Time(seconds(1000 + second));
}

// From 0 on: a script with two GPUs; from 10 to 50 a step with a rank on each of them.
class AttemptErrorsTest : public ::testing::Test {
 protected:
  AttemptErrorsTest() : writer_(JournalWriter::Open(path(), JobId(7), AttemptNumber(1)).value()) {
    RunStarted started;
    started.time = At(0);
    Write(started);
    Read(0, StepId(), 0, {"GPU-a", "GPU-b"});
    Read(10, StepId(1), 0, {"GPU-a"});
    Read(10, StepId(1), 1, {"GPU-b"});
    StepEnded over;
    over.step = StepId(1);
    over.time = At(50);
    Write(over);
  }
  std::string path() const { return directory_ / "journal"; }
  void Write(const Fact& fact) { EXPECT_TRUE(writer_.Append(fact).ok()); }
  void Read(int second, StepId step, std::uint32_t rank, std::vector<std::string> gpus) {
    RankBinding binding;
    binding.step = step;
    binding.rank = rank;
    binding.pid = 100 + rank;
    binding.gpus = std::move(gpus);
    Write(BindingRead{At(second), {binding}});
  }
  std::vector<std::string> Met(const std::string& uuid, int after, int seen) const {
    return ErrorsMet(path(), "n2", {GpuError{uuid, "XID 79", At(after), At(seen)}});
  }

  const TempDirectory directory_;
  JournalWriter writer_;
};

TEST_F(AttemptErrorsTest, TheRankThatHadTheGpuIsNamedAndTheScriptWhereNoneHadIt) {
  EXPECT_THAT(Met("GPU-b", 20, 30), ElementsAre("rank 1 on n2 met XID 79 on GPU GPU-b"));
  EXPECT_THAT(Met("GPU-b", 60, 70), ElementsAre("the script on n2 met XID 79 on GPU GPU-b"));
  EXPECT_THAT(Met("GPU-c", 20, 30), IsEmpty());
}

TEST_F(AttemptErrorsTest, AnErrorThatIsSeenWhenTheStepIsOverMayHaveEndedIt) {
  EXPECT_THAT(Met("GPU-a", 45, 52), ElementsAre("rank 0 on n2 met XID 79 on GPU GPU-a"));
}

TEST_F(AttemptErrorsTest, WhatCameBeforeOrAfterTheAttemptIsNotItsOwn) {
  EXPECT_THAT(Met("GPU-a", -20, -10), IsEmpty());
  RunEnded end;
  end.time = At(80);
  Write(end);
  EXPECT_THAT(Met("GPU-a", 85, 90), IsEmpty());
  EXPECT_THAT(Met("GPU-a", 75, 81), ElementsAre("the script on n2 met XID 79 on GPU GPU-a"));
}

TEST_F(AttemptErrorsTest, OneTextIsToldOnceAndNoMoreThanAreWorthReading) {
  std::deque<GpuError> errors(3, GpuError{"GPU-a", "XID 31", At(20), At(30)});
  for (int i = 0; i < 40; ++i) {
    errors.push_back({"GPU-a", "XID " + std::to_string(100 + i), At(20), At(30)});
  }
  const std::vector<std::string> texts = ErrorsMet(path(), "n2", errors);
  EXPECT_EQ(texts.size(), kTextsMost);
  EXPECT_EQ(texts[1], "rank 0 on n2 met XID 100 on GPU GPU-a");
}

}  // namespace
}  // namespace muster::agent
