#include "scheduler/core/share/live_shares.h"

#include "scheduler/base/status.h"
#include "scheduler/core/share/classic_fairshare.h"
#include "scheduler/core/share/decay.h"
#include "scheduler/core/share/fair_tree.h"

namespace muster::core {
namespace {

std::string AccountNamed(const std::string& account) {
  return account.empty() ? kRootAccount : account;
}

// Makes the tree entry by entry.
class Builder {
 public:
  explicit Builder(const Snapshot& snapshot) {
    if (snapshot.policy == nullptr) {
      return;
    }
    for (const auto& [name, account] : snapshot.policy->site->accounts) {
      if (accounts_.emplace(name, shares_.tree.accounts.size()).second) {
        shares_.tree.accounts.push_back({name, account.parent, ShareCount(account.shares), {}});
      }
    }
    for (const auto& [name, association] : snapshot.policy->site->associations) {
      Add(association.account, association.user, ShareCount(association.shares));
    }
  }

  // The user's entry in the account, made where there is none.
  Association& In(const std::string& account, const std::string& user) {
    return shares_.tree.associations[Add(AccountNamed(account), user, ShareCount(1))];
  }

  LiveShares Take() { return std::move(shares_); }

 private:
  std::size_t Add(const std::string& account, const std::string& user, ShareCount shares) {
    if (account != kRootAccount &&
        accounts_.emplace(account, shares_.tree.accounts.size()).second) {
      shares_.tree.accounts.push_back({account, kRootAccount, ShareCount(1), {}});
    }
    const auto [known, is_new] =
        shares_.positions.emplace(std::pair(account, user), shares_.tree.associations.size());
    if (is_new) {
      shares_.tree.associations.push_back({user, account, shares, {}});
    }
    return known->second;
  }

  LiveShares shares_;
  std::map<std::string, std::size_t> accounts_;
};

DecayedUsage ChargedOneByOne(DecayedUsage usage, const Snapshot& snapshot,
                             const RunningCharges::Charge& charge) {
  for (const RunningJob& job : snapshot.running) {
    if (job.spec->account == *charge.account && job.spec->user.name == *charge.user) {
      usage = Charge(usage, {job.id, job.billing, job.started + job.suspended, snapshot.now},
                     snapshot.usage.half_life);
    }
  }
  return usage;
}

}  // namespace

std::size_t LiveShares::PositionOf(const JobSpec& spec) const {
  const auto found = positions.find({AccountNamed(spec.account), spec.user.name});
  MUSTER_CHECK(found != positions.end());
  return found->second;
}

LiveShares LiveSharesOf(const Snapshot& snapshot) {
  RunningCharges charges;
  return LiveSharesOf(snapshot, charges);
}

LiveShares LiveSharesOf(const Snapshot& snapshot, RunningCharges& charges) {
  Builder builder(snapshot);
  for (const AccountUsage& used : snapshot.usage.used) {
    builder.In(used.account, used.user).usage = used.usage;
  }
  for (const RunningCharges::Charge& charge : charges.Of(snapshot)) {
    DecayedUsage& usage = builder.In(*charge.account, *charge.user).usage;
    if (usage.period > charges.period()) {  // the clock went back
      usage = ChargedOneByOne(usage, snapshot, charge);
    } else if (charge.any) {
      usage = WithGrains(usage, charge.grains, charges.period());
    }
  }
  const JobSpec* last = nullptr;  // elements of an array share theirs
  for (const WaitingJob& job : snapshot.waiting) {
    if (job.spec.get() != last) {
      last = job.spec.get();
      builder.In(last->account, last->user.name);
    }
  }
  return builder.Take();
}

ShareStatuses ShareStatusesOf(const AccountTree& tree, const PriorityConfig& config) {
  return config.fairshare == FairshareRule::kClassic ? ClassicFairshare(tree, config.damping)
                                                     : FairTree(tree);
}

}  // namespace muster::core
