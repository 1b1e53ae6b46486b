#pragma once

// What is looked for in the nodes' timelines, and what is found.
//
// Invariant: needs of one shape are equal but for the job and the nodes that are barred.

#include <cstdint>
#include <vector>

#include "scheduler/core/place/nodes/candidate.h"
#include "scheduler/core/policy/reserved_nodes.h"
#include "scheduler/core/state/tables/node_use.h"
#include "scheduler/model/job/job_spec.h"
#include "scheduler/model/value/time.h"

namespace muster::core {

// What is looked for.
struct Need {
  const ResourceRequest* request = nullptr;
  Duration duration{0};  // zero: no limit
  std::uint64_t shape = 0;
  bool whole_gpus = false;                     // shares of GPUs are looked for as whole ones
  const std::vector<bool>* inside = nullptr;   // by node position: where the job may be; null: all
  const std::vector<bool>* allowed = nullptr;  // of those, the nodes that fit its description
  const ReservedNodes* reserved = nullptr;     // null: none
  std::vector<std::uint64_t> marks = {};       // of what nodes may keep for the job (MarksOf)
  std::uint32_t user = kAnyUser;               // the job's, where some want nodes to themselves
  // By position: where it was tried in vain, or must not be; null: none. A start at once heeds it,
  // a later one does not.
  const std::vector<bool>* barred = nullptr;
};

// The need for a start at some later time: how the shares of GPUs lie then is not known, so that
// one that asks for a share is kept whole GPUs.
Need LaterNeed(const Need& need);

struct Opening {
  Time start = kNoTime;
  std::vector<NodeShare> shares;  // by position in the snapshot
};

}  // namespace muster::core
