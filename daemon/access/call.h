#pragma once

// One call that a client made and that the access table admitted: who calls what, and the way to
// answer.
//
// Invariants: a call is finished once; its copies are the same call; a reply leaves only with an OK
// status.

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "daemon/access/gate.h"
#include "daemon/access/read_queue.h"
#include "daemon/access/rpc.h"
#include "daemon/controller/meters.h"
#include "daemon/controller/worker.h"
#include "proto/convert/client_service.h"
#include "proto/convert/methods.h"

namespace muster::daemon {

// The reactor of a call: times it, and of a long read holds its user's turn until the call is over.
class CallReactor final : public grpc::ServerUnaryReactor {
 public:
  // `timings` outlives the call.
  explicit CallReactor(Timings& timings) : timings_(timings) {}
  void Hold(ReadQueue::Turn turn) { turn_ = std::move(turn); }
  void OnDone() override {
    timings_.Observe(std::chrono::steady_clock::now() - began_);
    delete this;
  }

 private:
  Timings& timings_;
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  ReadQueue::Turn turn_;
};

// A call of any method.
struct AnyCall {
  const Gate& gate;
  Caller caller;
  const google::protobuf::MethodDescriptor& method;
  grpc::ServerUnaryReactor* reactor;
  grpc::ByteBuffer* reply;
  std::size_t bytes = 0;  // of the request

  // Says in the gate's log when the method itself refused the caller.
  void Note(const absl::Status& status) const { gate.Note(caller, method.name(), status); }
  // REQUIRES: not ok.
  void Refuse(const absl::Status& status) const { reactor->Finish(ToGrpc(status)); }
  // Has `reader` do the work, which answers the call; or answers that too many wait for that.
  void Aside(Worker& reader, TaskQueue::Task work) const {
    ReadAside(reader, reactor, std::move(work));
  }
  // The reply leaves, as the bytes of its message; with an error, the error alone.
  void Send(const absl::Status& status, const std::string& message) const;
};

// A call of the method that Request describes.
template <ClientRequest Request>
struct Call : AnyCall {
  using Reply = typename Request::Reply;
  void Finish(const absl::Status& status, const Reply& answer = {}) const {
    std::string message;
    if (status.ok()) {
      AppendReply<Request>(answer, &message);
    }
    Send(status, message);
  }
};

}  // namespace muster::daemon
