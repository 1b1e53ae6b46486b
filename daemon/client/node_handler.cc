#include "daemon/client/node_handler.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "daemon/access/rpc.h"
#include "daemon/controller/views.h"
#include "proto/convert/convert.h"
#include "scheduler/core/place/worth/largest_gpu_job.h"

namespace muster::daemon {

void NodeHandler::Ping(const Call& call, const wire::PingRequest& /*request*/,
                       wire::PingReply* reply) {
  auto* const reactor = call.reactor;
  controller_.Look([this, reactor, reply](const StateView& snapshot) -> Controller::Reply {
    const core::ClusterState& state = snapshot.state();
    reply->set_cluster(cluster_);
    reply->set_version(MUSTER_VERSION);
    reply->set_epoch(state.epoch().value());
    reply->set_nodes(static_cast<std::uint32_t>(state.nodes().size()));
    reply->set_nodes_connected(static_cast<std::uint32_t>(
        std::count_if(state.nodes().begin(), state.nodes().end(),
                      [](const auto& entry) { return entry.second.connected; })));
    reply->set_jobs_pending(static_cast<std::uint32_t>(state.waiting()));
    reply->set_jobs_running(static_cast<std::uint32_t>(state.jobs().size() - state.waiting()));
    return [reactor](const absl::Status& status) { reactor->Finish(ToGrpc(status)); };
  });
}

void NodeHandler::ListNodes(const Call& call, const wire::ListNodesRequest& request,
                            wire::ListNodesReply* reply) {
  auto* const reactor = call.reactor;
  const std::vector<std::string> names(request.names().begin(), request.names().end());
  controller_.Look([this, reactor, reply, names, with_machine = request.with_machine()](
                       const StateView& snapshot) -> Controller::Reply {
    const core::ClusterState& state = snapshot.state();
    absl::Status found = absl::OkStatus();
    for (const std::string& name : names) {
      if (const Node* node = state.FindNode(name)) {
        ToWire(ViewOf(state, *node, with_machine), reply->add_nodes());
      } else {
        found =
            absl::NotFoundError(absl::StrCat("node ", name, ": no such node; see muster nodes"));
      }
    }
    if (names.empty()) {
      for (const auto& [id, node] : state.nodes()) {
        ToWire(ViewOf(state, node, with_machine), reply->add_nodes());
      }
    }
    if (!names.empty()) {
      return [reactor, found](const absl::Status& status) {
        reactor->Finish(ToGrpc(found.ok() ? status : found));
      };
    }
    auto snapshots = std::make_shared<std::vector<NodeSnapshot>>();
    for (const auto& [id, node] : state.nodes()) {
      if (!node.machine->gpus.empty()) {
        snapshots->push_back(
            NodeSnapshot{id, node.name, node.machine, node.connected, node.drained, node.taken});
      }
    }
    return [this, reactor, reply, snapshots,
            network = controller_.policy()->network](const absl::Status& status) {
      ReadAside(reader_, reactor, [reactor, reply, snapshots, network, status] {
        for (const LargestGpuJob& largest : core::LargestGpuJobs(*snapshots, network.get())) {
          ToWire(largest, reply->add_largest());
        }
        reactor->Finish(ToGrpc(status));
      });
    };
  });
}

void NodeHandler::Drain(const Call& call, const wire::DrainRequest& request,
                        wire::DrainReply* /*reply*/) {
  auto* const reactor = call.reactor;
  controller_.Take(DrainNode{request.node(), request.drained(), request.reason()},
                   [reactor](const core::Transition&, const absl::Status& status) {
                     reactor->Finish(ToGrpc(status));
                   });
}

}  // namespace muster::daemon
