#pragma once

// An account tree made ready for fair share: checked, its links as indices, its usage summed up.
//
// CheckAccountTree finds what is wrong with a tree that people wrote; IndexTree needs one that
// passed. Invariants of a ShareTree: (1) node 0 is root; (2) children come in the order of the
// tree, accounts before associations; (3) an account with shares "parent" has no children: they are
// its nearest ancestor's that has not.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "absl/numeric/int128.h"
#include "scheduler/model/policy/account.h"

namespace muster::core {

// The first thing wrong with a tree: an entry of one of its two lists, a field of it, and what is
// wrong and the mend in one line.
struct TreeFault {
  bool of_account = false;  // else of an association
  std::size_t index = 0;
  std::string field;  // its name in Fields(); empty for the entry as a whole
  std::string text;
};

inline constexpr std::size_t kTreeEntriesMax = std::size_t{1} << 23;
// Usage of one entry: below 2^104 grains, 2 * 10^19 billing-seconds, so that sums do not overflow.
inline constexpr std::uint64_t kUsageHighMax = (std::uint64_t{1} << 40) - 1;

std::optional<TreeFault> CheckAccountTree(const AccountTree& tree);

struct ShareNode {
  std::uint32_t parent = 0;   // the account it is in
  std::uint32_t account = 0;  // the account whose shares it competes for: parent, or further up
  ShareCount shares;
  bool user = false;
  std::uint32_t users = 0;         // associations that compete at or below it
  std::uint64_t level_shares = 0;  // of all that compete with it, itself too
  absl::uint128 usage = 0;         // its own and that of everything in it
  std::vector<std::uint32_t> children;
};

struct ShareTree {
  std::vector<ShareNode> nodes;
  std::vector<std::uint32_t> account_nodes;      // by index in AccountTree::accounts
  std::vector<std::uint32_t> association_nodes;  // by index in AccountTree::associations
  std::int64_t period = 0;                       // of all usage
};

// REQUIRES: !CheckAccountTree(tree).
ShareTree IndexTree(const AccountTree& tree);

// a / b, or 0 where b is 0.
double RatioOrZero(absl::uint128 a, absl::uint128 b);

// What `node` has of the shares that it competes for; of "parent", what its account has; root: 1.
double LevelShares(const ShareTree& tree, std::uint32_t node);

}  // namespace muster::core
