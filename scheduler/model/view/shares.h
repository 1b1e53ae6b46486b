#pragma once

// The account tree of a live cluster as the controller tells it, and a user's runs.
//
// Thread promise: plain values. Invariant: the runs of an account are by start.

#include <map>
#include <string>
#include <vector>

#include "scheduler/model/policy/account.h"
#include "scheduler/model/settings/policy_config.h"
#include "scheduler/model/value/time.h"

namespace muster {

struct Shares {
  AccountTree tree;
  Time now = kNoTime;
  Duration half_life{0};
  PriorityConfig rule;                                  // fairshare and damping
  std::map<std::string, std::vector<ChargedRun>> runs;  // of the user asked for, by account
};

}  // namespace muster
