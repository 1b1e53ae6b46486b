#include "daemon/access/methods.h"

#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"

namespace muster::daemon {

using google::protobuf::MethodDescriptor;

namespace {

std::string BytesOf(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  std::string bytes;
  if (buffer.Dump(&slices).ok()) {
    bytes.reserve(buffer.Length());
    for (const grpc::Slice& slice : slices) {
      bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
    }
  }
  return bytes;
}

}  // namespace

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

bool Methods::IsServed(const std::string& method) const {
  const auto entry = entries_.find(method);
  return entry != entries_.end() && entry->second.serve != nullptr;
}

void Methods::ServeAdmitted(const AnyCall& call, std::string_view request) const {
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
  if (entry.in_turn) {
    TakeTurn(call, reactor, BytesOf(request));
  } else {
    entry.serve(call, BytesOf(request));
  }
  return reactor;
}

void Methods::TakeTurn(const AnyCall& call, CallReactor* reactor, std::string request) {
  const auto kept = std::make_shared<const std::string>(std::move(request));
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
