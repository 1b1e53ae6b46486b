#include "agent/supervisor/variables/network_variables.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace muster::agent {
namespace {

using Names = std::vector<std::string>;

bool Has(const Names& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Those that UCX and NCCL know by their names; `fabric` false: the others, which have sockets.
Names NicsOf(const NetworkClass& traffic, const Machine& machine, bool fabric) {
  Names names;
  std::copy_if(traffic.nics.begin(), traffic.nics.end(), std::back_inserter(names),
               [&](const std::string& name) {
                 const bool is_fabric = std::any_of(
                     machine.nics.begin(), machine.nics.end(),
                     [&name](const Nic& nic) { return nic.fabric && nic.name == name; });
                 return is_fabric == fabric;
               });
  return names;
}

// The rank's own NIC where UCX and NCCL know it and it is one of `allowed`, else all of these; no
// NIC allowed means any.
Names FabricNics(const Machine& machine, const RankPlacement& rank, const Names& allowed) {
  const bool known = rank.nic > 0 && rank.nic <= machine.nics.size();
  if (known && machine.nics[rank.nic - 1].fabric) {
    const std::string& own = machine.nics[rank.nic - 1].name;
    if (allowed.empty() || Has(allowed, own)) {
      return {own};
    }
  }
  return allowed;
}

void AddFabric(const Machine& machine, const NodeAllocation& node, const RankPlacement& rank,
               const NetworkClass& collectives, std::vector<DeviceVariable>& variables) {
  if (!machine.enforced) {
    return;  // a played machine's NICs are not here
  }
  const Names allowed = NicsOf(collectives, machine, true);
  std::set<std::string> of_node;
  for (const RankPlacement& each : node.ranks) {
    const Names its = FabricNics(machine, each, allowed);
    of_node.insert(its.begin(), its.end());
  }
  if (const Names own = FabricNics(machine, rank, allowed); !own.empty()) {
    variables.push_back({"UCX_NET_DEVICES",
                         absl::StrJoin(own, ",",
                                       [](std::string* text, const auto& nic) {
                                         absl::StrAppend(text, nic, ":1");
                                       }),
                         true});
  }
  if (!of_node.empty()) {
    variables.push_back({"NCCL_IB_HCA", absl::StrCat("=", absl::StrJoin(of_node, ",")), true});
  }
}

void AddCollectives(const Machine& machine, const NetworkClass& collectives,
                    std::vector<DeviceVariable>& variables) {
  if (const Names sockets = NicsOf(collectives, machine, false); !sockets.empty()) {
    const std::string names = absl::StrJoin(sockets, ",");
    variables.push_back({"NCCL_SOCKET_IFNAME", absl::StrCat("=", names), true});
    variables.push_back({"GLOO_SOCKET_IFNAME", names, true});
  }
  if (collectives.dscp > 0) {
    const std::string traffic_class = absl::StrCat(4 * collectives.dscp);
    variables.push_back({"NCCL_IB_TC", traffic_class, true});
    variables.push_back({"UCX_IB_TRAFFIC_CLASS", traffic_class, true});
  }
}

void AddBulk(const NetworkClass& traffic, const char* name,
             std::vector<DeviceVariable>& variables) {
  for (auto& [variable, value] : BulkVariables(traffic, name)) {
    variables.push_back({variable, value, true});
  }
}

}  // namespace

void AddNetworkVariables(const SupervisorOrder& order, const NodeAllocation& node,
                         const RankPlacement* rank, std::vector<DeviceVariable>& variables) {
  const NetworkClass collectives = ClassNamed(order.network, kCollectives);
  if (rank != nullptr) {
    AddFabric(order.machine, node, *rank, collectives, variables);
  }
  AddCollectives(order.machine, collectives, variables);
  AddBulk(ClassNamed(order.network, kCheckpoints), "CHECKPOINT", variables);
  AddBulk(ClassNamed(order.network, kStaging), "STAGING", variables);
}

}  // namespace muster::agent
