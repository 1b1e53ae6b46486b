#pragma once

// A state image: all that is needed to build the cluster's state again, as the store hands it back.
//
// Invariants: (1) `jobs` and `elements` hold every job that has not ended, each once and sorted by
// id, with its spec; (2) `nodes` is sorted by id; (3) ids below next_job and next_node were given
// out once.

#include <cstdint>
#include <string>
#include <vector>

#include "scheduler/model/change/alert.h"
#include "scheduler/model/job/job.h"
#include "scheduler/model/machine/health.h"
#include "scheduler/model/machine/narrow_link.h"
#include "scheduler/model/machine/node.h"
#include "scheduler/model/machine/power.h"
#include "scheduler/model/policy/account.h"
#include "scheduler/model/policy/policy.h"
#include "scheduler/model/policy/policy_usage.h"
#include "scheduler/model/value/ids.h"

namespace muster {

// A client's token and the job (or the step of a job) that it made.
struct TokenOwner {
  std::string token;
  JobId job;
  StepId step;
};

// Elements of one array to which nothing has happened since it was submitted: `first` and those
// with the `count` - 1 ids after it.
struct UntouchedElements {
  Job first;
  std::uint32_t count = 0;
};

struct StateImage {
  Version version;
  Epoch epoch;
  JobId next_job{1};
  NodeId next_node{1};
  std::vector<Node> nodes;
  std::vector<Job> jobs;
  std::vector<UntouchedElements> elements;
  std::vector<TokenOwner> tokens;      // the newest ones, oldest first
  std::vector<TargetHistory> history;  // of what live jobs depend on
  std::vector<PolicyObject> policy;    // in any order
  std::vector<Spent> spent;
  std::vector<AccountUsage> usage;
  Duration half_life{0};  // of that usage
  std::vector<NodeHealth> health;
  std::vector<FailureTally> tallies;
  std::vector<NodePower> power;
  std::vector<Alert> alerts;  // those that last
  std::vector<NarrowLink> narrow_links;
};

}  // namespace muster
