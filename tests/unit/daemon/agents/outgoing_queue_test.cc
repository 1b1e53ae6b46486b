#include "daemon/agents/outgoing_queue.h"

#include <gtest/gtest.h>

#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::daemon {
namespace {

class OutgoingQueueTest : public ::testing::Test {
 protected:
  wire::OrderBody Body(std::uint64_t job, std::int64_t expiry) const {
    wire::OrderBody body;
    body.set_node("node1");
    body.set_expiry(expiry);
    body.mutable_order()->mutable_terminate()->set_job(job);
    return body;
  }
  wire::ControllerMessage Next() { return **queue_.Next(*signer_); }
  wire::OrderBody NextBody() {
    wire::OrderBody body;
    EXPECT_TRUE(body.ParseFromString(Next().signed_().body()));
    return body;
  }
  static Acknowledge Ack(std::uint64_t job, std::uint64_t index) {
    return {NodeId(1), JobId(job), AttemptNumber(1), index};
  }

  const TempDirectory temp_;
  const std::unique_ptr<OrderSigner> signer_ = OrderSigner::Open(temp_ / "key", "").value();
  OutgoingQueue queue_;
};

TEST_F(OutgoingQueueTest, OrdersThatWaitTogetherLeaveUnderOneSignatureInTheirOrder) {
  queue_.TakeMany(true);
  queue_.PushOrder(Body(1, 500));
  queue_.PushOrder(Body(2, 300));
  queue_.PushOrder(Body(3, 400));
  const wire::OrderBody body = NextBody();
  EXPECT_TRUE(queue_.empty());
  EXPECT_EQ(body.sequence(), 1U);
  EXPECT_EQ(body.order().terminate().job(), 1U);
  ASSERT_EQ(body.more_size(), 2);
  EXPECT_EQ(body.more(1).terminate().job(), 3U);
  EXPECT_EQ(body.expiry(), 300);
}

TEST_F(OutgoingQueueTest, AnOrderThatIsGoodForEverDoesNotExpireWithOthers) {
  queue_.TakeMany(true);
  queue_.PushOrder(Body(1, 500));
  queue_.PushOrder(Body(2, 0));
  EXPECT_EQ(NextBody().more_size(), 0);
  const wire::OrderBody second = NextBody();
  EXPECT_EQ(second.sequence(), 2U);
  EXPECT_EQ(second.expiry(), 0);
}

TEST_F(OutgoingQueueTest, AnOlderAgentGetsEachByItself) {
  queue_.PushOrder(Body(1, 500));
  queue_.PushOrder(Body(2, 500));
  queue_.PushAck(Ack(1, 1));
  queue_.PushAck(Ack(1, 2));
  EXPECT_EQ(NextBody().more_size(), 0);
  EXPECT_EQ(NextBody().sequence(), 2U);
  EXPECT_EQ(Next().ack().index(), 1U);
  EXPECT_EQ(Next().ack().index(), 2U);
}

TEST_F(OutgoingQueueTest, AcknowledgementsJoinAndOfOneAttemptTheHighestCounts) {
  queue_.TakeMany(true);
  queue_.PushAck(Ack(1, 1));
  queue_.PushAck(Ack(1, 3));
  queue_.PushAck(Ack(2, 1));
  queue_.PushOrder(Body(9, 0));
  queue_.PushAck(Ack(2, 2));
  const wire::ControllerMessage first = Next();
  ASSERT_EQ(first.acks().acks_size(), 2);
  EXPECT_EQ(first.acks().acks(0).index(), 3U);
  EXPECT_EQ(NextBody().order().terminate().job(), 9U) << "nothing overtakes an order";
  EXPECT_EQ(Next().acks().acks(0).index(), 2U);
}

}  // namespace
}  // namespace muster::daemon
