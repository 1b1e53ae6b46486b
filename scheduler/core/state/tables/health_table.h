#pragma once

// What is known of the health of all nodes: part of a cluster state.
//
// Nodes of one class have the same processors and the same models of GPUs; how many GPUs and how
// much memory is left to the checks, so that a node that lost some is beside those that did not.
// Thread promise: none; changed only by ClusterState's events. Invariants: (1) a node with a
// machine is in exactly one class; (2) what is kept of a node is bounded; (3) the tally of a class
// is the sum of its nodes'.

#include <map>
#include <set>
#include <string>
#include <vector>

#include "scheduler/model/change/event.h"
#include "scheduler/model/machine/allocation.h"
#include "scheduler/model/machine/health.h"
#include "scheduler/model/machine/machine.h"
#include "scheduler/model/value/ids.h"

namespace muster::core {

class HealthTable {
 public:
  void Load(std::vector<NodeHealth> health, const std::vector<FailureTally>& tallies);
  void NoteMachine(NodeId node, const Machine& machine);
  void Order(const HealthCheckOrdered& event, const std::string& boot_id);
  void Want(const HealthCheckWanted& event);
  void Take(const HealthChecked& event);
  void Drain(const NodeDrained& event);
  // The node is gone, and what its class saw on it.
  void Forget(NodeId node);
  void NoteRunEnd(NodeId node, const RunEnded& fact, Time started);

  // Of a node of which nothing is known: a fresh one.
  [[nodiscard]] const NodeHealth& Of(NodeId node) const;
  [[nodiscard]] const FailureTally& TallyOf(NodeId node) const;
  [[nodiscard]] const std::map<NodeId, NodeHealth>& nodes() const { return nodes_; }
  [[nodiscard]] const std::map<NodeId, FailureTally>& tallies() const { return tallies_; }
  // The nodes with the same hardware, `node` among them.
  [[nodiscard]] const std::set<NodeId>& ClassOf(NodeId node) const;
  // Good values of the component from the node's class: the newest of each node, more of each where
  // there are few nodes, of some of the nodes where there are many.
  [[nodiscard]] std::vector<std::uint64_t> PoolOf(NodeId node, const std::string& component) const;
  // As core/state/tables/failure_rate has it.
  [[nodiscard]] std::uint32_t SickPermilleOf(NodeId node, Time now) const;
  // The mean time between failures of any of the nodes, each of which fails as its class did. What
  // nodes saw that ran nothing for days has not faded here. REQUIRES: there is a node.
  [[nodiscard]] Duration MtbfOf(const Allocation& allocation) const;
  // The same of the failures that leave nothing on the node.
  [[nodiscard]] Duration LossMtbfOf(const Allocation& allocation) const;
  // How many of the node's class its health has drained.
  [[nodiscard]] std::size_t DrainedInClassOf(NodeId node) const;

 private:
  void Learn(NodeHealth& health, const HealthRecord& record);
  NodeHealth& Touch(NodeId node);
  // Changes a node's tally, and with it that of its class.
  template <class Change>
  void ChangeTally(FailureTally& tally, const Change& change);
  // Between what comes `per_hour` of a class, on any of the nodes.
  Duration MeanTime(const Allocation& allocation, double (*per_hour)(const FailureTally&)) const;

  std::map<NodeId, NodeHealth> nodes_;
  std::map<NodeId, FailureTally> tallies_;
  std::map<std::string, std::set<NodeId>> classes_;
  std::map<NodeId, std::string> class_of_;
  std::map<std::string, FailureTally> class_tallies_;  // sums of the counts alone
};

// What nodes of one class have in common: "64 x AMD EPYC 7763; NVIDIA H200".
std::string ClassName(const Machine& machine);

}  // namespace muster::core
