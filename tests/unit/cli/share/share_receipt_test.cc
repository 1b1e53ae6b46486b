#include "cli/share/share_receipt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "scheduler/core/share/decay.h"

namespace muster::cli {
namespace {

using ::testing::HasSubstr;

constexpr Duration kDay = std::chrono::hours(24);

Time Day(int day) {
  return Time(std::chrono::hours(24) * day);
}

// Ada ran for a day, two half-lives and one ago; bob has used nothing.
Shares TwoUsers() {
  Shares shares;
  shares.now = Day(1002);
  shares.half_life = kDay;
  shares.associations = {{"ada", "root", ShareCount(1), {}}, {"bob", "root", ShareCount(1), {}}};
  shares.runs = {{"", {}}};
  for (int i = 0; i < 2; ++i) {
    const ChargedRun run{JobId(static_cast<std::uint64_t>(i) + 1), BillingRate(4'000'000),
                         Day(999 + i), Day(1000 + i)};
    shares.runs[0].runs.push_back(run);
    DecayedUsage& usage = shares.associations[0].usage;
    usage = core::Charge(usage, run, kDay);
  }
  return shares;
}

std::uint64_t Millionths(const std::string& text) {
  const std::size_t point = text.find('.');
  std::string part = point == std::string::npos ? "" : text.substr(point + 1);
  part.resize(6, '0');
  return std::stoull(text.substr(0, point)) * 1'000'000 + std::stoull(part);
}

TEST(ShareReceipt, ItsLinesAddUpToTheUsageToTheLastDigit) {
  const Shares shares = TwoUsers();
  const auto document = nlohmann::json::parse(*ReceiptsDocument(shares, "ada"));
  const auto& receipt = document["receipts"][0];
  ASSERT_EQ(receipt["runs"].size(), 2U);
  std::uint64_t sum = Millionths(receipt["earlier"]);
  for (const auto& run : receipt["runs"]) {
    sum += Millionths(run["part"]);
  }
  EXPECT_EQ(sum, Millionths(receipt["total"]));
  EXPECT_EQ(sum, core::ShownAt(shares.associations[0].usage, shares.now, shares.half_life).value());
  const std::uint64_t first = Millionths(receipt["runs"][0]["part"]);
  const std::uint64_t second = Millionths(receipt["runs"][1]["part"]);
  EXPECT_NEAR(static_cast<double>(second), 2.0 * static_cast<double>(first), 2.0)
      << "a day later, twice as much is left";
}

TEST(ShareReceipt, SaysTheRankThatTheUsageCosts) {
  const auto page = PrintReceipts(TwoUsers(), "ada", Style());
  ASSERT_TRUE(page.ok()) << page.status();
  EXPECT_THAT(*page, HasSubstr("rank 1 of 2; without this usage 2, it costs 1 rank"));
  EXPECT_THAT(*PrintReceipts(TwoUsers(), "bob", Style()), HasSubstr("this usage costs no rank"));
}

TEST(ShareReceipt, ClassicFairshareHasNoRanks) {
  Shares shares = TwoUsers();
  shares.algorithm = Shares::kClassic;
  const auto document = nlohmann::json::parse(*ReceiptsDocument(shares, "ada"));
  EXPECT_EQ(document["receipts"][0]["rank"], nullptr);
}

TEST(ShareReceipt, WhatIsOlderThanTheRunsIsTheRemainder) {
  Shares shares = TwoUsers();
  shares.runs[0].runs.erase(shares.runs[0].runs.begin());
  const auto document = nlohmann::json::parse(*ReceiptsDocument(shares, "ada"));
  EXPECT_GT(Millionths(document["receipts"][0]["earlier"]), 0U);
}

TEST(ShareReceipt, AnUnknownUserIsToldSo) {
  const auto page = PrintReceipts(TwoUsers(), "eve", Style());
  EXPECT_EQ(page.status().message(),
            "user eve: has no share and has used nothing here; see muster share");
}

}  // namespace
}  // namespace muster::cli
