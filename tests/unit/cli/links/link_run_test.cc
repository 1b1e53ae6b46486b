#include "cli/links/link_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/links/link_page.h"

namespace muster::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(LinkRun, ALinkHasWhatItsRunReported) {
  MeasuredLink link;
  TakeReport(Json{{"latency_us", 2.5}, {"bandwidth_gb_per_s", 12.0}}, link);
  EXPECT_DOUBLE_EQ(link.bandwidth, 12e9);
  EXPECT_DOUBLE_EQ(link.latency, 2.5e-6);
  EXPECT_EQ(link.failure, "");
}

TEST(LinkRun, WhatIsMissingOnANodeIsToldOnceAndIsNoFigure) {
  const std::vector<LinkNode> nodes = {{"n1", {}}, {"n2", {}}, {"n3", {}}};
  std::vector<MeasuredLink> links = {{.a = 0, .b = 1}, {.a = 0, .b = 2}, {.a = 1, .b = 2}};
  TakeReport(absl::UnavailableError("n1: no libnccl.so.2 is found"), links[0]);
  TakeReport(absl::UnavailableError("n1: no libnccl.so.2 is found"), links[1]);
  TakeReport(absl::InternalError("signal 9"), links[2]);
  EXPECT_TRUE(links[0].lacking);
  EXPECT_FALSE(links[2].lacking);
  const LinkReport report = JudgeLinks(nodes, links, 0.8);
  const std::string page = PrintLinks(nodes, report, {});
  EXPECT_THAT(page, HasSubstr("not measured: 2 links: n1: no libnccl.so.2 is found\n"));
  EXPECT_THAT(page, HasSubstr("not measured: n2 - n3: the ranks had no result"));
  EXPECT_THAT(page, Not(HasSubstr("0.00 GB/s")));
  const Json document = LinksDocument(nodes, links, report);
  EXPECT_EQ(document["links"][0]["bandwidth"], nullptr);
  EXPECT_EQ(document["links"][0]["failure"], "n1: no libnccl.so.2 is found");
}

TEST(LinkRun, TheLinksOfARoundAreThoseThatAreWanted) {
  const std::vector<MeasuredLink> links = MeasureRounds(
      "links", LinkRounds(4, 100), [](std::size_t a, std::size_t b) { return a != 0 || b != 3; },
      [](MeasuredLink& link) { link.bandwidth = static_cast<double>(10 * link.a + link.b); });
  EXPECT_EQ(links.size(), 5U);
  for (const MeasuredLink& link : links) {
    EXPECT_EQ(link.bandwidth, static_cast<double>(10 * link.a + link.b));
    EXPECT_FALSE(link.a == 0 && link.b == 3);
  }
}

TEST(LinkRun, AKernelThatIsNotThereIsNamed) {
  const Environment environment({"MUSTER_KERNELS=/nowhere"});
  const std::vector<Verb> none;
  const Invocation invocation{
      .environment = environment, .verbs = none, .values = {}, .arguments = {}};
  EXPECT_THAT(std::string(LinkRun::Make(invocation, "nccl").status().message()),
              HasSubstr("/nowhere/nccl: not there"));
}

}  // namespace
}  // namespace muster::cli
