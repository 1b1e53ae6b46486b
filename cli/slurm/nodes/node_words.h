#pragma once

// Words for nodes and partitions, as Slurm's tools know them.
//
// Pure. Invariant: a node that does not answer has "*" behind its state.

#include <set>
#include <string>
#include <string_view>

#include "scheduler/model/policy/policy_view.h"
#include "scheduler/model/view/view.h"

namespace muster::cli::slurm {

struct NodeWord {
  std::string state;    // "mixed", "drained", "down"
  std::string compact;  // "mix", "drain"
  bool answers = true;
  int rank = 0;  // in Slurm's order of states
};
NodeWord WordOf(const NodeView& node);
// No job can start on it: drained, draining or down.
bool IsOutOfService(const NodeView& node);
std::string LongState(const NodeView& node);     // "down*"
std::string CompactState(const NodeView& node);  // "idle"
std::string UpperState(const NodeView& node);    // scontrol's "IDLE+DRAIN"

// What the partition, or any other object of policy, says of `name`; `none` when it says nothing.
std::string Property(const PolicyView& object, std::string_view name, const std::string& none);

bool IsDefaultPartition(const PolicyView& partition);

// The nodes of a partition.
class Members {
 public:
  explicit Members(const PolicyView& partition);
  [[nodiscard]] bool Has(const std::string& node) const { return all_ || names_.contains(node); }

 private:
  bool all_ = false;
  std::set<std::string> names_;
};

// "S:C:T": sockets, cores of one, threads of one; zero where the machine is not known.
struct NodeShape {
  unsigned sockets = 0;
  unsigned cores = 0;
  unsigned threads = 0;
};
NodeShape ShapeOf(const NodeView& node);

std::string NodeGres(const NodeView& node);      // "gpu:8,scratch:4"; empty: none
std::string NodeGresUsed(const NodeView& node);  // "gpu:2,scratch:1"

}  // namespace muster::cli::slurm
