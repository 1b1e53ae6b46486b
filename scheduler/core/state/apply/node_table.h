#pragma once

// The registered nodes: what jobs and quarantined attempts hold of each, and which jobs those are.
//
// Thread promise: none; owned by one thread. Invariants: (1) what is taken of a node is the sum
// over the attempts of its jobs and its quarantined ones; (2) ids given out are below next().

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "scheduler/core/state/tables/job_table.h"
#include "scheduler/core/state/tables/node_use.h"
#include "scheduler/model/change/event.h"
#include "scheduler/model/job/job.h"
#include "scheduler/model/machine/allocation.h"
#include "scheduler/model/machine/node.h"
#include "scheduler/model/value/ids.h"
#include "scheduler/model/value/time.h"

namespace muster::core {

class NodeTable {
 public:
  // As the store has them: what is taken of them is to be counted by Recount, when all holders are
  // known.
  void Load(std::vector<Node> nodes, NodeId next);

  [[nodiscard]] const std::map<NodeId, Node>& all() const { return nodes_; }
  // The id that the next new node gets.
  [[nodiscard]] NodeId next() const { return next_; }
  // Null when there is none.
  [[nodiscard]] const Node* Find(NodeId id) const;
  [[nodiscard]] const Node* Find(const std::string& name) const;
  // The jobs that hold resources on the node.
  [[nodiscard]] std::vector<JobId> JobsOn(NodeId node) const;
  // Nodes with quarantined attempts.
  [[nodiscard]] const std::set<NodeId>& quarantining() const { return quarantining_; }

  // The node, to change it. REQUIRES: it is there.
  Node& Must(NodeId id);
  // The node as it is now registered; `is_new` says whether it was there before.
  const Node& Register(const NodeRegistered& event, const JobTable& jobs, bool* is_new);
  // The node is gone. REQUIRES: nothing of it is held.
  void Forget(NodeId id);
  // A job had what has that mark there; of too many the oldest is forgotten. REQUIRES: the node is
  // there.
  void NoteKept(NodeId id, std::uint64_t mark);
  // It keeps that no more. REQUIRES: the node is there.
  void ForgetKept(NodeId id, std::uint64_t mark);
  // No node is connected any more.
  void DisconnectAll(Time now);
  // An attempt that this controller did not start holds some of the node, or no more.
  void Quarantine(const AttemptQuarantined& event, const JobTable& jobs);

  // The job holds its allocation from now on.
  void Take(const Job& job);
  // The job is on its nodes; what it holds of them is counted by Recount.
  void AddHolder(const Job& job);
  // It holds none of it any more. REQUIRES: it has an attempt, and did.
  void Free(const Job& job, const JobTable& jobs);
  // It gives its cores back, to hold the rest; it has them again. REQUIRES: they are free then.
  void FreeCores(const Job& job, const JobTable& jobs);
  void TakeCores(const Job& job);
  // Counts what is taken of the node, from its jobs and its quarantined attempts.
  void Recount(NodeId node, const JobTable& jobs);

 private:
  std::map<NodeId, Node> nodes_;
  std::map<std::string, NodeId> names_;
  NodeId next_{1};
  std::set<NodeId> quarantining_;
  std::map<NodeId, std::set<JobId>> jobs_on_;
};

}  // namespace muster::core
