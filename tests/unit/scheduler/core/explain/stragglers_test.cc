#include "scheduler/core/explain/stragglers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace muster::core {
namespace {

using std::chrono::seconds;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A rank of step 1 that was looked at for a minute and wants a CPU.
PacedRank Rank(std::uint32_t rank, std::optional<std::uint32_t> granted = std::nullopt) {
  PacedRank paced;
  paced.step = StepId(1);
  paced.rank = rank;
  paced.node = absl::StrCat("n", rank / 4);
  paced.pace.emplace();
  paced.pace->step = StepId(1);
  paced.pace->rank = rank;
  paced.pace->span = seconds(60);
  paced.pace->looks = 6;
  paced.pace->wanted = 1000;
  paced.pace->granted = granted;
  return paced;
}

// The same with a GPU of its own that was busy for the minute.
PacedRank GpuRank(std::uint32_t rank, std::uint32_t mhz, const std::string& model = "H200") {
  PacedRank paced = Rank(rank);
  GpuPace pace;
  pace.span = pace.busy = seconds(60);
  pace.looks = 6;
  pace.clock_mhz = mhz;
  pace.clock_most_mhz = 1980;
  paced.gpus.push_back({absl::StrCat("GPU-0000000", rank, "-long"), model, pace});
  return paced;
}

std::vector<PacedRank> GpuRanks(const std::vector<std::uint32_t>& clocks) {
  std::vector<PacedRank> ranks;
  for (const std::uint32_t mhz : clocks) {
    ranks.push_back(GpuRank(static_cast<std::uint32_t>(ranks.size()), mhz));
  }
  return ranks;
}

std::vector<std::uint32_t> Found(const std::vector<PacedRank>& ranks) {
  std::vector<std::uint32_t> found;
  const StragglersView view = FindStragglers(ranks).value();
  for (const StragglerView& rank : view.found) {
    found.push_back(rank.rank);
  }
  return found;
}

TEST(Stragglers, AGpuThatClocksLowerThanItsPeersIsNamedWithNodeClockBrakeAndLink) {
  std::vector<PacedRank> ranks = GpuRanks({1980, 1980, 1965, 1980, 1980, 1395, 1980, 1980});
  ranks[5].gpus[0].pace->brakes = kBrakePower;
  ranks[5].gpus[0].pace->link = GpuLink{5, 16, 18};
  ranks[5].nic = "mlx5_1";
  const StragglersView view = FindStragglers(ranks).value();
  EXPECT_EQ(view.ranks, 8U);
  EXPECT_EQ(view.judged, 8U);
  EXPECT_EQ(view.span, seconds(60));
  ASSERT_EQ(view.found.size(), 1U);
  const StragglerView& slow = view.found[0];
  EXPECT_EQ(slow.rank, 5U);
  EXPECT_EQ(slow.node, "n1");
  EXPECT_EQ(slow.measure, "gpu_clock");
  EXPECT_EQ(slow.value, 1395);
  EXPECT_EQ(slow.median, 1980);
  EXPECT_EQ(slow.unit, "MHz");
  EXPECT_EQ(slow.percent, 29U);
  EXPECT_EQ(slow.gpu, "GPU-00000005-long");
  EXPECT_EQ(slow.gpu_clock_mhz, 1395U);
  EXPECT_EQ(slow.gpu_clock_most_mhz, 1980U);
  EXPECT_THAT(slow.brakes, ElementsAre("power limit"));
  EXPECT_EQ(slow.text,
            "rank 5 on n1: GPU clock 1395 MHz, 29 % below the median of 8 GPUs of its step, 1980 "
            "MHz; GPU-00000005, which can do 1980 MHz, held down by: power limit; PCIe 5 x16, 18 "
            "NVLinks up, NIC mlx5_1");
  EXPECT_EQ(StragglerWarning(view), "a rank is slower than the peers: " + slow.text);
}

TEST(Stragglers, OfTwoRanksTheFasterIsWhatTheOtherIsHeldTo) {
  EXPECT_THAT(Found(GpuRanks({1980, 1600})), ElementsAre(1));
  EXPECT_THAT(Found(GpuRanks({1600, 1980})), ElementsAre(0));
  EXPECT_THAT(Found(GpuRanks({1980, 1800})), IsEmpty()) << "less than 10 %";
  EXPECT_THAT(Found(GpuRanks({1980, 1782})), ElementsAre(1)) << "10 %";
}

TEST(Stragglers, WhatLiesWithinTheSpreadOfThePeersIsNone) {
  EXPECT_THAT(Found(GpuRanks({1900, 1600, 1750, 1500, 1850, 1650, 1700, 1550})), IsEmpty());
  EXPECT_THAT(Found(GpuRanks({1700, 1690, 1710, 1705, 1695, 1500, 1700, 1700})), ElementsAre(5));
}

TEST(Stragglers, ARankFromWhichOthersTakeItsCpuIsNamedByTheTimeThatItWasGranted) {
  std::vector<PacedRank> ranks = {Rank(0, 995), Rank(1, 510), Rank(2, 990)};
  const StragglersView view = FindStragglers(ranks).value();
  ASSERT_EQ(view.found.size(), 1U);
  EXPECT_EQ(view.found[0].measure, "cpu_time");
  EXPECT_EQ(view.found[0].value, 51);
  EXPECT_EQ(view.found[0].text,
            "rank 1 on n0: CPU time 51 %, 48 % below the median of 3 ranks of its step, 99 %");
  EXPECT_THAT(view.measures, ElementsAre("cpu_time"));
  EXPECT_THAT(view.unknown, Contains("progress: its programs report no steps"));
  ranks[1].pace->granted = 990;
  EXPECT_THAT(Found(ranks), IsEmpty());
  ranks[2].pace->stolen = 300;
  EXPECT_THAT(Found(ranks), ElementsAre(2)) << "the host of the machine took it";
}

TEST(Stragglers, ARankThatWantsNoCpuIsNotHeldToThoseThatDo) {
  std::vector<PacedRank> ranks = {Rank(0, 995), Rank(1, 510)};
  ranks[1].pace->wanted = kWantedLeast - 1;
  const StragglersView view = FindStragglers(ranks).value();
  EXPECT_THAT(view.found, IsEmpty());
  EXPECT_EQ(view.judged, 0U);
}

TEST(Stragglers, ProgressGoesBeforeWhatExplainsIt) {
  std::vector<PacedRank> ranks = GpuRanks({1980, 1980, 1500});
  for (PacedRank& rank : ranks) {
    rank.pace->progress = 8'300'000;
  }
  ranks[2].pace->progress = 4'100'000;
  ranks[2].pace->granted = 990;
  const StragglersView view = FindStragglers(ranks).value();
  ASSERT_EQ(view.found.size(), 1U);
  EXPECT_EQ(view.found[0].measure, "progress");
  EXPECT_THAT(view.found[0].also, ElementsAre("gpu_clock"));
  EXPECT_EQ(view.found[0].text,
            "rank 2 on n0: progress 4.1 steps/s, 50 % below the median of 3 ranks of its step, 8.3 "
            "steps/s; GPU-00000002 at 1500 MHz, which can do 1980 MHz; its GPU clock, too");
}

TEST(Stragglers, WhoWaitsLeastIsSuspectedAndNoWarning) {
  std::vector<PacedRank> ranks = GpuRanks({1980, 1980, 1980, 1980});
  for (PacedRank& rank : ranks) {
    rank.gpus[0].pace->work = 600;
  }
  ranks[3].gpus[0].pace->work = 920;
  const StragglersView view = FindStragglers(ranks).value();
  ASSERT_EQ(view.found.size(), 1U);
  EXPECT_EQ(view.found[0].rank, 3U);
  EXPECT_TRUE(view.found[0].suspected);
  EXPECT_EQ(view.found[0].percent, 32U);
  EXPECT_THAT(view.found[0].text, HasSubstr("its GPU has no work for 8 % of the time, where the "
                                            "median of 4 GPUs of its step is 40 %"));
  EXPECT_EQ(StragglerWarning(view), "");
  ranks[3].gpus[0].pace->clock_mhz = 1500;
  EXPECT_THAT(FindStragglers(ranks)->found[0].text, HasSubstr("; it waits least"));
  EXPECT_FALSE(FindStragglers(ranks)->found[0].suspected);
}

TEST(Stragglers, GpusOfOneModelAreComparedAndThoseThatSeveralRanksHaveAreNot) {
  std::vector<PacedRank> ranks = GpuRanks({1980, 1980});
  ranks.push_back(GpuRank(2, 1410, "A100"));
  ranks.push_back(GpuRank(3, 1410, "A100"));
  EXPECT_THAT(Found(ranks), IsEmpty());
  ranks[3].gpus[0].pace->clock_mhz = 900;
  EXPECT_THAT(Found(ranks), ElementsAre(3));
  ranks[2].gpus = ranks[3].gpus;
  EXPECT_THAT(Found(ranks), IsEmpty()) << "whose clock is it";
}

TEST(Stragglers, AGpuThatIsIdleOrWasSeenAtWorkTooSeldomIsNotJudged) {
  std::vector<PacedRank> ranks = GpuRanks({1980, 345});
  ranks[1].gpus[0].pace->looks = kPacedLooksLeast - 1;
  EXPECT_THAT(Found(ranks), IsEmpty());
  ranks[1].gpus[0].pace->looks = 6;
  ranks[1].gpus[0].pace->busy = seconds(29);
  EXPECT_THAT(Found(ranks), IsEmpty());
  const StragglersView view = FindStragglers(ranks).value();
  EXPECT_EQ(view.judged, 0U);
  EXPECT_THAT(view.unknown, Contains(HasSubstr("GPU clock: ")));
  ranks[1].gpus[0].pace->busy = seconds(30);
  EXPECT_THAT(Found(ranks), ElementsAre(1));
}

TEST(Stragglers, LessThanAMinuteAndSilenceDecideNothingAndAreNamed) {
  std::vector<PacedRank> ranks = GpuRanks({1980, 1980, 1395, 1980});
  ranks[2].pace->span = seconds(59);
  ranks[3].pace.reset();
  const StragglersView view = FindStragglers(ranks).value();
  EXPECT_THAT(view.found, IsEmpty());
  EXPECT_EQ(view.ranks, 4U);
  EXPECT_EQ(view.judged, 2U);
  EXPECT_THAT(view.unknown, Contains("1 of 4 ranks: nothing is known"));
  EXPECT_THAT(view.unknown, Contains("1 of 4 ranks: looked at for less than a minute"));
}

TEST(Stragglers, RanksOfOtherStepsAreNoPeersAndARankAloneHasNone) {
  std::vector<PacedRank> ranks = GpuRanks({1980, 1395});
  ranks[1].step = StepId(2);
  EXPECT_EQ(FindStragglers(ranks), std::nullopt);
  EXPECT_EQ(FindStragglers({}), std::nullopt);
  ranks = GpuRanks({1980, 1395});
  ranks[0].pace.reset();
  ranks[1].pace.reset();
  EXPECT_EQ(FindStragglers(ranks), std::nullopt) << "its node has told nothing yet";
}

TEST(Stragglers, AWarningNamesThreeAndCountsTheRest) {
  std::vector<std::uint32_t> clocks(16, 1980);
  for (const std::size_t slow : {2, 3, 5, 7, 11}) {
    clocks[slow] = 1200;
  }
  const std::string text = StragglerWarning(FindStragglers(GpuRanks(clocks)).value());
  EXPECT_THAT(text, HasSubstr("5 ranks are slower than the peers: rank 2 on n0: "));
  EXPECT_THAT(text, HasSubstr(" | and 2 more"));
}

std::vector<PacedRank> AnyRanks() {
  const auto clocks =
      *rc::gen::container<std::vector<std::uint32_t>>(rc::gen::inRange<std::uint32_t>(300, 2000));
  return GpuRanks(clocks);
}

RC_GTEST_PROP(Stragglers, WhoIsNamedIsFarBelowTheMedianAndNeverMoreThanHalfInWhateverOrder, ()) {
  std::vector<PacedRank> ranks = AnyRanks();
  RC_PRE(ranks.size() >= 2);
  const std::vector<std::uint32_t> found = Found(ranks);
  RC_ASSERT(2 * found.size() <= ranks.size());
  std::vector<std::uint32_t> clocks;
  for (const PacedRank& rank : ranks) {
    clocks.push_back(*rank.gpus[0].pace->clock_mhz);
  }
  std::vector<std::uint32_t> sorted = clocks;
  std::sort(sorted.begin(), sorted.end());
  const std::uint32_t median = sorted[sorted.size() / 2];
  for (const std::uint32_t rank : found) {
    RC_ASSERT(10 * clocks[rank] <= 9 * median);
  }
  const auto turn = *rc::gen::inRange<std::size_t>(0, ranks.size());
  std::rotate(ranks.begin(), ranks.begin() + static_cast<std::ptrdiff_t>(turn), ranks.end());
  RC_ASSERT(Found(ranks) == found);
}

RC_GTEST_PROP(Stragglers, WhoIsNamedIsStillNamedWhenItBecomesSlower, ()) {
  std::vector<PacedRank> ranks = AnyRanks();
  RC_PRE(ranks.size() >= 2);
  for (const std::uint32_t rank : Found(ranks)) {
    std::uint32_t& clock = *ranks[rank].gpus[0].pace->clock_mhz;
    clock = *rc::gen::inRange<std::uint32_t>(1, clock + 1);
    RC_ASSERT([&] {
      const std::vector<std::uint32_t> now = Found(ranks);
      return std::find(now.begin(), now.end(), rank) != now.end();
    }());
  }
}

}  // namespace
}  // namespace muster::core
