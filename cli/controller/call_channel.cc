#include "cli/controller/call_channel.h"

#include <grpcpp/generic/generic_stub.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cli/controller/channel.h"
#include "proto/convert/origin.h"
#include "scheduler/runtime/clock.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::cli {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kCallTimeout{30'000};
constexpr std::size_t kFirstCallBytesMax = 32 << 10;
constexpr milliseconds kRetryPause{50}, kBusyPause{500};
constexpr milliseconds kConnectPatience{500};  // between two looks at the socket

// What connect(2) says of the controller's socket: 0, or an errno. Takes microseconds, and tells a
// controller that never was from one that is restarting.
int ProbeSocket(const std::string& path) {
  sockaddr_un name = {};
  name.sun_family = AF_UNIX;
  std::memcpy(name.sun_path, path.c_str(), path.size());
  const UniqueFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid()) {
    return errno;
  }
  const int result = connect(fd.get(), reinterpret_cast<const sockaddr*>(&name), sizeof(name));
  return result == 0 || errno == EAGAIN ? 0 : errno;
}

// What gRPC says of a call that never left: either end could not be told from a stranger. Trying
// again does not help. OK: it was something else.
absl::Status Mistrust(const Address& address, const std::string& message) {
  constexpr std::string_view kPlugin = "plugin failed with error: ";
  const std::size_t plugin = message.find(kPlugin);
  if (plugin != std::string::npos) {
    return absl::UnauthenticatedError(message.substr(plugin + kPlugin.size()));
  }
  if (message.find("handshake failed") != std::string::npos ||
      message.find("Peer name") != std::string::npos) {
    return absl::UnauthenticatedError(
        absl::StrCat(address.text, ": is not the controller that ", address.keys.authority,
                     " vouches for: bring the cluster's ca.pem there, or correct the address"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status Nobody(const Address& address) {
  const char* const mend = address.kind == Address::Kind::kUnix
                               ? ": start one with \"muster up\""
                               : ": check that musterd runs there, with the keys that ours are of";
  return absl::UnavailableError(absl::StrCat("muster: no controller at ", address.text, mend));
}

CallChannel::CallChannel(const Address& address)
    : address_(address), frames_(address.path), in_frames_(address.kind == Address::Kind::kUnix) {}

absl::StatusOr<CallChannel::Stub*> CallChannel::OpenGrpc() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (stub_ == nullptr) {
    ASSIGN_OR_RETURN(channel_, OpenChannel(address_));
    stub_ = wire::Controller::NewStub(channel_);
    has_grpc_ = true;
  }
  return stub_.get();
}

void CallChannel::Connect() const {
  if (has_grpc_) {
    channel_->WaitForConnected(std::chrono::system_clock::now() + kConnectPatience);
  }
}

bool CallChannel::MayConnect() const {
  return address_.kind == Address::Kind::kTcp || ProbeSocket(address_.path) == 0;
}

int CallChannel::Probe() {
  if (address_.kind != Address::Kind::kUnix) {
    return 0;
  }
  return in_frames_ ? frames_.Connect() : ProbeSocket(address_.path);
}

absl::StatusOr<std::string> CallChannel::Call(const char* method, const std::string& request,
                                              milliseconds patience) {
  std::string reply;
  RETURN_IF_ERROR(Try(patience, [&](bool* known) {
    std::optional<grpc::Status> status = CallInFrames(method, request, &reply);
    return status.has_value() ? *std::move(status) : CallGrpc(method, request, known, &reply);
  }));
  return reply;
}

std::optional<grpc::Status> CallChannel::CallInFrames(const char* method,
                                                      const std::string& request,
                                                      std::string* reply) {
  if (!in_frames_) {
    return std::nullopt;
  }
  FramedChannel::Answer answer = frames_.Call(method, request, kCallTimeout);
  switch (answer.outcome) {
    case FramedChannel::Outcome::kForeign:
      in_frames_ = false;
      return std::nullopt;
    case FramedChannel::Outcome::kBroken:
      return grpc::Status(grpc::StatusCode::UNAVAILABLE, "");
    case FramedChannel::Outcome::kLate:
      return grpc::Status(grpc::StatusCode::DEADLINE_EXCEEDED,
                          "the controller has not answered in time");
    case FramedChannel::Outcome::kAnswered:
      break;
  }
  *reply = std::move(answer.reply);
  return answer.code == 0 ? grpc::Status::OK
                          : grpc::Status(static_cast<grpc::StatusCode>(answer.code), answer.text,
                                         kFromController);
}

// A controller lets nobody send much before it knows who that is, and a call has sent its message
// by then: a large one is not the first on its connection.
grpc::Status CallChannel::CallGrpc(const char* method, const std::string& request, bool* known,
                                   std::string* reply) {
  if (const absl::StatusOr<Stub*> stub = OpenGrpc(); !stub.ok()) {
    return {static_cast<grpc::StatusCode>(stub.status().code()),
            std::string(stub.status().message())};
  }
  if (address_.kind != Address::Kind::kUnix && request.size() > kFirstCallBytesMax && !*known) {
    std::string pong;
    const grpc::Status greeted = CallOnce("Ping", "", &pong);
    *known = greeted.ok();
    if (!*known) {
      return greeted;
    }
  }
  *known = true;
  return CallOnce(method, request, reply);
}

grpc::Status CallChannel::CallOnce(const char* method, const std::string& request,
                                   std::string* reply) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kCallTimeout);
  grpc::CompletionQueue queue;
  const grpc::Slice slice(request);
  const auto call = grpc::GenericStub(channel_).PrepareUnaryCall(
      &context, absl::StrCat("/", wire::Controller::service_full_name(), "/", method),
      grpc::ByteBuffer(&slice, 1), &queue);
  grpc::ByteBuffer answer;
  grpc::Status status;
  call->StartCall();
  call->Finish(&answer, &status, nullptr);
  void* tag = nullptr;
  bool ok = false;
  queue.Next(&tag, &ok);
  queue.Shutdown();
  while (queue.Next(&tag, &ok)) {
  }
  std::vector<grpc::Slice> slices;
  if (status.ok() && answer.Valid() && answer.Dump(&slices).ok()) {
    reply->clear();
    for (const grpc::Slice& part : slices) {
      reply->append(reinterpret_cast<const char*>(part.begin()), part.size());
    }
  }
  return status;
}

absl::Status CallChannel::Try(milliseconds patience,
                              const std::function<grpc::Status(bool* known)>& once) {
  const SystemClock clock;
  const SteadyTime give_up = clock.SteadyNow() + patience;
  bool known = false;  // to the controller, on this connection
  for (bool first = true;; first = false) {
    bool busy = false;
    const int error = Probe();
    if (error == EACCES || error == EPERM) {
      return absl::PermissionDeniedError(absl::StrCat(
          address_.text, ": this controller belongs to another user: use --state or --controller"));
    }
    if (error == ENOENT && first) {
      return Nobody(address_);  // A restarting controller leaves its socket behind.
    }
    if (error == 0) {
      const grpc::Status status = once(&known);
      if (status.ok()) {
        return absl::OkStatus();
      }
      busy = status.error_details() == kFromController;
      if (status.error_code() != grpc::StatusCode::UNAVAILABLE ||
          (busy && clock.SteadyNow() >= give_up)) {
        return Refusal(status);
      }
      RETURN_IF_ERROR(busy ? absl::OkStatus() : Mistrust(address_, status.error_message()));
    }
    if (clock.SteadyNow() >= give_up) {
      return Nobody(address_);
    }
    std::this_thread::sleep_for(busy ? kBusyPause : kRetryPause);
    if (error == 0 && !busy) {
      known = false;
      Connect();
    }
  }
}

}  // namespace muster::cli
