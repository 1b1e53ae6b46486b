#pragma once

// The service that says which controller leads, and has it hand over.
//
// Thread promise: gRPC's threads call in and never wait. Invariants: every method first asks the
// access table.

#include <string>

#include "daemon/access/gate.h"
#include "daemon/controller/controller.h"
#include "daemon/leading/leader_loop.h"
#include "proto/leadership.grpc.pb.h"

namespace muster::daemon {

class LeadershipService final : public wire::Leadership::CallbackService {
 public:
  // What is referred to outlives the service. `name` is this controller's.
  LeadershipService(const Controller& controller, const Gate& gate, std::string name)
      : controller_(controller), gate_(gate), name_(std::move(name)) {}
  // The loop of a controller that is not alone; before that, and without one, nobody else leads.
  void Use(LeaderLoop* loop) { loop_ = loop; }

  using Context = grpc::CallbackServerContext;
  grpc::ServerUnaryReactor* ReadControllerStatus(Context* context,
                                                 const wire::ReadControllerStatusRequest* request,
                                                 wire::ReadControllerStatusReply* reply) override;
  grpc::ServerUnaryReactor* HandOver(Context* context, const wire::HandOverRequest* request,
                                     wire::HandOverReply* reply) override;

 private:
  const Controller& controller_;
  const Gate& gate_;
  const std::string name_;
  std::atomic<LeaderLoop*> loop_ = nullptr;
};

}  // namespace muster::daemon
