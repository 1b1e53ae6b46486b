#include "cli/links/link_verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "cli/links/link_page.h"
#include "cli/links/link_rounds.h"

namespace muster::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

// Four nodes below each of two leaf switches; bandwidth is 10 GB/s below one, 5 between them.
class LinkVerdictTest : public ::testing::Test {
 protected:
  LinkVerdictTest() {
    for (const char* leaf : {"leaf1", "leaf2"}) {
      for (int i = 0; i < 4; ++i) {
        nodes_.push_back({"n" + std::to_string(nodes_.size() + 1), {"spine", leaf}});
      }
    }
    for (const LinkRound& round : LinkRounds(nodes_.size(), 100)) {
      for (const auto& [a, b] : round) {
        links_.push_back({.a = a,
                          .b = b,
                          .bandwidth = a / 4 == b / 4 ? 10e9 : 5e9,
                          .latency = a / 4 == b / 4 ? 2e-6 : 4e-6,
                          .failure = ""});
      }
    }
  }
  LinkReport Judged() const { return JudgeLinks(nodes_, links_, 0.8); }
  void Slow(const std::function<bool(const MeasuredLink&)>& which, double factor) {
    for (MeasuredLink& link : links_) {
      link.bandwidth *= which(link) ? factor : 1;
    }
  }
  std::vector<LinkNode> nodes_;
  std::vector<MeasuredLink> links_;
};

TEST_F(LinkVerdictTest, WhatIsFarIsComparedWithWhatIsFar) {
  const LinkReport report = Judged();
  ASSERT_EQ(report.classes.size(), 2U);
  EXPECT_EQ(report.classes[0].name, "below one leaf switch");
  EXPECT_EQ(report.classes[0].links, 12U);
  EXPECT_EQ(report.classes[0].bandwidth, 10e9);
  EXPECT_EQ(report.classes[1].name, "1 level up");
  EXPECT_EQ(report.classes[1].links, 16U);
  EXPECT_THAT(report.slow, IsEmpty());
  EXPECT_THAT(PrintLinks(nodes_, report, {}), HasSubstr("No link falls behind its class.\n"));
}

TEST_F(LinkVerdictTest, ALinkByItselfIsNamedByItsEndsAndTheirSwitch) {
  Slow([](const MeasuredLink& link) { return link.a == 1 && link.b == 2; }, 0.4);
  const LinkReport report = Judged();
  ASSERT_EQ(report.slow.size(), 1U);
  EXPECT_EQ(report.slow[0].cause, "link n2 - n3 at leaf1");
  EXPECT_DOUBLE_EQ(report.slow[0].of_bandwidth, 0.4);
  EXPECT_THAT(report.bad_nodes, IsEmpty());
  EXPECT_THAT(PrintLinks(nodes_, report, {}), HasSubstr("n2 - n3    4.00 GB/s      40 %"));
}

TEST_F(LinkVerdictTest, ANodeExplainsItsLinksAndNotThoseOfOthers) {
  Slow([](const MeasuredLink& link) { return link.a == 2 || link.b == 2; }, 0.5);
  Slow([](const MeasuredLink& link) { return link.a == 4 && link.b == 7; }, 0.6);
  const LinkReport report = Judged();
  EXPECT_EQ(report.slow.size(), 8U);
  EXPECT_THAT(report.bad_nodes, ElementsAre("n3"));
  EXPECT_THAT(report.bad_switches, IsEmpty());
  for (const SlowLink& slow : report.slow) {
    EXPECT_EQ(slow.cause,
              slow.link.a == 2 || slow.link.b == 2 ? "node n3" : "link n5 - n8 at leaf2");
  }
}

TEST_F(LinkVerdictTest, OneEndOfALinkIsNarrowThatOfMoreOfThem) {
  // n1 - n2; and n5 - n6 with n6 - n7, of which n6 alone leaves none to jobs.
  Slow([](const MeasuredLink& link) { return link.a == 0 && link.b == 1; }, 0.6);
  Slow([](const MeasuredLink& link) { return link.a == 4 && link.b == 5; }, 0.3);
  Slow([](const MeasuredLink& link) { return link.a == 5 && link.b == 6; }, 0.4);
  const LinkReport report = Judged();
  EXPECT_THAT(BadNodes(report), IsEmpty());
  EXPECT_THAT(NarrowNodes(nodes_, report),
              UnorderedElementsAre(
                  Pair("n2", "its link to n1 is slow: 60 % of the bandwidth of its class"),
                  Pair("n6", "its link to n5 is slow: 30 % of the bandwidth of its class")));
}

TEST_F(LinkVerdictTest, APairOfSwitchesIsNarrowWithTheWorstOfItsLinks) {
  Slow([](const MeasuredLink& link) { return link.a / 4 != link.b / 4; }, 1);
  EXPECT_THAT(NarrowSwitches(nodes_, Judged()), IsEmpty());
  for (int i = 0; i < 4; ++i) {
    nodes_.push_back({"n" + std::to_string(nodes_.size() + 1), {"spine", "leaf3"}});
  }
  links_.clear();
  for (const LinkRound& round : LinkRounds(nodes_.size(), 100)) {
    for (const auto& [a, b] : round) {
      const bool slow = a / 4 == 0 && b / 4 == 2;
      const double worst = a == 1 && b == 8 ? 1e9 : 2e9;
      links_.push_back(
          {.a = a, .b = b, .bandwidth = slow ? worst : 10e9, .latency = 4e-6, .failure = ""});
    }
  }
  const LinkReport report = Judged();
  const std::vector<SwitchPair> pairs = NarrowSwitches(nodes_, report);
  ASSERT_EQ(pairs.size(), 1U);
  EXPECT_EQ(pairs[0].first, "leaf1");
  EXPECT_EQ(pairs[0].second, "leaf3");
  EXPECT_EQ(pairs[0].reason, "links between them are slow: 10 % of the bandwidth of its class");
  EXPECT_THAT(NarrowNodes(nodes_, report), IsEmpty());
  EXPECT_TRUE(LiesBetween(nodes_[0], nodes_[9], "leaf1", "leaf3"));
  EXPECT_TRUE(LiesBetween(nodes_[9], nodes_[0], "leaf1", "leaf3"));
  EXPECT_FALSE(LiesBetween(nodes_[0], nodes_[5], "leaf1", "leaf3"));
}

TEST_F(LinkVerdictTest, ANodeThatExplainsItsLinksIsNarrowAlone) {
  Slow([](const MeasuredLink& link) { return link.a == 2 || link.b == 2; }, 0.5);
  const LinkReport report = Judged();
  EXPECT_THAT(BadNodes(report),
              ElementsAre(Pair("n3", "its links are slow: 50 % of the bandwidth of its class")));
  EXPECT_EQ(NarrowNodes(nodes_, report), BadNodes(report));
}

TEST_F(LinkVerdictTest, APairOfSwitchesExplainsTheLinksBetweenThem) {
  for (int i = 0; i < 4; ++i) {
    nodes_.push_back({"n" + std::to_string(nodes_.size() + 1), {"spine", "leaf3"}});
  }
  links_.clear();
  for (const LinkRound& round : LinkRounds(nodes_.size(), 100)) {
    for (const auto& [a, b] : round) {
      links_.push_back({.a = a, .b = b, .bandwidth = 5e9, .latency = 2e-6, .failure = ""});
    }
  }
  Slow([](const MeasuredLink& link) { return link.a / 4 == 0 && link.b / 4 == 1; }, 0.3);
  const LinkReport report = Judged();
  EXPECT_EQ(report.slow.size(), 16U);
  EXPECT_THAT(report.bad_nodes, IsEmpty());
  EXPECT_THAT(report.bad_switches, ElementsAre("leaf1 and leaf2"));
  EXPECT_EQ(report.slow[0].cause, "switches leaf1 and leaf2");
}

TEST_F(LinkVerdictTest, ALateLinkIsSlowAndNoiseIsNot) {
  links_[0].latency *= 1.9;
  links_[1].latency = links_[1].latency * 2 + 3e-6;
  const LinkReport report = Judged();
  ASSERT_EQ(report.slow.size(), 1U);
  EXPECT_EQ(report.slow[0].link.a, links_[1].a);
  links_[1].latency = links_[0].latency * 4 + 3e-6;
  EXPECT_THAT(JudgeLinks(nodes_, links_, 0.05).slow, IsEmpty())
      << "who forgives a twentieth of the bandwidth forgives twenty times the latency";
}

TEST_F(LinkVerdictTest, TooFewLinksAreNotJudgedAndWhatFailedIsTold) {
  nodes_ = {{"n1", {}}, {"n2", {}}, {"n3", {}}};
  links_ = {{.a = 0, .b = 1, .bandwidth = 1e9, .latency = 1e-6, .failure = ""},
            {.a = 0, .b = 2, .bandwidth = 9e9, .latency = 1e-6, .failure = ""},
            {.a = 1, .b = 2, .failure = "gone"}};
  const LinkReport report = Judged();
  ASSERT_EQ(report.classes.size(), 1U);
  EXPECT_EQ(report.classes[0].name, "all");
  EXPECT_FALSE(report.classes[0].judged);
  EXPECT_THAT(report.slow, IsEmpty());
  const std::string page = PrintLinks(nodes_, report, {});
  EXPECT_THAT(page, HasSubstr("too few to compare"));
  EXPECT_THAT(page, HasSubstr("not measured: n2 - n3: gone\n"));
  const Json document = LinksDocument(nodes_, links_, report);
  EXPECT_TRUE(document["links"][2]["bandwidth"].is_null());
  EXPECT_EQ(document["links"][0]["bandwidth"], 1e9);
}

}  // namespace
}  // namespace muster::cli
