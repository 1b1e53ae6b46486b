#pragma once

// One life of the agent's stream to the controller, as gRPC's callbacks see it.
//
// Thread promise: On…() run on gRPC's threads and only queue or post; everything else is the
// loop's. Invariants: (1) the object outlives its OnDone(), and goes on the loop's thread: a
// channel's end joins gRPC's threads, so none of them may bring it about; (2) a hold keeps the call
// open until the loop has seen the last read fail, so that the loop may start operations whenever
// it likes before.

#include <grpcpp/grpcpp.h>

#include <cstddef>
#include <deque>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "agent/link/controller_address.h"
#include "proto/agent.grpc.pb.h"
#include "scheduler/runtime/event_loop.h"
#include "scheduler/runtime/mutex.h"

namespace muster::agent {

class LinkStream final
    : public grpc::ClientBidiReactor<wire::AgentMessage, wire::ControllerMessage>,
      public std::enable_shared_from_this<LinkStream> {
 public:
  // Whose stream it is; every call is on the loop's thread.
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual void Handle(const wire::ControllerMessage& message) = 0;
    // The queue is half empty after it was full.
    virtual void Drained() = 0;
    // The stream has ended.
    virtual void Lost(const absl::Status& status) = 0;
  };
  struct Target {
    std::string address;
    AgentTlsFiles tls;  // empty: the address is a unix socket of our own user's controller
    std::string node;   // ours
  };

  // A channel to the controller. An error says which file cannot be read, or, without keys, who
  // listens there instead (own_controller.h).
  static absl::StatusOr<std::shared_ptr<grpc::Channel>> MakeChannel(const Target& target);

  LinkStream(EventLoop& loop, Owner* owner, std::shared_ptr<grpc::Channel> channel,
             std::size_t waiting_max);

  // Opens the stream and sends `first`.
  void Open(wire::AgentMessage first);
  // Queues a message; false when too many wait.
  bool Write(const wire::AgentMessage& message);
  // The controller's certificate, PEM, which TLS has verified; empty without TLS. REQUIRES: a
  // message has come.
  std::string PeerCertificate() const;
  // Ends the stream soon, from our side.
  void Cancel() { context_.TryCancel(); }
  // The owner receives nothing more.
  void Detach() { owner_ = nullptr; }
  // Cancels, and waits until gRPC is done with this object.
  void CloseAndWait();

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnDone(const grpc::Status& status) override;

 private:
  // What is left to touch once the stream may be gone.
  struct Ending {
    Mutex mutex;
    CondVar changed;
    bool done ABSL_GUARDED_BY(mutex) = false;
  };

  void TakeRead(bool ok);
  void Release();

  EventLoop& loop_;
  Owner* owner_;  // the loop's; null once detached
  const std::size_t waiting_max_;
  const std::shared_ptr<grpc::Channel> channel_;
  const std::unique_ptr<wire::AgentLink::Stub> stub_;
  grpc::ClientContext context_;
  bool released_ = false;             // the loop's
  wire::ControllerMessage incoming_;  // gRPC's while a read is under way, then the loop's

  const std::shared_ptr<Ending> ending_ = std::make_shared<Ending>();

  Mutex mutex_;
  std::deque<wire::AgentMessage> outgoing_ ABSL_GUARDED_BY(mutex_);  // the first is being written
  bool writable_ ABSL_GUARDED_BY(mutex_) = true;
};

}  // namespace muster::agent
