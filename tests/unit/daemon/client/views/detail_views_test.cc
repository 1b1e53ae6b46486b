#include "daemon/client/views/detail_views.h"

#include <gmock/gmock.h>

namespace muster::daemon {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// With 1000 ranks, of which the last two are not where they were planned.
JobDetail Wide() {
  JobDetail detail;
  AttemptView& attempt = detail.attempts.emplace_back();
  for (std::uint32_t rank = 0; rank < 1000; ++rank) {
    attempt.ranks.emplace_back().rank = rank;
    attempt.ranks.back().verdict = rank < 998 ? "verified" : "differs";
  }
  return detail;
}

std::vector<std::uint32_t> Page(std::uint32_t from, std::uint32_t limit) {
  JobDetail detail = Wide();
  ShowJob asked;
  asked.ranks_from = from;
  asked.ranks_limit = limit;
  TakePage(asked, detail);
  EXPECT_EQ(detail.attempts[0].rank_count, 1000U);
  EXPECT_EQ(detail.attempts[0].ranks_differ, 2U) << "of all, whatever the page is";
  std::vector<std::uint32_t> ranks;
  for (const RankView& rank : detail.attempts[0].ranks) {
    ranks.push_back(rank.rank);
  }
  return ranks;
}

TEST(DetailViews, EveryRankIsOnOnePage) {
  std::vector<std::uint32_t> seen;
  for (std::uint32_t from = 0; from < 1000; from += 300) {
    const std::vector<std::uint32_t> page = Page(from, 300);
    EXPECT_EQ(page.size(), from == 900 ? 100U : 300U);
    seen.insert(seen.end(), page.begin(), page.end());
  }
  EXPECT_EQ(seen, Page(0, 0)) << "without a limit all are there";
  EXPECT_EQ(seen.size(), 1000U);
}

TEST(DetailViews, APageBeyondTheLastRankIsEmpty) {
  EXPECT_THAT(Page(998, 512), ElementsAre(998, 999));
  EXPECT_THAT(Page(1000, 512), IsEmpty());
  EXPECT_THAT(Page(4'000'000'000, 0), IsEmpty());
}

TEST(DetailViews, TheDigestIsThatOfTheImageThatRanLast) {
  JobDetail detail;
  detail.container = ContainerView{.image = "alpine:3"};
  AddDigest(detail);
  EXPECT_EQ(detail.container->digest, "");
  detail.attempts.emplace_back().image = "sha256:1";
  detail.attempts.emplace_back().image = "sha256:2";
  AddDigest(detail);
  EXPECT_EQ(detail.container->digest, "sha256:2");
}

TEST(DetailViews, WhatIsConcealedSaysNothingOfFilesAndAddresses) {
  JobDetail detail;
  detail.job.name = "kept";
  detail.work_dir = detail.stdout_path = detail.stderr_path = detail.submit_host = "canary";
  detail.recorded = detail.record = detail.node_data = {"canary"};
  detail.container = ContainerView{.image = "canary"};
  detail.attempts.emplace_back().data = "found at canary";
  Conceal(detail);
  JobDetail rest;
  rest.job.name = "kept";
  rest.attempts.emplace_back();
  EXPECT_EQ(detail, rest);
}

}  // namespace
}  // namespace muster::daemon
