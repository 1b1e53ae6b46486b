#pragma once

// The account tree of a live cluster as the controller tells it, and a user's runs.
//
// Invariants: the runs are by account, those of an account by start.

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "scheduler/model/policy/account.h"
#include "scheduler/model/settings/scheduler_config.h"
#include "scheduler/model/value/fields.h"
#include "scheduler/model/value/time.h"

namespace muster {

// What a user ran in one account, as far back as it still weighs.
struct UserRuns {
  std::string account;
  std::vector<ChargedRun> runs;
  static constexpr auto Fields(auto list) {
    return list(Field{"account", &UserRuns::account}, Field{"runs", &UserRuns::runs});
  }
  friend bool operator==(const UserRuns&, const UserRuns&) = default;
};

struct Shares : AccountTree {
  Time now = kNoTime;
  Duration half_life{0};
  std::string algorithm;       // "fair-tree" or "classic"
  std::uint32_t damping = 1;   // of classic
  std::vector<UserRuns> runs;  // of the user asked for
  static constexpr auto Fields(auto list) {
    return list(Field{"accounts", &AccountTree::accounts},
                Field{"associations", &AccountTree::associations}, Field{"now", &Shares::now},
                Field{"half_life", &Shares::half_life}, Field{"algorithm", &Shares::algorithm},
                Field{"damping", &Shares::damping}, Field{"runs", &Shares::runs});
  }

  [[nodiscard]] PriorityConfig Rule() const {
    PriorityConfig rule;
    rule.fairshare = algorithm == kClassic ? FairshareRule::kClassic : FairshareRule::kFairTree;
    rule.damping = damping;
    return rule;
  }
  void SetRule(const PriorityConfig& rule) {
    algorithm = rule.fairshare == FairshareRule::kClassic ? kClassic : kFairTree;
    damping = rule.damping;
  }
  // Of one account; none when nothing was run in it.
  [[nodiscard]] std::vector<ChargedRun> RunsIn(const std::string& account) const {
    const auto found = std::find_if(runs.begin(), runs.end(),
                                    [&](const UserRuns& each) { return each.account == account; });
    return found == runs.end() ? std::vector<ChargedRun>() : found->runs;
  }

  static constexpr const char* kFairTree = "fair-tree";
  static constexpr const char* kClassic = "classic";
};

}  // namespace muster
