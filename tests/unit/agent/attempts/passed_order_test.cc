#include "agent/attempts/passed_order.h"

#include <gtest/gtest.h>

#include "proto/supervisor.pb.h"

namespace muster::agent {
namespace {

using google::protobuf::FieldDescriptor;

// An order with every number set that says whom it is for.
void Address(google::protobuf::Message* order) {
  for (const char* name : {"job", "attempt", "node", "epoch"}) {
    const FieldDescriptor* const field = order->GetDescriptor()->FindFieldByName(name);
    ASSERT_NE(field, nullptr) << order->GetTypeName() << " does not say its " << name;
    const auto number = static_cast<std::uint32_t>(name[0]);
    if (field->cpp_type() == FieldDescriptor::CPPTYPE_UINT32) {
      order->GetReflection()->SetUInt32(order, field, number);
    } else {
      order->GetReflection()->SetUInt64(order, field, number);
    }
  }
}

TEST(PassedOrderTest, EveryOrderThatSupervisorsTakeIsPassedOnAsItCame) {
  const auto& from = *wire::ControllerMessage::descriptor();
  const auto& to = *wire::SupervisorCommand::descriptor();
  int passed = 0;
  for (int i = 0; i < to.field_count(); ++i) {
    const FieldDescriptor* const field = from.FindFieldByName(to.field(i)->name());
    if (field == nullptr) {
      continue;  // the agent's own command
    }
    wire::ControllerMessage message;
    google::protobuf::Message* const order =
        message.GetReflection()->MutableMessage(&message, field);
    Address(order);
    const std::optional<PassedOrder> on = PassOn(message);
    ASSERT_TRUE(on.has_value()) << field->name();
    EXPECT_EQ(on->key, (AttemptKey{JobId('j'), AttemptNumber('a')})) << field->name();
    EXPECT_EQ(on->node, NodeId('n'));
    EXPECT_EQ(on->epoch, Epoch('e'));
    wire::SupervisorCommand command;
    ASSERT_TRUE(command.ParseFromString(on->packet));
    const auto& held = command.GetReflection()->GetMessage(command, to.field(i));
    EXPECT_EQ(held.SerializeAsString(), order->SerializeAsString()) << field->name();
    ++passed;
  }
  EXPECT_EQ(passed, 6);
}

TEST(PassedOrderTest, WhatANewerControllerAddedReachesTheSupervisor) {
  wire::ControllerMessage message;
  Address(message.mutable_advice());
  message.mutable_advice()
      ->GetReflection()
      ->MutableUnknownFields(message.mutable_advice())
      ->AddVarint(9999, 5);
  wire::SupervisorCommand command;
  ASSERT_TRUE(command.ParseFromString(PassOn(message)->packet));
  const auto& unknown = command.advice().GetReflection()->GetUnknownFields(command.advice());
  ASSERT_EQ(unknown.field_count(), 1);
  EXPECT_EQ(unknown.field(0).varint(), 5U);
}

TEST(PassedOrderTest, AStepSaysItsClusterAndWhenItExpires) {
  wire::ControllerMessage message;
  Address(message.mutable_step());
  message.mutable_step()->set_cluster("c");
  message.mutable_step()->set_expiry(7);
  const std::optional<PassedOrder> on = PassOn(message);
  EXPECT_EQ(on->cluster, "c");
  EXPECT_EQ(on->expiry, Time(Duration(7)));
  EXPECT_TRUE(on->starts_step);
}

TEST(PassedOrderTest, WhatIsForTheAgentItselfIsNotPassedOn) {
  wire::ControllerMessage message;
  EXPECT_FALSE(PassOn(message).has_value());
  message.mutable_launch();
  EXPECT_FALSE(PassOn(message).has_value());
  message.mutable_health();
  EXPECT_FALSE(PassOn(message).has_value());
}

}  // namespace
}  // namespace muster::agent
