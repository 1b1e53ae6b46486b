#include "daemon/store/rows/step_rows.h"

#include <gtest/gtest.h>

#include <csignal>

#include "tests/unit/daemon/store/store_rig.h"

namespace muster::daemon {
namespace {

// CPU times in milliseconds, memory in bytes.
Usage UsageOf(int user, int system, std::uint64_t memory) {
  Usage usage;
  usage.user_cpu = Duration(user);
  usage.system_cpu = Duration(system);
  usage.peak_memory = Bytes(memory);
  return usage;
}

class StepRowsTest : public StoreTest {
 protected:
  void SetUp() override { Open(); }
};

TEST_F(StepRowsTest, StepsSumTheirNodesAndKeepTheEarliestFailure) {
  const JobSubmitted event = Submitted(1, "");
  StepEnded one{StepId(1), At(7), {RankExit{0, {0, 0}, At(7), ""}}, UsageOf(5, 1, 10)};
  StepEnded two{StepId(1), At(9), {RankExit{1, {3, 0}, At(9), ""}}, UsageOf(6, 1, 8)};
  StepEnded three{StepId(1), At(8), {RankExit{2, {4, 0}, At(8), ""}}, {}};
  Commit(make_.Of({event, RunReported{NodeId(1), {JobId(1), AttemptNumber(1), 1, one}},
                   RunReported{NodeId(2), {JobId(1), AttemptNumber(1), 1, two}},
                   RunReported{NodeId(3), {JobId(1), AttemptNumber(1), 1, three}}}));
  EXPECT_EQ(Count("SELECT ended FROM steps"), 9);
  EXPECT_EQ(Count("SELECT exit_code FROM steps"), 4) << "the report of it came later";
  EXPECT_EQ(Count("SELECT text = 'rank 2 on 3' FROM steps"), 1);
  EXPECT_EQ(Count("SELECT user_cpu_ms FROM steps"), 11);
  EXPECT_EQ(Count("SELECT peak_memory FROM steps"), 10);
}

TEST_F(StepRowsTest, ARankThatWasEndedForAnothersFailureIsNotTheFirst) {
  const JobSubmitted event = Submitted(1, "");
  const StepEnded ended{StepId(1), At(7), {RankExit{0, {0, SIGKILL}, At(7), ""}}, {}};
  const StepEnded failed{StepId(1), At(7), {RankExit{1, {0, SIGSEGV}, At(7), ""}}, {}};
  Commit(make_.Of({event, RunReported{NodeId(1), {JobId(1), AttemptNumber(1), 1, ended}},
                   RunReported{NodeId(2), {JobId(1), AttemptNumber(1), 1, failed}}}));
  EXPECT_EQ(Count("SELECT exit_signal FROM steps"), SIGSEGV) << "in the same millisecond";
  EXPECT_EQ(Count("SELECT text = 'rank 1 on 2' FROM steps"), 1);
}

}  // namespace
}  // namespace muster::daemon
