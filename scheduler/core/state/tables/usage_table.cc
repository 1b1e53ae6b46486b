#include "scheduler/core/state/tables/usage_table.h"

#include "scheduler/base/status.h"
#include "scheduler/core/share/decay.h"

namespace muster::core {

void UsageTable::Load(const std::vector<AccountUsage>& used, Duration half_life) {
  half_life_ = half_life;
  for (const AccountUsage& entry : used) {
    used_[{entry.account, entry.user}] = entry.usage;
  }
}

void UsageTable::SetHalfLife(Duration half_life, Time now) {
  if (half_life == half_life_) {
    return;
  }
  for (auto& [who, usage] : used_) {
    usage = WithHalfLife(usage, now, half_life_, half_life);
  }
  half_life_ = half_life;
}

void UsageTable::Charge(const Job& job, Time now) {
  MUSTER_CHECK(job.attempt.has_value());
  if (job.attempt->billing.zero()) {
    return;
  }
  DecayedUsage& usage = used_[{job.spec->account, job.spec->user.name}];
  usage = muster::core::Charge(
      usage, {job.id, job.attempt->billing, CountedFrom(*job.attempt, now), now}, half_life_);
}

UsageSnapshot UsageTable::TakeSnapshot() const {
  UsageSnapshot snapshot;
  snapshot.half_life = half_life_;
  snapshot.used.reserve(used_.size());
  for (const auto& [who, usage] : used_) {
    snapshot.used.push_back({who.first, who.second, usage});
  }
  return snapshot;
}

AccountUsage UsageTable::UsageOf(const std::string& account, const std::string& user) const {
  const auto found = used_.find({account, user});
  return {account, user, found == used_.end() ? DecayedUsage() : found->second};
}

}  // namespace muster::core
