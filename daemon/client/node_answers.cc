// The questions about the cluster and its nodes (client_methods.h).
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "daemon/client/client_methods.h"
#include "daemon/controller/views.h"
#include "scheduler/core/place/worth/largest_gpu_job.h"

namespace muster::daemon {
namespace {

ClusterStatus StatusOf(const core::ClusterState& state, const std::string& cluster) {
  ClusterStatus status;
  status.cluster = cluster;
  status.version = MUSTER_VERSION;
  status.epoch = state.epoch().value();
  status.nodes = static_cast<std::uint32_t>(state.nodes().size());
  status.nodes_connected = static_cast<std::uint32_t>(
      std::count_if(state.nodes().begin(), state.nodes().end(),
                    [](const auto& entry) { return entry.second.connected; }));
  status.jobs_pending = static_cast<std::uint32_t>(state.waiting());
  status.jobs_running = static_cast<std::uint32_t>(state.jobs().size() - state.waiting());
  return status;
}

void AnswerPing(const Backend& backend, const Call<Ping>& call, const Ping& /*asked*/) {
  backend.controller.Look([backend, call](const StateView& snapshot) -> Controller::Reply {
    return [call, answer = StatusOf(snapshot.state(), backend.cluster)](
               const absl::Status& status) { call.Finish(status, answer); };
  });
}

// The named nodes, one after the other.
absl::StatusOr<NodeList> NamedNodes(const core::ClusterState& state, const ListNodes& asked) {
  NodeList list;
  for (const std::string& name : asked.names) {
    const Node* node = state.FindNode(name);
    if (node == nullptr) {
      return absl::NotFoundError(absl::StrCat("node ", name, ": no such node; see muster nodes"));
    }
    list.nodes.push_back(muster::daemon::ViewOf(state, *node, asked.with_machine));
  }
  return list;
}

Controller::Reply AnswerAllNodes(const Backend& backend, const Call<ListNodes>& call,
                                 const core::ClusterState& state, bool with_machine) {
  auto list = std::make_shared<NodeList>();
  auto snapshots = std::make_shared<std::vector<NodeSnapshot>>();
  for (const auto& [id, node] : state.nodes()) {
    list->nodes.push_back(muster::daemon::ViewOf(state, node, with_machine));
    if (!node.machine->gpus.empty()) {
      snapshots->push_back(
          NodeSnapshot{id, node.name, node.machine, node.connected, node.drained, node.taken});
    }
  }
  return [backend, call, list, snapshots,
          network = backend.controller.policy()->network](const absl::Status& status) {
    call.Aside(backend.reader, [call, list, snapshots, network, status] {
      list->largest = core::LargestGpuJobs(*snapshots, network.get());
      call.Finish(status, *list);
    });
  };
}

void AnswerListNodes(const Backend& backend, const Call<ListNodes>& call, const ListNodes& asked) {
  backend.controller.Look([backend, call, asked](const StateView& snapshot) -> Controller::Reply {
    if (asked.names.empty()) {
      return AnswerAllNodes(backend, call, snapshot.state(), asked.with_machine);
    }
    return [call, list = NamedNodes(snapshot.state(), asked)](const absl::Status& status) {
      call.Finish(list.ok() ? status : list.status(), list.ok() ? *list : NodeList());
    };
  });
}

}  // namespace

void ServeNodeQuestions(Methods& methods, const Backend& backend) {
  AnswerAtOnce<Ping>(methods, backend, AnswerPing);
  AnswerInTurn<ListNodes>(methods, backend, AnswerListNodes);
}

}  // namespace muster::daemon
