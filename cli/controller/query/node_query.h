#pragma once

// Which nodes a reading verb shows, fetched.
//
// Thread promise: as Connection's. Invariant: every name that was given and is no node's gets one
// line on standard error.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/frame/verb.h"
#include "scheduler/model/machine/narrow_link.h"
#include "scheduler/model/view/view.h"

namespace muster::cli {

struct NodeAnswers {
  std::vector<NodeView> nodes;
  std::vector<LargestGpuJob> largest;  // when all nodes are asked for
  std::vector<NarrowLink> narrow_links;
  int code = 0;  // 1 when a name is no node's
};

// The nodes that the invocation's arguments name (all, when there are none).
absl::StatusOr<NodeAnswers> FetchNodes(const Invocation& invocation, const std::string& verb,
                                       bool with_machine);

}  // namespace muster::cli
