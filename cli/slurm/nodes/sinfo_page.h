#pragma once

// What sinfo prints.
//
// Pure. Invariant: lines of one partition stand together, in the order of the configuration, unless
// the request sorts them.

#include <string>
#include <vector>

#include "cli/slurm/nodes/sinfo_options.h"

namespace muster::cli::slurm {

// What the controller told.
struct ClusterAnswer {
  std::vector<NodeView> nodes;
  std::vector<PolicyView> partitions;
  std::vector<PolicyView> reservations;
  NodeScene scene;
  Time now = kNoTime;
};

std::string SinfoPage(const SinfoRequest& request, const ClusterAnswer& cluster);
// The same nodes with --json: a line for those of a partition that are in one state.
std::string SinfoDocument(const SinfoRequest& request, const ClusterAnswer& cluster);

}  // namespace muster::cli::slurm
