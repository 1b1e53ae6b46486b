#include "daemon/agents/agent_claims.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <variant>

namespace muster::daemon {
namespace {

using ::testing::HasSubstr;

TEST(AgentClaims, AClockThatIsMinutesOffIsTrouble) {
  const Time now{std::chrono::hours(1000)};
  EXPECT_EQ(ClockTrouble("n1", now, now), "");
  EXPECT_THAT(ClockTrouble("n1", now + std::chrono::minutes(10), now),
              HasSubstr("node n1: its clock is 600 s ahead of the controller's"));
  EXPECT_THAT(ClockTrouble("n1", now - std::chrono::minutes(10), now), HasSubstr("600 s behind"));
}

TEST(AgentClaims, AnAgentIsTheNodeOfItsCertificateAndOfThisVersion) {
  Caller caller;
  caller.role = Role::kAgent;
  caller.node = "n1";
  wire::AgentMessage message;
  message.mutable_registration()->set_name("n1");
  message.set_challenge(std::string(32, 'c'));
  EXPECT_TRUE(CheckClaims(caller, message).ok());
  message.set_challenge("short");
  EXPECT_TRUE(absl::IsFailedPrecondition(CheckClaims(caller, message)));
  message.mutable_registration()->set_name("n2");
  EXPECT_TRUE(absl::IsPermissionDenied(CheckClaims(caller, message)));
}

TEST(AgentClaims, AFaultIsBelievedInAFewWords) {
  wire::NodeFault fault;
  fault.set_text("GPU 0: XID 79");
  EXPECT_EQ(FaultReason(fault), "GPU 0: XID 79");
  fault.set_text(std::string(1000, 'x'));
  EXPECT_EQ(FaultReason(fault), "a fault of many words");
}

TEST(AgentClaims, TheTextsOfAReportAreCut) {
  Report report;
  RunEnded ended;
  ended.text = std::string(1 << 20, 'x');
  ended.node_fault = "prolog failed";
  ended.gpu_errors.assign(1000, std::string(10'000, 'x'));
  ended.gpu_work.resize(5000);
  report.fact = ended;
  CutTexts(report);
  EXPECT_EQ(std::get<RunEnded>(report.fact).gpu_errors.size(), kGpuErrorsMost);
  EXPECT_LE(std::get<RunEnded>(report.fact).gpu_errors.back().size(), kReportTextMost + 3);
  EXPECT_EQ(std::get<RunEnded>(report.fact).gpu_work.size(), kGpuRanksMost);
  EXPECT_LE(std::get<RunEnded>(report.fact).text.size(), kReportTextMost + 3);
  EXPECT_EQ(std::get<RunEnded>(report.fact).node_fault, "prolog failed");
  StepEnded step;
  step.ranks.resize(2);
  step.ranks[1].text = std::string(1 << 20, 'x');
  report.fact = step;
  CutTexts(report);
  EXPECT_LE(std::get<StepEnded>(report.fact).ranks[1].text.size(), kReportTextMost + 3);
}

}  // namespace
}  // namespace muster::daemon
