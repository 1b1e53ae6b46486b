#include "cli/kernel/timeline_account.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::cli {
namespace {

using ::testing::HasSubstr;

Json OnGpu(const char* category, const char* name, double begin, double length, int gpu = 0) {
  return {{"ph", "X"},   {"cat", category}, {"name", name}, {"pid", gpu},
          {"tid", name}, {"ts", begin},     {"dur", length}};
}

TimelinePart OfRank(int rank, Json events) {
  return {.events = std::move(events), .profiler = true, .rank = rank};
}

TEST(TimelineAccount, ComputeCommunicationCopiesAndIdleAreTheWholeTimeOfAGpu) {
  // 0-40 compute, 20-60 communication beside and after it, 60-70 a copy, 90-100 compute.
  const std::vector<TimelinePart> parts = {
      OfRank(3, Json::array({OnGpu("kernel", "void gemm<float, 4>(float*)", 0, 30e6),
                             OnGpu("kernel", "gelu(float*)", 20e6, 20e6),
                             OnGpu("kernel", "ncclDevKernel_AllReduce_Sum(x)", 20e6, 40e6),
                             OnGpu("gpu_memcpy", "Memcpy HtoD", 55e6, 15e6),
                             OnGpu("kernel", "gelu(float*)", 90e6, 10e6),
                             {{"ph", "X"},
                              {"cat", "cpu_op"},
                              {"name", "aten::mm"},
                              {"pid", 42},
                              {"ts", 0},
                              {"dur", 500e6}},
                             {{"ph", "i"}, {"name", "a mark"}},
                             7}))};
  const std::vector<RankAccount> accounts = AccountsOf(parts);
  ASSERT_EQ(accounts.size(), 1U);
  const RankAccount& account = accounts[0];
  EXPECT_EQ(account.rank, 3);
  EXPECT_DOUBLE_EQ(account.gpu_seconds, 100);
  EXPECT_DOUBLE_EQ(account.compute, 50);
  EXPECT_DOUBLE_EQ(account.communication, 20);
  EXPECT_DOUBLE_EQ(account.hidden, 20);
  EXPECT_DOUBLE_EQ(account.copies, 10);
  EXPECT_DOUBLE_EQ(account.idle, 20);
  ASSERT_EQ(account.most.size(), 3U);
  EXPECT_EQ(account.most[0].name, "ncclDevKernel_AllReduce_Sum");
  EXPECT_EQ(account.most[1].name, "gelu") << "twice; as long as gemm, and before it";
  EXPECT_THAT(AccountPage(accounts, {}),
              HasSubstr("   3  100.000 s     50 %           20 %    10 %  20 %    20 %  "));
}

TEST(TimelineAccount, GpusOfOneRankAddUpAndDoNotHideOneAnother) {
  const std::vector<RankAccount> accounts = AccountsOf({OfRank(
      0, Json::array({OnGpu("kernel", "gemm", 0, 10e6, 0), OnGpu("kernel", "nccl", 0, 10e6, 1)}))});
  EXPECT_DOUBLE_EQ(accounts.at(0).gpu_seconds, 20);
  EXPECT_DOUBLE_EQ(accounts[0].communication, 10);
  EXPECT_DOUBLE_EQ(accounts[0].hidden, 0);
}

TEST(TimelineAccount, RoundingMakesNothingLessThanNothing) {
  const std::vector<RankAccount> accounts = AccountsOf({OfRank(
      0, Json::array({OnGpu("kernel", "gemm", 9000, 9500), OnGpu("kernel", "nccl", 18500, 500)}))});
  EXPECT_THAT(AccountPage(accounts, {}), ::testing::Not(HasSubstr("-0 %")));
  EXPECT_GE(accounts.at(0).hidden, 0);
}

TEST(TimelineAccount, APhaseHasTheTimeThatThoseInsideItHaveNot) {
  const auto phase = [](int rank, const char* name, double begin, double length) {
    return Json{{"ph", "X"}, {"name", name}, {"pid", rank},
                {"tid", 1},  {"ts", begin},  {"dur", length}};
  };
  TimelinePart marker{.events =
                          Json::array({phase(0, "step", 0, 10e6), phase(0, "compute", 1e6, 6e6),
                                       phase(0, "wait", 7e6, 3e6), phase(1, "wait", 0, 1e6)})};
  const std::vector<RankAccount> accounts = AccountsOf({marker});
  ASSERT_EQ(accounts.size(), 2U);
  EXPECT_EQ(accounts[0].most[0].name, "compute");
  EXPECT_DOUBLE_EQ(accounts[0].most[0].seconds, 6);
  EXPECT_DOUBLE_EQ(accounts[0].most[2].seconds, 1) << "the step's own";
  EXPECT_DOUBLE_EQ(accounts[0].seconds, 10);
  EXPECT_EQ(AccountDocument(accounts)[0]["compute"], nullptr) << "no GPU is none that did nothing";
  EXPECT_THAT(AccountPage(accounts, {}), HasSubstr("compute 60 %, wait 30 %, step 10 %"));
}

TEST(TimelineAccount, TheRankThatWaitsLeastIsTheOneThatTheOthersWaitFor) {
  std::vector<TimelinePart> parts;
  for (const int rank : {0, 1, 2, 3}) {
    const double waits = rank == 2 ? 5e6 : 40e6;
    parts.push_back(
        OfRank(rank, Json::array({OnGpu("kernel", "gemm", 0, 100e6 - waits),
                                  OnGpu("kernel", "ncclAllReduce", 100e6 - waits, waits)})));
  }
  EXPECT_EQ(AwaitedRank(AccountsOf(parts)), 2);
  EXPECT_THAT(AccountPage(AccountsOf(parts), {}), HasSubstr("The others wait for rank 2: "));
  parts.erase(parts.begin() + 2);
  EXPECT_EQ(AwaitedRank(AccountsOf(parts)), std::nullopt);
  parts.resize(1);
  EXPECT_EQ(AwaitedRank(AccountsOf(parts)), std::nullopt);
  EXPECT_EQ(AccountPage({}, {}), "");
}

}  // namespace
}  // namespace muster::cli
