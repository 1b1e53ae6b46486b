#include "daemon/serve/door_probe.h"

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "daemon/access/munge_authenticator.h"
#include "daemon/door/listening_socket.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/file.h"
#include "scheduler/runtime/identity/certificate.h"

namespace muster::daemon {
namespace {

constexpr const char* kPing = "/muster.wire.Controller/Ping";

// Where to call what listens on every address of the machine.
std::string Reachable(const std::string& address) {
  return IsUnix(address)
             ? address
             : absl::StrReplaceAll(address, {{"[::]:", "[::1]:"}, {"0.0.0.0:", "127.0.0.1:"}});
}

absl::StatusOr<std::shared_ptr<grpc::Channel>> Open(const std::string& address, bool over_tls,
                                                    const TlsFiles& tls) {
  grpc::ChannelArguments arguments;
  // A connection of this call's own, which ends with it.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  if (!over_tls) {
    return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
  }
  grpc::SslCredentialsOptions options;
  ASSIGN_OR_RETURN(options.pem_root_certs, ReadFile(tls.authority));
  arguments.SetString(GRPC_SSL_TARGET_NAME_OVERRIDE_ARG, kControllerName);
  return grpc::CreateCustomChannel(address, grpc::SslCredentials(options), arguments);
}

grpc::Status Call(const std::shared_ptr<grpc::Channel>& channel, const char* method) {
  grpc::GenericStub stub(channel);
  grpc::ClientContext context;
  context.set_wait_for_ready(true);
  context.set_deadline(std::chrono::system_clock::now() + kProbePatience);
  grpc::CompletionQueue queue;
  const grpc::Slice nothing;
  const auto call = stub.PrepareUnaryCall(&context, method, grpc::ByteBuffer(&nothing, 1), &queue);
  call->StartCall();
  grpc::ByteBuffer answer;
  grpc::Status status;
  call->Finish(&answer, &status, nullptr);
  void* tag = nullptr;
  bool ok = false;
  queue.Next(&tag, &ok);
  queue.Shutdown();
  while (queue.Next(&tag, &ok)) {
  }
  return status;
}

}  // namespace

absl::Status AskDoor(const std::string& address, const TlsFiles& tls) {
  const bool over_tls = tls.given() && !IsUnix(address);
  ASSIGN_OR_RETURN(const std::shared_ptr<grpc::Channel> channel,
                   Open(Reachable(address), over_tls, tls));
  const grpc::Status status = Call(channel, over_tls ? kDoorProbe : kPing);
  const grpc::StatusCode expected =
      over_tls ? grpc::StatusCode::UNAUTHENTICATED : grpc::StatusCode::OK;
  return status.error_code() == expected
             ? absl::OkStatus()
             : absl::UnavailableError(
                   absl::StrCat(address, " does not answer: ", status.error_message()));
}

}  // namespace muster::daemon
