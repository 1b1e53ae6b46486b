#include "cli/service/terms/service_terms.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <chrono>
#include <cstdint>

namespace muster::cli {
namespace {

using std::chrono::milliseconds;

TEST(ServiceTermsTest, WhatIsWrittenIsReadBack) {
  EXPECT_TRUE(rc::check([] {
    ServiceTerms terms;
    terms.change = *rc::gen::inRange<std::uint64_t>(0, 1'000'000);
    terms.replicas = *rc::gen::arbitrary<std::uint32_t>();
    terms.rolling = *rc::gen::arbitrary<std::uint32_t>();
    terms.further = *rc::gen::inRange(0U, 5U);
    terms.further_until =
        terms.further > 0 ? Time(milliseconds(*rc::gen::inRange(1, 1'000'000))) : kNoTime;
    if (*rc::gen::arbitrary<bool>()) {
      ScaleRule rule;
      rule.least = *rc::gen::inRange(1U, 100U);
      rule.most = rule.least + *rc::gen::inRange(0U, 100U);
      rule.metric = "queue/len_1.p99";
      rule.target = static_cast<double>(*rc::gen::inRange(1, 1'000'000)) / 7.0;
      rule.window = milliseconds(*rc::gen::inRange(1, 1'000'000));
      rule.settle = milliseconds(*rc::gen::inRange(0, 1'000'000));
      terms.rule = rule;
    }
    RC_ASSERT(ReadTerms(TermsText(terms)) == terms);
  }));
}

TEST(ServiceTermsTest, ATextOfAnotherKindIsNone) {
  for (const char* text : {"", "replica", "change=1", "replicas=3", "change=1 replicas=3 web"}) {
    EXPECT_FALSE(ReadTerms(text).has_value()) << text;
  }
}

TEST(ServiceTermsTest, ARuleThatCannotBeIsNone) {
  for (const char* rule :
       {"min=0 max=2 metric=a target=1", "min=3 max=2 metric=a target=1",
        "min=1 max=2 metric=a target=0", "min=1 max=2 metric=a target=x", "min=1 max=2 metric=a"}) {
    const auto terms = ReadTerms(std::string("change=1 replicas=3 ") + rule);
    ASSERT_TRUE(terms.has_value()) << rule;
    EXPECT_FALSE(terms->rule.has_value()) << rule;
  }
}

TEST(ServiceTermsTest, AWordOfALaterVersionIsPassedOver) {
  EXPECT_EQ(ReadTerms("change=1 replicas=3 zones=2"),
            (ServiceTerms{.change = 1, .replicas = 3, .rolling = 1}));
}

TEST(ServiceTermsTest, FurtherOnesAreMeantForATime) {
  const ServiceTerms terms{.replicas = 3, .further = 2, .further_until = Time(milliseconds(100))};
  EXPECT_EQ(MostMeant(terms, Time(milliseconds(99))), 5U);
  EXPECT_EQ(MostMeant(terms, Time(milliseconds(100))), 3U);
}

TEST(ServiceTermsTest, ARuleIsAShortText) {
  ServiceTerms terms;
  EXPECT_EQ(RuleText(terms), "");
  terms.rule = ScaleRule{.least = 2, .most = 8, .metric = "inflight", .target = 2.5};
  EXPECT_EQ(RuleText(terms), "2-8 by inflight/2.5");
}

}  // namespace
}  // namespace muster::cli
