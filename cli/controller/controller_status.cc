#include "cli/controller/controller_status.h"

#include <utility>

#include "absl/strings/str_split.h"
#include "cli/controller/channel.h"
#include "proto/leadership.grpc.pb.h"
#include "scheduler/base/status.h"

namespace muster::cli {
namespace {

constexpr std::chrono::milliseconds kStatusTimeout{700};
constexpr std::chrono::seconds kHandOverTimeout{15};

}  // namespace

std::vector<Address> AllOf(const Address& address) {
  std::vector<Address> all;
  for (const std::string& text : std::vector<std::string>(absl::StrSplit(address.text, ','))) {
    absl::StatusOr<Address> each = ParseAddress(text);
    all.push_back(each.ok() ? *std::move(each) : address);
    all.back().keys = address.keys;
  }
  return all;
}

absl::StatusOr<ControllerStatus> ReadControllerStatus(
    const std::shared_ptr<grpc::Channel>& channel) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kStatusTimeout);
  context.set_wait_for_ready(true);
  wire::ReadControllerStatusReply reply;
  const grpc::Status status = wire::Leadership::NewStub(channel)->ReadControllerStatus(
      &context, wire::ReadControllerStatusRequest(), &reply);
  if (!status.ok()) {
    return status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED
               ? absl::UnavailableError("does not answer")
               : Refusal(status);
  }
  return ControllerStatus{reply.name(),
                          reply.leads(),
                          reply.leader(),
                          reply.leader_addresses(),
                          reply.epoch(),
                          reply.version(),
                          std::chrono::milliseconds(reply.age())};
}

absl::StatusOr<ControllerStatus> ReadControllerStatus(const Address& address) {
  ASSIGN_OR_RETURN(const std::shared_ptr<grpc::Channel> channel, OpenChannel(address));
  return ReadControllerStatus(channel);
}

absl::Status HandOver(const Address& address, const std::string& to) {
  ASSIGN_OR_RETURN(const std::shared_ptr<grpc::Channel> channel, OpenChannel(address));
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kHandOverTimeout);
  wire::HandOverRequest request;
  request.set_to(to);
  wire::HandOverReply reply;
  const grpc::Status status =
      wire::Leadership::NewStub(channel)->HandOver(&context, request, &reply);
  return status.ok() ? absl::OkStatus() : Refusal(status);
}

}  // namespace muster::cli
