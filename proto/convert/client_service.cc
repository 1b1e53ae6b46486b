#include "proto/convert/client_service.h"

#include <google/protobuf/descriptor.pb.h>

#include "absl/strings/str_cat.h"
#include "proto/controller.pb.h"
#include "scheduler/base/status.h"

namespace muster {

using google::protobuf::MethodDescriptor;
using google::protobuf::ServiceDescriptor;

namespace {

MessagePtr NewMessage(const google::protobuf::Descriptor* type) {
  return MessagePtr(
      google::protobuf::MessageFactory::generated_factory()->GetPrototype(type)->New());
}

}  // namespace

const ServiceDescriptor& ClientServiceType() {
  return *wire::PingRequest::descriptor()->file()->FindServiceByName("Controller");
}

const MethodDescriptor& ClientMethod(const char* name) {
  const MethodDescriptor* const method = ClientServiceType().FindMethodByName(name);
  MUSTER_CHECK(method != nullptr);
  return *method;
}

std::string MethodPath(const MethodDescriptor& method) {
  return absl::StrCat("/", method.service()->full_name(), "/", method.name());
}

bool IsUnary(const MethodDescriptor& method) {
  return !method.client_streaming() && !method.server_streaming();
}

bool ChangesNothing(const MethodDescriptor& method) {
  return method.options().idempotency_level() == google::protobuf::MethodOptions::NO_SIDE_EFFECTS;
}

MessagePtr NewRequest(const MethodDescriptor& method) {
  return NewMessage(method.input_type());
}

MessagePtr NewReply(const MethodDescriptor& method) {
  return NewMessage(method.output_type());
}

}  // namespace muster
