#pragma once

// The links of GPUs: between two nodes, all GPUs of both together, and between each two GPUs of a
// node, by the all-reduce of NCCL or RCCL (kernel `nccl`).
//
// Thread promise: the main thread's; a thread for each job that measures waits for it. Invariants:
// what cannot be measured says why and has no figures; GPUs of different makers are not joined.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/controller/connection.h"
#include "cli/frame/verb.h"
#include "cli/links/link_run.h"
#include "cli/links/link_verdict.h"
#include "scheduler/model/machine/machine.h"
#include "scheduler/model/view/view.h"

namespace muster::cli {

struct GpuNode {
  LinkNode node;
  std::vector<Gpu> gpus;  // one at the least, all of one maker
};

// Of these idle nodes, those with GPUs that can be joined; of the others with GPUs standard error
// has a line.
absl::StatusOr<std::vector<GpuNode>> GpuNodesOf(const std::vector<NodeView>& idle,
                                                Connection& connection);

struct Survey {
  std::string title;
  bool between_nodes = false;  // else of GPUs inside of one
  std::vector<LinkNode> ends;
  std::vector<MeasuredLink> links;
  LinkReport report;
};

// Between each two of the nodes, in at most `rounds` rounds. `wanted`: of two positions.
Survey SurveyBetween(const LinkRun& run, const std::vector<GpuNode>& nodes, std::size_t rounds,
                     double least, const std::function<bool(std::size_t, std::size_t)>& wanted);
// Inside of each node with two GPUs or more; one survey for each kind of node.
std::vector<Survey> SurveysInside(const LinkRun& run, const std::vector<GpuNode>& nodes,
                                  double least);

// Which of the node's GPUs has that PCI address, in whatever form: "GPU 3"; else by the rank.
std::string GpuAt(const std::vector<Gpu>& gpus, const std::string& address, std::size_t rank);

}  // namespace muster::cli
