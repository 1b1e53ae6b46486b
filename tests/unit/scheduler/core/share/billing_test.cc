#include "scheduler/core/share/billing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

#include "scheduler/model/value/units.h"

namespace muster::core {
namespace {

using ::testing::HasSubstr;

constexpr const char* kWeights = "CPU=1.0,Mem=0.25G,GRES/gpu=2.0,license/licA=1.5";

std::vector<TresWeight> Weights(const char* text = kWeights) {
  return ParseTresWeights(text).value();
}

struct Held {
  std::uint64_t cpus = 0;
  std::uint64_t gibibytes = 0;
  std::uint64_t gpus = 0;
  std::uint64_t licences = 0;
};

std::vector<TresAmount> Amounts(const Held& held) {
  return {{"cpu", held.cpus},
          {"mem", held.gibibytes * kGibibyte.value()},
          {"gres/gpu", held.gpus},
          {"license/licA", held.licences}};
}

// By sum, MAX_TRES and MAX_TRES_GRES, in thousandths.
std::vector<std::uint64_t> Bills(const Held& held, const char* weights = kWeights) {
  std::vector<std::uint64_t> bills;
  for (const BillingRule rule :
       {BillingRule::kSum, BillingRule::kMaxTres, BillingRule::kMaxTresGres}) {
    bills.push_back(Billing(Amounts(held), Weights(weights), rule).value() / 1000);
  }
  return bills;
}

using Numbers = std::vector<std::uint64_t>;

TEST(Billing, TheThreeRulesOnTheDocumentedJobs) {
  EXPECT_EQ(Bills({.cpus = 1, .gibibytes = 8}), Numbers({3000, 2000, 2000}));
  EXPECT_EQ(Bills({.cpus = 1, .gibibytes = 8, .licences = 1}), Numbers({4500, 3500, 3500}));
  EXPECT_EQ(Bills({.cpus = 1, .gibibytes = 10, .licences = 1}), Numbers({5000, 4000, 4000}));
  EXPECT_EQ(Bills({.cpus = 1, .gibibytes = 8, .gpus = 1}), Numbers({5000, 2000, 4000}));
}

// Slurm's page prints 3.0 for the first and other jobs for the second; these are what its formula
// gives for the jobs that it names.
TEST(Billing, WhatSlurmsPagesPrintWrongly) {
  EXPECT_EQ(Bills({.cpus = 1, .gibibytes = 8, .gpus = 1})[2], 4000U);
  const char* weights = "CPU=1.0,Mem=0.25G";
  EXPECT_EQ(Bills({.cpus = 1, .gibibytes = 60}, weights), Numbers({16000, 15000, 15000}));
  EXPECT_EQ(Bills({.cpus = 16, .gibibytes = 1}, weights), Numbers({16250, 16000, 16000}));
  EXPECT_EQ(Bills({.cpus = 16, .gibibytes = 60}, weights), Numbers({31000, 16000, 16000}));
}

TEST(Billing, MemoryWithoutAUnitIsForEachMebibyte) {
  const std::vector<TresAmount> held = {{"mem", 8 * kGibibyte.value()}};
  EXPECT_EQ(Billing(held, Weights("mem=0.25"), BillingRule::kSum), BillingRate(2'048'000'000));
  EXPECT_EQ(Billing(held, Weights("mem=0.25M"), BillingRule::kSum), BillingRate(2'048'000'000));
  EXPECT_EQ(Billing(held, Weights("Mem=0.25G"), BillingRule::kSum), BillingRate(2'000'000));
  EXPECT_EQ(Billing(held, Weights("MEM=256t"), BillingRule::kSum), BillingRate(2'000'000));
}

TEST(Billing, PartsOfAUnitCostSomething) {
  EXPECT_EQ(Billing({{"cpu", 1}}, Weights("cpu=0.000001"), BillingRule::kSum), BillingRate(1));
  EXPECT_EQ(Billing({{"mem", 3 * kMebibyte.value()}}, Weights("mem=1G"), BillingRule::kSum),
            BillingRate(2929));  // 3/1024, rounded down
}

TEST(Billing, WhatHasNoWeightIsFree) {
  EXPECT_EQ(Billing({{"cpu", 8}}, {}, BillingRule::kSum), BillingRate());
  EXPECT_EQ(Billing({{"gres/fpga", 8}}, Weights(), BillingRule::kMaxTres), BillingRate());
  EXPECT_EQ(Billing({}, Weights(), BillingRule::kSum), BillingRate());
}

TEST(Billing, NothingOverflows) {
  const std::uint64_t all = ~std::uint64_t{0};
  EXPECT_EQ(Billing({{"cpu", all}, {"node", all}}, Weights("cpu=1000000000,node=1000000000"),
                    BillingRule::kSum),
            kBillingRateMax);
}

TEST(BillingWeights, NamesAreReadAsSlurmReadsThem) {
  const std::vector<TresWeight> weights = Weights("CPU=1,GRES/gpu:A100=2.5,Mem=1T,bb/Scratch=3G");
  ASSERT_EQ(weights.size(), 4U);
  EXPECT_EQ(weights[0], (TresWeight{.tres = "cpu", .weight = 1'000'000, .unit_bits = 0}));
  EXPECT_EQ(weights[1], (TresWeight{.tres = "gres/gpu:A100", .weight = 2'500'000, .unit_bits = 0}));
  EXPECT_EQ(weights[2], (TresWeight{.tres = "mem", .weight = 1'000'000, .unit_bits = 40}));
  EXPECT_EQ(weights[3], (TresWeight{.tres = "bb/Scratch", .weight = 3'000'000, .unit_bits = 30}));
  EXPECT_TRUE(Weights("").empty());
}

TEST(BillingWeights, WhatIsWrongIsNamedInOneLine) {
  const std::vector<std::pair<const char*, const char*>> bad = {
      {"cpu", "\"cpu\" is not a weight: use NAME=WEIGHT"},
      {"cpus=1", "\"cpus\" is not a resource"},
      {"gres/=1", "\"gres/\" is not a resource"},
      {"gres=1", "\"gres\" is not a resource"},
      {"cpu=1,,mem=2", "\"\" is not a weight"},
      {"cpu=1,", "\"cpu=1,\" ends in a comma"},
      {"cpu=", "\"cpu=\" has no good weight"},
      {"cpu=-1", "\"cpu=-1\" has no good weight"},
      {"cpu=nan", "\"cpu=nan\" has no good weight"},
      {"cpu=1.0000001", "\"cpu=1.0000001\" has no good weight"},
      {"cpu=1000000001", "has no good weight: use a decimal number from 0 to 1000000000"},
      {"mem=G", "\"mem=G\" has no good weight"},
      {"cpu=1G", "\"cpu=1G\" has a unit, but is not in bytes: leave the letter out"},
      {"cpu=1,CPU=2", "\"cpu\" has two weights: leave one of them out"},
      {"gres/a\nb=1", "\"gres/a\\nb\" is not a resource"}};
  for (const auto& [text, message] : bad) {
    const absl::StatusOr<std::vector<TresWeight>> weights = ParseTresWeights(text);
    ASSERT_FALSE(weights.ok()) << text;
    EXPECT_TRUE(absl::IsInvalidArgument(weights.status()));
    EXPECT_THAT(std::string(weights.status().message()), HasSubstr(message));
    EXPECT_EQ(weights.status().message().find('\n'), std::string::npos);
  }
}

Held AnyJob() {
  return {.cpus = *rc::gen::inRange(0U, 200U),
          .gibibytes = *rc::gen::inRange(0U, 200U),
          .gpus = *rc::gen::inRange(0U, 9U),
          .licences = *rc::gen::inRange(0U, 5U)};
}

TEST(BillingProperty, TwoEqualHalvesCostWhatTheWholeDoes) {
  EXPECT_TRUE(rc::check([] {
    const Held half = AnyJob();
    const Numbers halves = Bills(half);
    const Numbers whole = Bills({.cpus = 2 * half.cpus,
                                 .gibibytes = 2 * half.gibibytes,
                                 .gpus = 2 * half.gpus,
                                 .licences = 2 * half.licences});
    for (std::size_t rule = 0; rule < 3; ++rule) {
      RC_ASSERT(whole[rule] == 2 * halves[rule]);
    }
  }));
}

TEST(BillingProperty, UnequalPartsNeverCostLessThanTheWhole) {
  EXPECT_TRUE(rc::check([] {
    const Held a = AnyJob();
    const Held b = AnyJob();
    const Numbers whole = Bills({.cpus = a.cpus + b.cpus,
                                 .gibibytes = a.gibibytes + b.gibibytes,
                                 .gpus = a.gpus + b.gpus,
                                 .licences = a.licences + b.licences});
    RC_ASSERT(Bills(a)[0] + Bills(b)[0] == whole[0]);
    RC_ASSERT(Bills(a)[1] + Bills(b)[1] >= whole[1]);
    RC_ASSERT(Bills(a)[2] + Bills(b)[2] >= whole[2]);
    RC_ASSERT(whole[1] <= whole[2] && whole[2] <= whole[0]);
  }));
}

TEST(BillingProperty, AnyTextIsReadOrRefused) {
  EXPECT_TRUE(rc::check([](const std::string& text) {
    const auto weights = ParseTresWeights(text);
    RC_ASSERT(weights.ok() || weights.status().message().find('\n') == std::string::npos);
  }));
}

}  // namespace
}  // namespace muster::core
