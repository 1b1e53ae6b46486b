#pragma once

// The client service of proto/controller.proto as its own description tells it: methods by name,
// their messages, and what they say of themselves.
//
// Invariant: nothing here names a method; what the .proto has is what there is.

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <memory>
#include <string>

namespace muster {

const google::protobuf::ServiceDescriptor& ClientServiceType();
// Its method of that name; ends the process when there is none.
const google::protobuf::MethodDescriptor& ClientMethod(const char* name);
// "/muster.wire.Controller/Submit", as gRPC calls it.
std::string MethodPath(const google::protobuf::MethodDescriptor& method);
// Whether it has one request and one reply.
bool IsUnary(const google::protobuf::MethodDescriptor& method);
// By the mark that controller.proto gives it.
bool ChangesNothing(const google::protobuf::MethodDescriptor& method);

using MessagePtr = std::unique_ptr<google::protobuf::Message>;
// An empty request, or reply, of the method.
MessagePtr NewRequest(const google::protobuf::MethodDescriptor& method);
MessagePtr NewReply(const google::protobuf::MethodDescriptor& method);

}  // namespace muster
