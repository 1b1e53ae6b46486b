#pragma once

// One call to the controller's service, by the way that there is: in frames over a unix socket
// whose other end takes them, else over gRPC; again and again while nobody answers.
//
// Included by the connection alone. Thread promise: safe from any thread; each call blocks its own.
// Invariants: gRPC's channel is made when something needs it, and not before.

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/controller/address.h"
#include "cli/controller/framed_channel.h"
#include "proto/controller.grpc.pb.h"
#include "scheduler/base/status.h"

namespace muster::cli {

// "no controller at …", with the mend.
absl::Status Nobody(const Address& address);

class CallChannel {
 public:
  using Stub = wire::Controller::Stub;
  template <class Request, class Reply>
  using Method = grpc::Status (Stub::*)(grpc::ClientContext*, const Request&, Reply*);

  explicit CallChannel(const Address& address);

  // gRPC's stub, once it is needed; an address that gRPC cannot take is an error.
  absl::StatusOr<Stub*> OpenGrpc();
  // Waits until gRPC's channel is connected, for a while. It reads from a new connection only while
  // somebody waits for it: between calls that fail at once it would stay half open for seconds.
  void Connect() const;
  // Whether there is a socket to wait for: anything over TCP is.
  [[nodiscard]] bool MayConnect() const;

  // Makes one unary call ("Submit") while `patience` lasts.
  template <class Request, class Reply>
  absl::Status Call(const char* name, Method<Request, Reply> method, const Request& request,
                    Reply* reply, std::chrono::milliseconds patience) {
    return Try(patience, [&](bool* known) {
      std::string bytes;
      if (auto status = CallInFrames(name, request, &bytes)) {
        const bool good = !status->ok() || reply->ParseFromString(bytes);
        return good ? *std::move(status) : BadReply();
      }
      return CallGrpc(method, request, reply, known);
    });
  }

  // The same for a reply that is long: its bytes.
  template <class Request, class Reply>
  absl::StatusOr<std::string> CallForBytes(const char* name, Method<Request, Reply> method,
                                           const Request& request,
                                           std::chrono::milliseconds patience) {
    std::string bytes;
    RETURN_IF_ERROR(Try(patience, [&](bool* known) {
      if (auto status = CallInFrames(name, request, &bytes)) {
        return *std::move(status);
      }
      Reply reply;
      grpc::Status status = CallGrpc(method, request, &reply, known);
      bytes = reply.SerializeAsString();
      return status;
    }));
    return bytes;
  }

 private:
  // What connect(2) says of the controller's socket: 0, or an errno.
  int Probe();
  // Nothing when those at the other end take no frames.
  std::optional<grpc::Status> CallInFrames(const char* name,
                                           const google::protobuf::MessageLite& request,
                                           std::string* reply);
  // Gets ready for a call over gRPC of so many bytes; `known`: the controller knows us.
  absl::StatusOr<Stub*> Prepare(std::size_t bytes, bool* known, grpc::Status* status);
  static grpc::Status BadReply();
  static void SetDeadline(grpc::ClientContext& context);

  template <class Request, class Reply>
  grpc::Status CallGrpc(Method<Request, Reply> method, const Request& request, Reply* reply,
                        bool* known) {
    grpc::Status status;
    const absl::StatusOr<Stub*> ready = Prepare(request.ByteSizeLong(), known, &status);
    if (!ready.ok()) {
      return status;
    }
    grpc::ClientContext context;
    SetDeadline(context);
    return (*ready->*method)(&context, request, reply);
  }

  // `once` makes the call; `known` is for it to keep.
  absl::Status Try(std::chrono::milliseconds patience,
                   const std::function<grpc::Status(bool* known)>& once);

  const Address address_;
  FramedChannel frames_;         // over a unix socket
  std::atomic<bool> in_frames_;  // calls go there; false: gRPC makes every call
  std::mutex mutex_;             // guards what is made of gRPC
  std::atomic<bool> has_grpc_ = false;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<Stub> stub_;
};

}  // namespace muster::cli
