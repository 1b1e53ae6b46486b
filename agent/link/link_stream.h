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

#include "absl/base/thread_annotations.h"
#include "agent/link/controller_link.h"
#include "proto/agent.grpc.pb.h"
#include "scheduler/runtime/event_loop.h"
#include "scheduler/runtime/mutex.h"

namespace muster {

class LinkStream final
    : public grpc::ClientBidiReactor<wire::AgentMessage, wire::ControllerMessage>,
      public std::enable_shared_from_this<LinkStream> {
 public:
  // A channel to the controller by the link's configuration. An error says which file cannot be
  // read, or, without keys, which process listens there instead (own_controller.h).
  static absl::StatusOr<std::shared_ptr<grpc::Channel>> MakeChannel(
      const ControllerLink::Config& config);

  LinkStream(EventLoop& loop, ControllerLink* link, std::shared_ptr<grpc::Channel> channel,
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
  // The link receives nothing more.
  void Detach() { link_ = nullptr; }
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
  ControllerLink* link_;  // the loop's; null once detached
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

}  // namespace muster
