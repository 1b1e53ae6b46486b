#include "agent/attempts/passed_order.h"

#include "proto/supervisor.pb.h"

namespace muster::agent {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// The number in the field of that name; 0 where the order has none.
std::uint64_t NumberIn(const Message& order, const char* name) {
  const FieldDescriptor* const field = order.GetDescriptor()->FindFieldByName(name);
  if (field == nullptr) {
    return 0;
  }
  return field->cpp_type() == FieldDescriptor::CPPTYPE_UINT32
             ? order.GetReflection()->GetUInt32(order, field)
             : order.GetReflection()->GetUInt64(order, field);
}

std::string WordsFor(const wire::ControllerMessage& message) {
  switch (message.body_case()) {
    case wire::ControllerMessage::kStep:
      return "step of";
    case wire::ControllerMessage::kTerminate:
      return "end of";
    case wire::ControllerMessage::kSuspend:
      return message.suspend().resume() ? "resumption of" : "suspension of";
    case wire::ControllerMessage::kSignal:
      return "signal to";
    case wire::ControllerMessage::kAttach:
      return "attachment to";
    default:
      return "order to";
  }
}

}  // namespace

std::optional<PassedOrder> PassOn(const wire::ControllerMessage& message) {
  const auto* const body = message.GetReflection()->GetOneofFieldDescriptor(
      message, wire::ControllerMessage::descriptor()->FindOneofByName("body"));
  const FieldDescriptor* const field =
      body == nullptr ? nullptr
                      : wire::SupervisorCommand::descriptor()->FindFieldByName(body->name());
  if (field == nullptr || field->message_type() != body->message_type()) {
    return std::nullopt;
  }
  const Message& order = message.GetReflection()->GetMessage(message, body);
  wire::SupervisorCommand command;
  command.GetReflection()->MutableMessage(&command, field)->CopyFrom(order);
  PassedOrder passed;
  passed.what = WordsFor(message);
  passed.starts_step = message.has_step();
  passed.ends_attempt = message.has_terminate();
  if (message.has_step()) {
    passed.cluster = message.step().cluster();
    passed.expiry = Time(Duration(message.step().expiry()));
  }
  passed.node = NodeId(static_cast<std::uint32_t>(NumberIn(order, "node")));
  passed.key.job = JobId(NumberIn(order, "job"));
  passed.key.attempt = AttemptNumber(static_cast<std::uint32_t>(NumberIn(order, "attempt")));
  passed.epoch = Epoch(NumberIn(order, "epoch"));
  passed.packet = command.SerializeAsString();
  return passed;
}

}  // namespace muster::agent
