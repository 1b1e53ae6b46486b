#include "scheduler/simulator/crash/agents.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <vector>

#include "scheduler/simulator/crash/agent_runs.h"

namespace muster::sim {
namespace {

// An agent and a controller's end of its stream that is written out by hand.
class SimulatedAgentTest : public ::testing::Test {
 protected:
  SimulatedAgentTest() {
    network_.Attach(SimulatedNetwork::Handlers{
        [this](std::size_t, Session session, const ToController& message) {
          session_ = session;
          if (const auto* registration = std::get_if<Registration>(&message)) {
            registrations_.push_back(*registration);
            network_.SendDown(session, Welcome{NodeId(1), epoch_});
          } else {
            reports_.push_back(std::get<Report>(message));
          }
        },
        [this](std::size_t, Session session, const ToAgent& message) {
          agent_.Receive(session, message);
        },
        [this](std::size_t, Session session) { agent_.NoticeLoss(session); },
        [](std::size_t, Session, Duration) {}});
    network_.Listen();
    agent_.Start();
    RunFor(Duration(10'000));
  }

  void RunFor(Duration time) {
    bool over = false;
    clock_.After(time, [&] { over = true; });
    while (!over && clock_.RunNext()) {
    }
  }

  LaunchOrder Order(Epoch epoch) const {
    LaunchOrder order;
    order.job = JobId(1);
    order.attempt = AttemptNumber(1);
    order.epoch = epoch;
    order.node = NodeId(1);
    NodeAllocation part;
    part.node = NodeId(1);
    part.cpus.Insert(0);
    order.allocation.nodes.push_back(part);
    return order;
  }

  std::size_t EndsReported() const {
    std::size_t ends = 0;
    for (const Report& report : reports_) {
      ends += std::holds_alternative<RunEnded>(report.fact) ? 1U : 0U;
    }
    return ends;
  }

  VirtualClock clock_{Time(Duration(1))};
  Faults faults_{3, FaultRates()};
  SimulatedNetwork network_{clock_, faults_};
  Oracle oracle_;
  SimulatedAgent agent_{AgentContext{clock_, network_, faults_, oracle_}, 0, "node1", Machine()};
  Epoch epoch_{2};
  Session session_ = 0;
  std::vector<Registration> registrations_;
  std::vector<Report> reports_;
};

TEST_F(SimulatedAgentTest, ReportsFactsInOrderAndTakesAnOrderTwiceWithOneEffect) {
  network_.SendDown(session_, Order(Epoch(2)));
  network_.SendDown(session_, Order(Epoch(2)));
  RunFor(Duration(100'000));
  EXPECT_EQ(oracle_.executions(), 1U);
  ASSERT_FALSE(reports_.empty());
  EXPECT_TRUE(std::holds_alternative<RunStarted>(reports_.front().fact));
  EXPECT_EQ(reports_.front().index, 1U);
  EXPECT_EQ(EndsReported(), 1U);
  EXPECT_FALSE(agent_.idle());
  network_.SendDown(session_, Acknowledge{NodeId(1), JobId(1), AttemptNumber(1), 3});
  RunFor(Duration(5'000));
  EXPECT_TRUE(agent_.idle());
  EXPECT_FALSE(oracle_.broken().has_value());
}

TEST_F(SimulatedAgentTest, RefusesAnOlderEpochAndAnExpiredOrder) {
  network_.SendDown(session_, Order(Epoch(1)));
  LaunchOrder expired = Order(Epoch(2));
  expired.expiry = clock_.now() - Duration(1);
  network_.SendDown(session_, expired);
  RunFor(Duration(100'000));
  EXPECT_EQ(oracle_.executions(), 0U);
  EXPECT_TRUE(reports_.empty());
}

TEST_F(SimulatedAgentTest, AJobOutlivesItsAgentAndIsReportedAgain) {
  network_.SendDown(session_, Order(Epoch(2)));
  RunFor(Duration(3'000));
  ASSERT_EQ(oracle_.executions(), 1U);
  reports_.clear();
  agent_.Die(AgentDeath::kProcess);
  RunFor(Duration(200'000));
  ASSERT_EQ(registrations_.size(), 2U);
  EXPECT_EQ(registrations_[1].instance, registrations_[0].instance);
  ASSERT_EQ(registrations_[1].attempts.size(), 1U);
  EXPECT_EQ(reports_.front().index, 1U);
  EXPECT_EQ(EndsReported(), 1U);
  EXPECT_EQ(std::get<RunEnded>(reports_.back().fact).cause, EndCause::kExited);
}

TEST_F(SimulatedAgentTest, ARebootEndsWhatRanAndSaysSo) {
  network_.SendDown(session_, Order(Epoch(2)));
  RunFor(Duration(2'100));
  ASSERT_EQ(oracle_.executions(), 1U);
  agent_.Die(AgentDeath::kReboot);
  RunFor(Duration(200'000));
  ASSERT_EQ(registrations_.size(), 2U);
  EXPECT_NE(registrations_[1].boot_id, registrations_[0].boot_id);
  ASSERT_EQ(EndsReported(), 1U);
  EXPECT_EQ(std::get<RunEnded>(reports_.back().fact).cause, EndCause::kNodeRebooted);
}

TEST_F(SimulatedAgentTest, ALossOfPowerLeavesTheRecordOrNotAndNeverAProcess) {
  std::size_t left = 0;
  constexpr std::size_t kLosses = 20;
  for (std::size_t loss = 1; loss <= kLosses; ++loss) {
    LaunchOrder order = Order(Epoch(2));
    order.job = JobId(loss);
    network_.SendDown(session_, order);
    RunFor(Duration(2'100));
    ASSERT_EQ(oracle_.executions(), loss);
    agent_.Die(AgentDeath::kPowerLost);
    RunFor(Duration(200'000));
    ASSERT_EQ(registrations_.size(), loss + 1);
    EXPECT_EQ(registrations_.back().instance, registrations_.front().instance);
    EXPECT_NE(registrations_[loss].boot_id, registrations_[loss - 1].boot_id);
    for (const KnownAttempt& known : registrations_.back().attempts) {
      EXPECT_TRUE(known.ended);
      left += known.job == JobId(loss) ? 1U : 0U;
    }
  }
  EXPECT_GT(left, 0U);
  EXPECT_LT(left, kLosses);
  EXPECT_FALSE(oracle_.broken().has_value());
}

TEST_F(SimulatedAgentTest, ALostRecordMakesANewInstanceThatKnowsNothing) {
  network_.SendDown(session_, Order(Epoch(2)));
  RunFor(Duration(3'000));
  agent_.Die(AgentDeath::kRecordLost);
  RunFor(Duration(200'000));
  ASSERT_EQ(registrations_.size(), 2U);
  EXPECT_NE(registrations_[1].instance, registrations_[0].instance);
  EXPECT_TRUE(registrations_[1].attempts.empty());
}

TEST_F(SimulatedAgentTest, ATerminationThatComesFirstRefusesTheLaunch) {
  network_.SendDown(session_, TerminateOrder{JobId(1), AttemptNumber(1), Epoch(2), NodeId(1),
                                             EndCause::kCancelled, Duration(10)});
  network_.SendDown(session_, Order(Epoch(2)));
  RunFor(Duration(100'000));
  EXPECT_EQ(oracle_.executions(), 0U);
  ASSERT_FALSE(reports_.empty());
  EXPECT_EQ(std::get<RunEnded>(reports_.front().fact).cause, EndCause::kNeverStarted);
}

TEST_F(SimulatedAgentTest, KeepsTheNewestLimitThatItWasTold) {
  LaunchOrder order = Order(Epoch(2));
  NodeAllocation first;
  first.node = NodeId(2);
  order.allocation.nodes.insert(order.allocation.nodes.begin(), first);  // the script runs there
  order.spec.time_limit = Duration(20'000);
  network_.SendDown(session_, order);
  RunFor(Duration(10'000));
  const auto advise = [&](std::uint32_t number, Duration limit) {
    AdviceOrder advice{order.job, order.attempt, order.epoch, order.node, CheckpointAdvice()};
    advice.advice.number = number;
    advice.advice.time_limit = limit;
    network_.SendDown(session_, advice);
  };
  advise(3, Duration(60'000));
  RunFor(Duration(1'000));
  advise(2, Duration(1));
  RunFor(Duration(30'000));
  EXPECT_EQ(EndsReported(), 0U) << "past its first limit";
  advise(4, Duration::max());
  RunFor(Duration(60'000));
  EXPECT_EQ(EndsReported(), 0U) << "without one";
  advise(5, Duration(30'000));
  RunFor(Duration(5'000));
  ASSERT_EQ(EndsReported(), 1U);
  EXPECT_EQ(std::get<RunEnded>(reports_.back().fact).cause, EndCause::kTimeLimit);
}

}  // namespace
}  // namespace muster::sim
