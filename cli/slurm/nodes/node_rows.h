#pragma once

// The lines of sinfo: nodes of one partition that are alike in what is shown.
//
// Pure. Invariants: with `by_node` a row has one node; a row without nodes stands for a partition
// of which no node was chosen.

#include <string>
#include <vector>

#include "cli/slurm/nodes/node_fields.h"
#include "scheduler/model/policy/policy_view.h"
#include "scheduler/model/view/view.h"

namespace muster::cli::slurm {

struct NodeChoice {
  std::vector<std::string> partitions;  // empty: all
  std::vector<std::string> nodes;       // empty: all
  std::vector<std::string> states;      // lower case; empty: all
  bool answering = false;               // only those that answer
  bool silent = false;                  // only those that do not
  bool with_reason = false;             // only those out of service with a reason
};

struct RowShape {
  bool by_node = false;      // --Node
  bool exact = false;        // sizes that differ stand in lines of their own
  bool by_partition = true;  // the columns show something of partitions
};

std::vector<NodeRow> RowsOf(const std::vector<NodeView>& nodes,
                            const std::vector<PolicyView>& partitions, const NodeChoice& choice,
                            const RowShape& shape, const std::vector<NodeColumn>& columns,
                            const NodeScene& scene);

bool IsInState(const NodeView& node, const std::string& state);

}  // namespace muster::cli::slurm
