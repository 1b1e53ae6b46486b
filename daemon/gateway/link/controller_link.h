#pragma once

// The way to the controller: any method of the client service, each call by its caller's token.
//
// Thread promise: safe from any thread; `done` is called on gRPC's threads.
// Invariants: (1) nothing of this process speaks for it: over TLS it shows no certificate, and the
// unix socket that it uses takes nothing but tokens; a call without a token is not even made; (2)
// every call has a deadline; (3) after Close none is under way; (4) of several controllers the one
// that leads is called, and again when another leads, where a call made twice has one effect.

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/controller.grpc.pb.h"
#include "scheduler/runtime/mutex.h"

namespace muster::daemon {

class ControllerLink {
 public:
  static constexpr std::chrono::seconds kPatience{30};
  // Of several controllers: with one that does not answer, and until one leads.
  static constexpr std::chrono::seconds kPatienceWithOne{6};
  static constexpr std::chrono::seconds kPatienceWithAll{10};

  // `addresses`: "unix:PATH" or "HOST:PORT", of several controllers by commas; the second needs
  // `authority`, the PEM file of whom to trust.
  static absl::StatusOr<std::unique_ptr<ControllerLink>> Open(const std::string& addresses,
                                                              const std::string& authority);
  ControllerLink(const ControllerLink&) = delete;
  ControllerLink& operator=(const ControllerLink&) = delete;
  ~ControllerLink();

  // The service's method of that name; null when there is none.
  static const google::protobuf::MethodDescriptor* FindMethod(const std::string& name);

  // `reply` is what the method answers, and empty with an error.
  using Done = std::function<void(const grpc::Status& status,
                                  std::unique_ptr<google::protobuf::Message> reply)>;
  // REQUIRES: a unary method, whose request `request` is.
  void Call(const google::protobuf::MethodDescriptor& method,
            const google::protobuf::Message& request, const std::string& token, Done done);

  // Of a stream: each message, one at a time, and then, once, how it ended. The next message is
  // taken from the controller once `more` is called, there or later.
  template <class Message>
  struct StreamReader {
    std::function<void(const Message& reply, const std::function<void()>& more)> news;
    std::function<void(const grpc::Status& status)> ended;
  };
  using EventReader = StreamReader<wire::WatchEventsReply>;
  using JobReader = StreamReader<wire::WatchJobReply>;
  // Events by the caller's token from the controller that leads, on connections of their own, so
  // that they take no call's place. Returns what ends the stream.
  std::function<void()> Watch(const wire::WatchEventsRequest& request, const std::string& token,
                              EventReader reader);
  // The same of a job's views, until it is over.
  std::function<void()> Watch(const wire::WatchJobRequest& request, const std::string& token,
                              JobReader reader);

  // Whether a controller is connected; tries to connect when it is not.
  [[nodiscard]] bool Connected() const;
  // Ends every call, and waits until none is left.
  void Close();

 private:
  class UnaryCall;
  class RepeatedCall;
  template <class Asked, class Message>
  class StreamCall;
  class Search;
  using MakeChannel = std::function<std::shared_ptr<grpc::Channel>()>;
  explicit ControllerLink(std::vector<MakeChannel> makers);
  // A controller.
  struct Place {
    explicit Place(MakeChannel maker) : make(std::move(maker)), channel(make()), stub(channel) {}
    const MakeChannel make;
    const std::shared_ptr<grpc::Channel> channel;
    grpc::GenericStub stub;
  };
  [[nodiscard]] Place& Called() const { return *places_[at_]; }
  // Calls `found` once the controller that leads is known, if it can be found out as this caller.
  void Seek(const std::string& token, std::function<void()> found);
  // Another may lead by now.
  void Doubt() { seek_at_ = std::chrono::steady_clock::time_point(); }
  template <class Asked, class Message>
  std::function<void()> WatchAny(const Asked& request, const std::string& token,
                                 StreamReader<Message> reader);
  template <class Asked, class Message>
  std::function<void()> BeginWatch(const Asked& request, const std::string& token,
                                   StreamReader<Message> reader);
  // A connection that has room for one stream more; null when there is none.
  struct EventChannel {
    Place* place = nullptr;
    std::shared_ptr<grpc::Channel> channel;
    std::size_t streams = 0;
  };
  EventChannel* TakeEventChannel();
  void GiveBack(EventChannel* channel);
  using CallNumber = std::uint64_t;
  // Counts a call that begins, and how to end it; nothing: the link is closed.
  std::optional<CallNumber> Enter(std::function<void()> cancel);
  // It is over. Its context must be gone by now: it holds the connection, and a connection whose
  // last holder is a thread of gRPC's ends the process (the thread would wait for itself).
  void Leave(CallNumber call);

  std::vector<std::unique_ptr<Place>> places_;
  std::atomic<std::size_t> at_ = 0;                             // of them, the one that is called
  std::atomic<std::chrono::steady_clock::time_point> seek_at_;  // not before
  Mutex mutex_;
  CondVar changed_;
  CallNumber last_call_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<CallNumber, std::function<void()>> calls_ ABSL_GUARDED_BY(mutex_);  // how to end each
  std::vector<std::unique_ptr<EventChannel>> event_channels_ ABSL_GUARDED_BY(mutex_);
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace muster::daemon
