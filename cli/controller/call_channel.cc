#include "cli/controller/call_channel.h"

#include <grpcpp/generic/generic_stub.h>

#include <cerrno>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cli/controller/channel.h"
#include "cli/controller/reach.h"
#include "proto/convert/origin.h"
#include "scheduler/runtime/clock.h"

namespace muster::cli {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kFirstCallBytesMax = 32 << 10;
constexpr milliseconds kRetryPause{50}, kBusyPause{500};
constexpr milliseconds kConnectPatience{500};  // between two looks at the socket

// Why it is of no use to try again after what the probe said.
absl::Status WhyHopeless(const Address& address, int error, bool first) {
  if (error == EACCES || error == EPERM) {
    return absl::PermissionDeniedError(absl::StrCat(
        address.text, ": this controller belongs to another user: use --state or --controller"));
  }
  // A restarting controller leaves its socket behind.
  return error == ENOENT && first ? Nobody(address) : absl::OkStatus();
}

}  // namespace

CallChannel::CallChannel(const Address& address, std::chrono::milliseconds timeout)
    : address_(address),
      timeout_(timeout),
      frames_(address.path),
      in_frames_(address.kind == Address::Kind::kUnix) {}

absl::StatusOr<CallChannel::Stub*> CallChannel::OpenGrpc() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (stub_ == nullptr) {
    ASSIGN_OR_RETURN(channel_, cli::OpenChannel(address_));
    stub_ = wire::Controller::NewStub(channel_);
    has_grpc_ = true;
  }
  return stub_.get();
}

absl::StatusOr<std::shared_ptr<grpc::Channel>> CallChannel::OpenChannel() {
  RETURN_IF_ERROR(OpenGrpc().status());
  return channel_;
}

void CallChannel::Connect() const {
  if (has_grpc_) {
    channel_->WaitForConnected(std::chrono::system_clock::now() + kConnectPatience);
  }
}

bool CallChannel::MayConnect() const {
  return address_.kind == Address::Kind::kTcp ||
         (address_.path.size() <= kSocketPathBytesMax && ProbeSocket(address_.path) == 0);
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

absl::StatusOr<std::unique_ptr<FramedStream>> CallChannel::OpenStream(const char* method,
                                                                      const std::string& request) {
  std::unique_ptr<FramedStream> stream = in_frames_ ? frames_.Open(method, request) : nullptr;
  if (in_frames_ && stream == nullptr) {
    return Nobody(address_);
  }
  return stream;
}

std::optional<grpc::Status> CallChannel::CallInFrames(const char* method,
                                                      const std::string& request,
                                                      std::string* reply) {
  if (!in_frames_) {
    return std::nullopt;
  }
  FramedChannel::Answer answer = frames_.Call(method, request, timeout_);
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
    grpc::Status greeted = CallOnce("Ping", "", &pong);
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
  context.set_deadline(std::chrono::system_clock::now() + timeout_);
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
    RETURN_IF_ERROR(WhyHopeless(address_, error, first));
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
      RETURN_IF_ERROR(busy ? absl::OkStatus() : HandshakeError(address_, status.error_message()));
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
