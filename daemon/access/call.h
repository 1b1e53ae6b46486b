#pragma once

// One call that a client made and that the access table admitted: who calls what, and the way to
// answer.
//
// Thread promise: safe from any thread. Invariants: a call is finished once, by Finish or by its
// reactor; its copies are the same call.

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <utility>

#include "absl/status/status.h"
#include "daemon/access/gate.h"
#include "daemon/access/read_queue.h"
#include "daemon/access/rpc.h"
#include "daemon/controller/meters.h"

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

struct Call {
  const Gate& gate;
  Caller caller;
  const char* method;  // "Submit"
  grpc::ServerUnaryReactor* reactor;

  // The reply leaves; with an error, the error alone.
  void Finish(const absl::Status& status) const { reactor->Finish(ToGrpc(status)); }
  // Says in the gate's log when the method itself refused the caller.
  void Note(const absl::Status& status) const { gate.Note(caller, method, status); }
};

}  // namespace muster::daemon
