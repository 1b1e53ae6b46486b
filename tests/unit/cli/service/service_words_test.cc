#include "cli/service/service_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::cli {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::HasSubstr;

class ServiceWordsTest : public ::testing::Test {
 protected:
  using Values = std::map<std::string, std::string>;
  [[nodiscard]] Invocation With(Values values) const {
    return {
        .environment = environment_, .verbs = verbs_, .values = std::move(values), .arguments = {}};
  }
  const Environment environment_;
  const std::vector<Verb> verbs_;
};

TEST_F(ServiceWordsTest, ARuleHasItsTimesUnlessTheyAreSaid) {
  const auto rule = ScaleRuleOf(With({{"max", "8"}, {"metric", "inflight"}, {"target", "2.5"}}));
  ASSERT_TRUE(rule.ok()) << rule.status();
  EXPECT_EQ(*rule, (ScaleRule{.least = 1, .most = 8, .metric = "inflight", .target = 2.5}));
  const auto whole = ScaleRuleOf(With({{"min", "2"},
                                       {"max", "8"},
                                       {"metric", "queue/len"},
                                       {"target", "1"},
                                       {"window", "30s"},
                                       {"settle", "10m"}}));
  ASSERT_TRUE(whole.ok()) << whole.status();
  EXPECT_EQ(whole->least, 2U);
  EXPECT_EQ(whole->window, seconds(30));
  EXPECT_EQ(whole->settle, minutes(10));
}

TEST_F(ServiceWordsTest, ABadRuleIsRefusedByItsWord) {
  const Values good = {{"min", "2"}, {"max", "8"}, {"metric", "inflight"}, {"target", "10"}};
  const std::vector<std::pair<Values, std::string>> bad = {
      {{{"max", "1"}}, "--max: 1 is less than --min 2"},
      {{{"min", "0"}}, "--min: \"0\" is no number of replicas"},
      {{{"metric", "in flight"}}, "--metric: \"in flight\" is no name"},
      {{{"target", "0"}}, "--target: \"0\" is no number above 0"},
      {{{"target", "inf"}}, "--target: \"inf\" is no number above 0"},
      {{{"window", "1s"}}, "--window: \"1s\" is too short"},
      {{{"settle", "soon"}}, "--settle: \"soon\" is no time"}};
  for (const auto& [change, says] : bad) {
    Values values = change;
    values.insert(good.begin(), good.end());
    const auto rule = ScaleRuleOf(With(values));
    EXPECT_EQ(rule.status().code(), absl::StatusCode::kInvalidArgument) << says;
    EXPECT_THAT(std::string(rule.status().message()), HasSubstr(says));
  }
  for (const char* missing : {"max", "metric", "target"}) {
    Values values = good;
    values.erase(missing);
    EXPECT_THAT(std::string(ScaleRuleOf(With(values)).status().message()),
                HasSubstr(std::string("--") + missing + ": is missing"));
  }
}

TEST_F(ServiceWordsTest, AnyWordOfARuleNamesOne) {
  EXPECT_FALSE(NamesRule(With({{"replicas", "3"}})));
  EXPECT_TRUE(NamesRule(With({{"settle", "3m"}})));
}

}  // namespace
}  // namespace muster::cli
