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
#include "cli/controller/framed_stream.h"
#include "proto/controller.grpc.pb.h"
#include "scheduler/base/status.h"

namespace muster::cli {

class CallChannel {
 public:
  using Stub = wire::Controller::Stub;

  // A call that is not answered within `timeout` has failed.
  CallChannel(const Address& address, std::chrono::milliseconds timeout);

  // gRPC's stub, once it is needed; an address that gRPC cannot take is an error.
  absl::StatusOr<Stub*> OpenGrpc();
  absl::StatusOr<std::shared_ptr<grpc::Channel>> OpenChannel();
  // Waits until gRPC's channel is connected, for a while. It reads from a new connection only while
  // somebody waits for it: between calls that fail at once it would stay half open for seconds.
  void Connect() const;
  // Whether there is a socket to wait for: anything over TCP is.
  [[nodiscard]] bool MayConnect() const;

  // Makes a call that gives many messages in frames. Null: those at the other end take none, and
  // gRPC has to do. Unavailable: none is there now.
  absl::StatusOr<std::unique_ptr<FramedStream>> OpenStream(const char* method,
                                                           const std::string& request);

  // Makes one unary call ("Submit") while `patience` lasts: the bytes of its request, those of its
  // reply.
  absl::StatusOr<std::string> Call(const char* method, const std::string& request,
                                   std::chrono::milliseconds patience);

 private:
  // What connect(2) says of the controller's socket: 0, or an errno.
  int Probe();
  // Nothing when those at the other end take no frames.
  std::optional<grpc::Status> CallInFrames(const char* method, const std::string& request,
                                           std::string* reply);
  // `known`: the controller knows us.
  grpc::Status CallGrpc(const char* method, const std::string& request, bool* known,
                        std::string* reply);
  grpc::Status CallOnce(const char* method, const std::string& request, std::string* reply);

  // `once` makes the call; `known` is for it to keep.
  absl::Status Try(std::chrono::milliseconds patience,
                   const std::function<grpc::Status(bool* known)>& once);

  const Address address_;
  const std::chrono::milliseconds timeout_;
  FramedChannel frames_;         // over a unix socket
  std::atomic<bool> in_frames_;  // calls go there; false: gRPC makes every call
  std::mutex mutex_;             // guards what is made of gRPC
  std::atomic<bool> has_grpc_ = false;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<Stub> stub_;
};

}  // namespace muster::cli
