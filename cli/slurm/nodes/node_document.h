#pragma once

// Nodes, partitions and reservations as sinfo and scontrol have them with --json.
//
// Pure. Invariant: limits that are not set are "".

#include <string>
#include <vector>

#include "cli/frame/json_output.h"
#include "scheduler/model/policy/policy_view.h"
#include "scheduler/model/view/view.h"

namespace muster::cli::slurm {

Json NodeEntry(const NodeView& node, const std::vector<PolicyView>& partitions);
Json PartitionEntry(const PolicyView& partition, const std::vector<NodeView>& nodes);
Json ReservationEntry(const PolicyView& reservation);

// A line of sinfo: a partition and nodes of it that are alike.
Json SinfoEntry(const PolicyView& partition, const std::vector<const NodeView*>& nodes,
                const std::string& cluster);

}  // namespace muster::cli::slurm
