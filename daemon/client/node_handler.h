#pragma once

// The calls about the cluster and its nodes.
//
// Thread promise: gRPC's threads call in and never wait; answers come from the store's writer
// thread or, when they are long, from `reader`. Invariants: an answer leaves only when what it says
// is durable.

#include <string>
#include <utility>

#include "daemon/access/call.h"
#include "daemon/controller/controller.h"
#include "daemon/controller/worker.h"
#include "proto/controller.pb.h"

namespace muster::daemon {

class NodeHandler {
 public:
  // Everything that is referred to outlives the answers.
  NodeHandler(Controller& controller, std::string cluster, Worker& reader)
      : controller_(controller), cluster_(std::move(cluster)), reader_(reader) {}

  void Ping(const Call& call, const wire::PingRequest& request, wire::PingReply* reply);
  void ListNodes(const Call& call, const wire::ListNodesRequest& request,
                 wire::ListNodesReply* reply);
  void Drain(const Call& call, const wire::DrainRequest& request, wire::DrainReply* reply);

 private:
  Controller& controller_;
  const std::string cluster_;
  Worker& reader_;
};

}  // namespace muster::daemon
