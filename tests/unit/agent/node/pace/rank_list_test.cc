#include "agent/node/pace/rank_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Key;

RankBinding Bound(std::uint32_t step, std::uint32_t rank, std::uint32_t pid) {
  RankBinding binding;
  binding.step = StepId(step);
  binding.rank = rank;
  binding.pid = pid;
  binding.cpus = CpuSet::Of({rank});
  return binding;
}

TEST(RankList, RanksOfStepsAreListedUntilTheirStepHasEndedAndTheScriptIsNone) {
  const TempDirectory directory;
  const std::string path = directory / "journal";
  RankList list(path);
  EXPECT_THAT(list.Read(), IsEmpty()) << "no journal yet";
  JournalWriter writer = JournalWriter::Open(path, JobId(7), AttemptNumber(1)).value();
  ASSERT_TRUE(writer.Append(BindingRead{Time(), {Bound(0, 0, 50), Bound(1, 0, 100)}}).ok());
  EXPECT_THAT(list.Read(), ElementsAre(Key(RankName{1, 0})));
  ASSERT_TRUE(writer.Append(BindingRead{Time(), {Bound(1, 1, 101), Bound(2, 0, 200)}}).ok());
  const auto& ranks = list.Read();
  EXPECT_THAT(ranks, ElementsAre(Key(RankName{1, 0}), Key(RankName{1, 1}), Key(RankName{2, 0})));
  EXPECT_EQ(ranks.at({1, 1}).pid, 101);
  EXPECT_EQ(ranks.at({1, 1}).cpus, CpuSet::Of({1}));
  ASSERT_TRUE(writer.Append(StepEnded{StepId(1), Time(), {}, {}}).ok());
  EXPECT_THAT(list.Read(), ElementsAre(Key(RankName{2, 0})));
}

}  // namespace
}  // namespace muster::agent
