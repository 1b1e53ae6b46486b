#include "daemon/access/methods.h"

#include <grpcpp/support/proto_buffer_reader.h>

#include <memory>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"

namespace muster::daemon {

using google::protobuf::Message;
using google::protobuf::MethodDescriptor;

Methods::Entry::Entry(const MethodDescriptor& its) : type(its), path(MethodPath(its)) {}

Methods::Methods(const Gate& gate) : gate_(gate) {
  const google::protobuf::ServiceDescriptor& service = ClientServiceType();
  for (int i = 0; i < service.method_count(); ++i) {
    const MethodDescriptor& method = *service.method(i);
    entries_.try_emplace(method.name(), method);
    timings_.try_emplace(method.name(), kWorkBounds);
  }
}

void Methods::Add(const char* method, Untyped serve, bool in_turn) {
  Entry& entry = entries_.at(method);
  MUSTER_CHECK(IsUnary(entry.type) && entry.serve == nullptr);
  entry.serve = std::move(serve);
  entry.in_turn = in_turn;
}

void Methods::CheckComplete() const {
  for (const auto& [name, entry] : entries_) {
    MUSTER_CHECK(!IsUnary(entry.type) || entry.serve != nullptr);
  }
}

absl::StatusOr<Caller> Methods::Admit(const grpc::CallbackServerContext& context,
                                      const std::string& method) const {
  return gate_.Admit(context, entries_.at(method).path);
}

void Methods::ServeAdmitted(const AnyCall& call, const Message& request) const {
  entries_.at(call.method.name()).serve(call, request);
}

grpc::ServerUnaryReactor* Methods::Enter(const std::string& method,
                                         grpc::CallbackServerContext* context,
                                         const grpc::ByteBuffer& request, grpc::ByteBuffer* reply) {
  const Entry& entry = entries_.at(method);
  auto* const reactor = new CallReactor(timings_.at(method));
  absl::StatusOr<Caller> caller = gate_.Admit(*context, entry.path);
  if (!caller.ok()) {
    reactor->Finish(ToGrpc(caller.status()));
    return reactor;
  }
  const AnyCall call{gate_, *std::move(caller), entry.type, reactor, reply, request.Length()};
  MessagePtr message = NewRequest(entry.type);
  grpc::ByteBuffer bytes(request);
  grpc::ProtoBufferReader reader(&bytes);
  if (!message->ParseFromZeroCopyStream(&reader)) {
    call.Refuse(absl::InvalidArgumentError(
        absl::StrCat(method, ": the request is no ", entry.type.input_type()->name())));
  } else if (entry.in_turn) {
    TakeTurn(call, reactor, std::move(message));
  } else {
    entry.serve(call, *message);
  }
  return reactor;
}

void Methods::TakeTurn(const AnyCall& call, CallReactor* reactor, MessagePtr request) {
  const std::shared_ptr<const Message> kept = std::move(request);
  const bool taken =
      turns_.Take(call.caller.user.uid, [this, call, reactor, kept](ReadQueue::Turn turn) {
        reactor->Hold(std::move(turn));
        ServeAdmitted(call, *kept);
      });
  if (!taken) {
    call.Refuse(absl::UnavailableError(
        absl::StrCat(call.caller.user.name, " has too many questions open; try again")));
  }
}

}  // namespace muster::daemon
