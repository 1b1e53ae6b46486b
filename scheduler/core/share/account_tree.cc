#include "scheduler/core/share/account_tree.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/core/share/decay.h"

namespace muster::core {
namespace {

// Node numbers by account name; looked up only.
using NodesByName = std::unordered_map<std::string_view, std::uint32_t>;

TreeFault AccountFault(std::size_t index, const char* field, std::string text) {
  return {.of_account = true, .index = index, .field = field, .text = std::move(text)};
}

TreeFault UserFault(std::size_t index, const char* field, std::string text) {
  return {.of_account = false, .index = index, .field = field, .text = std::move(text)};
}

std::string TooManyShares() {
  return absl::StrCat("more shares than can be had: use at most ", kSharesMax.value());
}

bool SharesAreGood(ShareCount shares) {
  return shares.value() <= kSharesMax.value() || shares == kParentShares;
}

constexpr const char* kTooMuchUsage = "more usage than can be: use less than 2 * 10^19";

std::optional<TreeFault> CheckAccount(const Account& account, std::size_t index) {
  if (account.name.empty()) {
    return AccountFault(index, "name", "an account without a name: give it one");
  }
  if (!SharesAreGood(account.shares)) {
    return AccountFault(index, "shares", TooManyShares());
  }
  if (account.usage.high > kUsageHighMax) {
    return AccountFault(index, "usage", kTooMuchUsage);
  }
  return std::nullopt;
}

std::optional<TreeFault> CheckAssociation(const Association& user, std::size_t index,
                                          const NodesByName& node_of) {
  if (user.user.empty()) {
    return UserFault(index, "user", "a user without a name: give it one");
  }
  if (node_of.count(user.account) == 0) {
    return UserFault(index, "account",
                     absl::StrCat("no account \"", user.account, "\": add it, or name another"));
  }
  if (!SharesAreGood(user.shares)) {
    return UserFault(index, "shares", TooManyShares());
  }
  if (user.usage.high > kUsageHighMax) {
    return UserFault(index, "usage", kTooMuchUsage);
  }
  return std::nullopt;
}

// Root is node 0, listed or not; accounts follow in their order. A name that comes again is left
// out.
NodesByName NodesOf(const std::vector<Account>& accounts) {
  NodesByName node_of;
  node_of.reserve(accounts.size() + 1);
  node_of.emplace(kRootAccount, 0);
  std::uint32_t next = 1;
  for (const Account& account : accounts) {
    next += node_of.emplace(account.name, next).second ? 1 : 0;
  }
  return node_of;
}

std::optional<TreeFault> CheckNames(const AccountTree& tree) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < tree.accounts.size(); ++i) {
    if (!names.insert(tree.accounts[i].name).second) {
      return AccountFault(i, "name",
                          absl::StrCat("account \"", tree.accounts[i].name,
                                       "\" is there twice: leave one of them out"));
    }
  }
  std::set<std::pair<std::string_view, std::string_view>> pairs;
  for (std::size_t i = 0; i < tree.associations.size(); ++i) {
    const Association& user = tree.associations[i];
    if (!pairs.insert({user.account, user.user}).second) {
      return UserFault(i, "user",
                       absl::StrCat("user \"", user.user, "\" is in account \"", user.account,
                                    "\" twice: leave one of them out"));
    }
  }
  return std::nullopt;
}

// The parent's node of each account's node; REQUIRES: every parent is there.
std::vector<std::uint32_t> Parents(const std::vector<Account>& accounts,
                                   const NodesByName& node_of) {
  std::vector<std::uint32_t> parents(node_of.size(), 0);
  for (const Account& account : accounts) {
    const std::uint32_t node = node_of.at(account.name);
    parents[node] = node == 0 ? 0 : node_of.at(account.parent);
  }
  return parents;
}

// A node from which parents lead back to it; 0 when there is none.
std::uint32_t NodeInCircle(const std::vector<std::uint32_t>& parents) {
  std::vector<std::uint32_t> walks(parents.size(), 0);  // the walk that came by
  for (std::uint32_t start = 1; start < parents.size(); ++start) {
    std::uint32_t node = start;
    for (; node != 0 && walks[node] == 0; node = parents[node]) {
      walks[node] = start;
    }
    if (node != 0 && walks[node] == start) {
      return node;
    }
  }
  return 0;
}

// REQUIRES: there is no circle.
bool IsTooDeep(std::uint32_t node, const std::vector<std::uint32_t>& parents) {
  std::size_t depth = 0;
  for (; node != 0 && depth <= kAccountDepthMax; node = parents[node]) {
    ++depth;
  }
  return depth > kAccountDepthMax;
}

std::optional<TreeFault> CheckLinks(const AccountTree& tree, const NodesByName& node_of) {
  for (std::size_t i = 0; i < tree.accounts.size(); ++i) {
    const Account& account = tree.accounts[i];
    if (account.name == kRootAccount && !account.parent.empty() && account.parent != kRootAccount) {
      return AccountFault(i, "parent", "root with a parent: leave it out");
    }
    if (account.name != kRootAccount && node_of.count(account.parent) == 0) {
      return AccountFault(
          i, "parent",
          absl::StrCat("no account \"", account.parent, "\": add it, or name another parent"));
    }
  }
  const std::vector<std::uint32_t> parents = Parents(tree.accounts, node_of);
  const std::uint32_t circle = NodeInCircle(parents);
  for (std::size_t i = 0; i < tree.accounts.size(); ++i) {
    const std::uint32_t node = node_of.at(tree.accounts[i].name);
    if (circle != 0 && node == circle) {
      return AccountFault(i, "parent",
                          absl::StrCat("account \"", tree.accounts[i].name,
                                       "\" is below itself: name a parent that is not below it"));
    }
    if (circle == 0 && IsTooDeep(node, parents)) {
      return AccountFault(
          i, "parent",
          absl::StrCat("account \"", tree.accounts[i].name, "\" is more than ", kAccountDepthMax,
                       " levels below root: name a parent nearer to root"));
    }
  }
  return std::nullopt;
}

std::int64_t LatestPeriod(const AccountTree& tree) {
  if (tree.accounts.empty() && tree.associations.empty()) {
    return 0;
  }
  std::int64_t period = std::numeric_limits<std::int64_t>::min();
  for (const Account& account : tree.accounts) {
    period = std::max(period, account.usage.period);
  }
  for (const Association& user : tree.associations) {
    period = std::max(period, user.usage.period);
  }
  return period;
}

// The nodes of `nodes`, the deepest accounts first, associations before all.
std::vector<std::uint32_t> BottomUp(const std::vector<ShareNode>& nodes) {
  std::vector<std::vector<std::uint32_t>> levels(kAccountDepthMax + 2);
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    std::size_t depth = 0;
    for (std::uint32_t node = i; node != 0; node = nodes[node].parent) {
      ++depth;
    }
    MUSTER_CHECK(depth < levels.size());
    levels[depth].push_back(i);
  }
  std::vector<std::uint32_t> order;
  for (std::size_t depth = levels.size(); depth-- > 0;) {
    order.insert(order.end(), levels[depth].begin(), levels[depth].end());
  }
  return order;
}

void SumUp(std::vector<ShareNode>* nodes) {
  for (const std::uint32_t node : BottomUp(*nodes)) {
    const ShareNode& child = (*nodes)[node];
    if (node != 0) {
      (*nodes)[child.parent].usage += child.usage;
      (*nodes)[child.account].users += child.users;
    }
  }
}

// Who competes with whom.
void LinkChildren(std::vector<ShareNode>* nodes) {
  std::vector<std::uint64_t> sums(nodes->size(), 0);
  for (std::uint32_t i = 1; i < nodes->size(); ++i) {
    ShareNode& node = (*nodes)[i];
    node.account = node.parent;
    while (node.account != 0 && (*nodes)[node.account].shares == kParentShares) {
      node.account = (*nodes)[node.account].parent;
    }
    (*nodes)[node.account].children.push_back(i);
    sums[node.account] += node.shares == kParentShares ? 0 : node.shares.value();
  }
  for (std::uint32_t i = 1; i < nodes->size(); ++i) {
    (*nodes)[i].level_shares = sums[(*nodes)[i].account];
  }
}

}  // namespace

std::optional<TreeFault> CheckAccountTree(const AccountTree& tree) {
  if (tree.accounts.size() + tree.associations.size() > kTreeEntriesMax) {
    return TreeFault{
        .of_account = tree.associations.empty(),
        .index = 0,
        .field = "",
        .text = absl::StrCat("more than ", kTreeEntriesMax, " accounts and users: leave some out")};
  }
  for (std::size_t i = 0; i < tree.accounts.size(); ++i) {
    if (std::optional<TreeFault> fault = CheckAccount(tree.accounts[i], i)) {
      return fault;
    }
  }
  const NodesByName node_of = NodesOf(tree.accounts);
  for (std::size_t i = 0; i < tree.associations.size(); ++i) {
    if (std::optional<TreeFault> fault = CheckAssociation(tree.associations[i], i, node_of)) {
      return fault;
    }
  }
  if (std::optional<TreeFault> fault = CheckNames(tree)) {
    return fault;
  }
  return CheckLinks(tree, node_of);
}

ShareTree IndexTree(const AccountTree& tree) {
  const NodesByName node_of = NodesOf(tree.accounts);
  const std::vector<std::uint32_t> parents = Parents(tree.accounts, node_of);
  const std::int64_t period = LatestPeriod(tree);
  ShareTree indexed;
  indexed.period = period;
  indexed.nodes.resize(node_of.size());
  indexed.nodes.reserve(node_of.size() + tree.associations.size());
  for (const Account& account : tree.accounts) {
    const std::uint32_t index = node_of.at(account.name);
    indexed.account_nodes.push_back(index);
    ShareNode& node = indexed.nodes[index];
    node.parent = parents[index];
    node.shares = account.shares;
    node.usage = AmountInPeriod(account.usage, period);
  }
  for (const Association& user : tree.associations) {
    ShareNode node;
    node.parent = node_of.at(user.account);
    node.shares = user.shares;
    node.user = true;
    node.users = 1;
    node.usage = AmountInPeriod(user.usage, period);
    indexed.association_nodes.push_back(static_cast<std::uint32_t>(indexed.nodes.size()));
    indexed.nodes.push_back(std::move(node));
  }
  LinkChildren(&indexed.nodes);
  SumUp(&indexed.nodes);
  return indexed;
}

double RatioOrZero(absl::uint128 a, absl::uint128 b) {
  return b == 0 ? 0.0 : static_cast<double>(a) / static_cast<double>(b);
}

double LevelShares(const ShareTree& tree, std::uint32_t node) {
  const ShareNode& of = tree.nodes[node];
  if (node == 0) {
    return 1.0;
  }
  return of.shares == kParentShares ? LevelShares(tree, of.account)
                                    : RatioOrZero(of.shares.value(), of.level_shares);
}

}  // namespace muster::core
