#include "cli/live/rank_sheet.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace muster::cli {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

RankUse Use(std::uint32_t rank, std::uint32_t pid, int cpu_ms, int time_ms) {
  RankUse use;
  use.node = "n1";
  use.step = StepId(2);
  use.rank = rank;
  use.pid = pid;
  use.command = "train";
  use.state = "R";
  use.processes = 1;
  use.threads = 4;
  use.cpus = "0-1";
  use.cpu_time = Duration(cpu_ms);
  use.memory = Bytes(std::uint64_t{3} << 20);
  use.time = Time(Duration(time_ms));
  return use;
}

TEST(RankSheet, HowBusyARankIsFollowsFromTwoLooks) {
  const RankTable before{{Use(0, 10, 1000, 5000), Use(1, 11, 1000, 5000)}, {}};
  const RankTable now{{Use(0, 10, 2500, 6000), Use(1, 99, 5000, 6000)}, {}};
  const std::vector<RankRow> rows = CompareRanks(before, now);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].cpu_percent, 150.0);
  EXPECT_EQ(rows[1].cpu_percent, std::nullopt) << "another process than before";
}

TEST(RankSheet, WhatRanksMoveASecondHasColumnsWhereSomeMoveIt) {
  RankTable before{{Use(0, 10, 1000, 5000), Use(1, 11, 1000, 5000)}, {}};
  RankTable now{{Use(0, 10, 1000, 7000), Use(1, 11, 1000, 7000)}, {}};
  before.ranks[0].sent = kMebibyte * 2;
  now.ranks[0].sent = kMebibyte * 50;
  before.ranks[0].read_bytes = now.ranks[0].read_bytes = kMebibyte;
  before.ranks[1].sent = kMebibyte * 2;
  now.ranks[1].sent = kMebibyte;
  const std::vector<RankRow> rows = CompareRanks(before, now);
  EXPECT_EQ(rows[0].sent, 24.0 * (1 << 20));
  EXPECT_EQ(rows[0].read, 0.0);
  EXPECT_EQ(rows[0].received, std::nullopt) << "nobody could tell";
  EXPECT_EQ(rows[1].sent, std::nullopt) << "a connection of it is closed";
  const std::string page = PrintRanks(rows, {}, Style());
  EXPECT_THAT(page, ContainsRegex("GPU MHz +Sent +Slower"));
  EXPECT_THAT(page, ContainsRegex("n1 +2.0 .* 24 MiB/s"));
}

TEST(RankSheet, WhatGpusCountHasColumnsWhereSomeRankKnowsIt) {
  RankTable now{{Use(0, 10, 1000, 7000), Use(1, 11, 1000, 7000)}, {}};
  EXPECT_THAT(PrintRanks(CompareRanks({}, now), {}, Style()), Not(HasSubstr("SM %")));
  now.ranks[0].gpu_work = GpuRates{Duration(10'000), 0.974, 0, 0.84, 3.0 * (1 << 30), std::nullopt};
  const std::string page = PrintRanks(CompareRanks({}, now), {}, Style());
  EXPECT_THAT(page, ContainsRegex("SM % +Tensor % +GPU band % +NVLink +Slower"));
  EXPECT_THAT(page, ContainsRegex("n1 +2.0 .* 97 +0 +84 +3 GiB/s"));
  EXPECT_THAT(page, ContainsRegex("n1 +2.1 .* - +- +- +-")) << "not known is not 0";
}

TEST(RankSheet, ARankThatIsSlowerThanItsPeersIsMarkedAndALineBelowSaysWhy) {
  RankUse slow = Use(1, 11, 10, 6000);
  slow.gpu_clock = 1395;
  slow.slower = "rank 1 on n1: GPU clock 1395 MHz";
  const std::string page =
      PrintRanks({{Use(0, 10, 10, 6000), std::nullopt}, {slow, std::nullopt}}, {}, Style());
  EXPECT_THAT(page, ContainsRegex("n1 +2.1 +11 .* 1395 +yes"));
  EXPECT_THAT(page, ContainsRegex("\nrank 1 on n1: GPU clock 1395 MHz\n"));
  EXPECT_THAT(page, ContainsRegex("n1 +2.0 +10 .* - *\n"));
}

TEST(RankSheet, ARankStandsInOneRowAndWhatIsNotKnownIsADash) {
  RankUse script = Use(0, 9, 10, 6000);
  script.step = StepId();
  script.state = "S";
  RankUse metered = Use(3, 12, 10, 6000);
  metered.gpu_busy = 87;
  metered.gpu_memory = Bytes(std::uint64_t{2} << 30);
  const std::string page =
      PrintRanks({{script, std::nullopt}, {metered, 99.6}}, {"n2: no answer within 20 s"}, Style());
  EXPECT_THAT(page, ContainsRegex("n1 +script +9 +train +sleeps"));
  EXPECT_THAT(page, HasSubstr("2.3"));
  EXPECT_THAT(page, HasSubstr("100"));
  EXPECT_THAT(page, HasSubstr("87"));
  EXPECT_THAT(page, HasSubstr("n2: no answer within 20 s\n"));
  EXPECT_THAT(PrintRanks({}, {}, Style()), HasSubstr("no process of it runs"));
}

}  // namespace
}  // namespace muster::cli
