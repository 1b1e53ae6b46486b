// The questions about the cluster and its nodes (client_methods.h).
#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "daemon/client/client_methods.h"
#include "daemon/client/views/node_places.h"
#include "daemon/client/views/sight.h"
#include "daemon/controller/views.h"
#include "scheduler/core/place/worth/largest_gpu_job.h"

namespace muster::daemon {
namespace {

// Those that the cluster has, and those that it had when the jobs that hold them began.
std::vector<LicenseState> LicensesOf(const core::ClusterState& state,
                                     const std::vector<LicenseCount>& configured) {
  std::map<std::string, LicenseState> by_name;
  for (const LicenseCount& license : configured) {
    by_name[license.name].total = license.count;
  }
  for (const LicenseUse& use : state.licenses().Uses()) {
    by_name[use.name].used = use.used;
  }
  std::vector<LicenseState> licenses;
  for (auto& [name, license] : by_name) {
    license.name = name;
    licenses.push_back(std::move(license));
  }
  return licenses;
}

ClusterStatus StatusOf(const core::ClusterState& state, const SchedulerConfig& config,
                       const std::string& cluster) {
  ClusterStatus status;
  status.cluster = cluster;
  status.version = MUSTER_VERSION;
  status.epoch = state.epoch().value();
  status.nodes = static_cast<std::uint32_t>(state.nodes().size());
  status.nodes_connected = static_cast<std::uint32_t>(
      std::count_if(state.nodes().begin(), state.nodes().end(),
                    [](const auto& entry) { return entry.second.connected; }));
  status.jobs_pending = static_cast<std::uint32_t>(core::WaitingJobs(state));
  status.jobs_running = static_cast<std::uint32_t>(state.jobs().size() - core::WaitingJobs(state));
  status.licenses = LicensesOf(state, config.licenses);
  return status;
}

void AnswerPing(const Backend& backend, const Call<Ping>& call, const Ping& /*asked*/) {
  backend.controller.Look([backend, call](const StateView& snapshot) -> Controller::Reply {
    ClusterStatus answer =
        StatusOf(snapshot.state(), *backend.controller.policy(), backend.cluster);
    answer.warnings = backend.warnings.Now(snapshot.now());
    return [call, answer = std::move(answer)](const absl::Status& status) {
      call.Finish(status, answer);
    };
  });
}

// A node without the holders that the caller is not shown.
NodeView ViewFor(const Sight& sight, const core::ClusterState& state, const Node& node,
                 bool with_machine) {
  NodeView view = muster::daemon::ViewOf(state, node, with_machine);
  if (sight.Hides(Private::kJobs)) {
    std::erase_if(view.holders, [&](const HolderView& holder) {
      const Job* const job = state.FindJob(holder.job);
      return job == nullptr ||
             !sight.Shows(Private::kJobs, job->spec->user.name, job->spec->account);
    });
  }
  return view;
}

// The named nodes, one after the other.
absl::StatusOr<NodeList> NamedNodes(const Backend& backend, const StateView& snapshot,
                                    const Sight& sight, const ListNodes& asked) {
  const core::ClusterState& state = snapshot.state();
  NodeList list;
  list.narrow_links = state.narrow_links().all();
  for (const std::string& name : asked.names) {
    const Node* node = state.FindNode(name);
    if (node == nullptr || !sight.ShowsNode(state, node->id)) {
      return absl::NotFoundError(absl::StrCat("node ", name, ": no such node; see muster nodes"));
    }
    list.nodes.push_back(ViewFor(sight, state, *node, asked.with_machine));
    list.nodes.back().warnings = backend.usage.WarningsOf(node->id, snapshot.now());
  }
  return list;
}

Controller::Reply AnswerAllNodes(const Backend& backend, const Call<ListNodes>& call,
                                 const StateView& snapshot, bool with_machine) {
  const core::ClusterState& state = snapshot.state();
  auto list = std::make_shared<NodeList>();
  list->narrow_links = state.narrow_links().all();
  auto snapshots = std::make_shared<std::vector<NodeSnapshot>>();
  const Sight sight(call.caller, state);
  for (const auto& [id, node] : state.nodes()) {
    if (!sight.ShowsNode(state, id)) {
      continue;
    }
    list->nodes.push_back(ViewFor(sight, state, node, with_machine));
    list->nodes.back().warnings = backend.usage.WarningsOf(id, snapshot.now());
    if (!node.machine->gpus.empty()) {
      snapshots->push_back(
          NodeSnapshot{id, node.name, node.machine, node.connected, node.drained, node.taken});
      snapshots->back().gpu_occupants = node.gpu_occupants;
    }
  }
  return [backend, call, list, snapshots,
          network = backend.controller.policy()->network](const absl::Status& status) {
    call.Aside(backend.reader, [call, list, snapshots, network, status] {
      AddPlaces(network.get(), list->nodes);
      list->largest = core::LargestGpuJobs(*snapshots, network.get());
      call.Finish(status, *list);
    });
  };
}

void AnswerListNodes(const Backend& backend, const Call<ListNodes>& call, const ListNodes& asked) {
  backend.controller.Look([backend, call, asked](const StateView& snapshot) -> Controller::Reply {
    if (asked.names.empty()) {
      return AnswerAllNodes(backend, call, snapshot, asked.with_machine);
    }
    auto list = std::make_shared<absl::StatusOr<NodeList>>(
        NamedNodes(backend, snapshot, Sight(call.caller, snapshot.state()), asked));
    return [backend, call, list,
            network = backend.controller.policy()->network](const absl::Status& status) {
      if (!list->ok()) {
        call.Refuse(list->status());
        return;
      }
      call.Aside(backend.reader, [call, list, network, status] {
        AddPlaces(network.get(), (*list)->nodes);
        call.Finish(status, **list);
      });
    };
  });
}

}  // namespace

void ServeNodeQuestions(Methods& methods, const Backend& backend) {
  AnswerAtOnce<Ping>(methods, backend, AnswerPing);
  AnswerInTurn<ListNodes>(methods, backend, AnswerListNodes);
}

}  // namespace muster::daemon
