#include "scheduler/core/share/classic_fairshare.h"

#include <cmath>

#include "scheduler/base/status.h"
#include "scheduler/base/wide_number.h"
#include "scheduler/core/share/account_tree.h"
#include "scheduler/core/share/decay.h"

namespace muster::core {
namespace {

constexpr double kExponentMax = 1074;  // 2^-1075 is 0

// Fills in norm_shares, norm_usage and effectv_usage of the nodes below `node`, whose own are
// there.
void Descend(const ShareTree& tree, std::uint32_t node, std::vector<ShareStatus>* statuses) {
  const ShareStatus& account = (*statuses)[node];
  for (const std::uint32_t index : tree.nodes[node].children) {
    const ShareNode& child = tree.nodes[index];
    ShareStatus& status = (*statuses)[index];
    status.norm_usage = RatioOrZero(child.usage, tree.nodes.front().usage);
    if (child.shares == kParentShares) {
      status.norm_shares = account.norm_shares;
      status.effectv_usage = account.effectv_usage;
    } else {
      const double part = RatioOrZero(child.shares.value(), child.level_shares);
      status.norm_shares = account.norm_shares * part;
      status.effectv_usage =
          node == 0 ? status.norm_usage
                    : status.norm_usage + (account.effectv_usage - status.norm_usage) * part;
    }
    Descend(tree, index, statuses);
  }
}

void SetFairshare(double damping, ShareStatus* status) {
  status->fairshare = status->norm_shares > 0
                          ? HalfPower(status->effectv_usage / status->norm_shares / damping)
                          : 0;
  status->factor = Factor(static_cast<std::uint32_t>(status->fairshare * kWholeFactor.value()));
}

}  // namespace

double HalfPower(double x) {
  MUSTER_CHECK(x >= 0);
  if (x > kExponentMax) {
    return 0;
  }
  const double whole = std::floor(x);
  const auto fraction = static_cast<std::uint64_t>(std::ldexp(x - whole, 64));
  const int exponent = -static_cast<int>(whole);
  if (fraction == 0) {
    return std::ldexp(1.0, exponent);
  }
  // 2^-f as 2^(1-f) / 2.
  const auto power = static_cast<double>(PowerOfTwoFraction(0 - fraction));
  return std::ldexp(1.0 + std::ldexp(power, -64), exponent - 1);
}

ShareStatuses ClassicFairshare(const AccountTree& tree, double damping) {
  MUSTER_CHECK(damping >= 1);
  const ShareTree indexed = IndexTree(tree);
  std::vector<ShareStatus> nodes(indexed.nodes.size());
  nodes.front().norm_shares = 1;
  nodes.front().norm_usage = indexed.nodes.front().usage == 0 ? 0 : 1;
  nodes.front().effectv_usage = nodes.front().norm_usage;
  Descend(indexed, 0, &nodes);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    nodes[i].usage = UsageOf(indexed.nodes[i].usage, indexed.period);
  }
  ShareStatuses statuses;
  statuses.root = nodes.front();
  for (const std::uint32_t node : indexed.account_nodes) {
    statuses.accounts.push_back(nodes[node]);
  }
  for (const std::uint32_t node : indexed.association_nodes) {
    SetFairshare(damping, &nodes[node]);
    statuses.associations.push_back(nodes[node]);
  }
  return statuses;
}

}  // namespace muster::core
