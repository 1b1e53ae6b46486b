#include "daemon/client/views/job_costs.h"

#include <cstdint>
#include <utility>

#include "scheduler/core/share/cost.h"

namespace muster::daemon {

void PriceBook::Use(const Prices& prices) {
  auto taken = std::make_shared<const Prices>(prices);
  const MutexLock lock(&mutex_);
  prices_ = std::move(taken);
}

std::shared_ptr<const Prices> PriceBook::Now() const {
  const MutexLock lock(&mutex_);
  return prices_;
}

AttemptUse UseOf(const AttemptView& attempt) {
  AttemptUse use;
  use.start_time = attempt.start_time;
  use.end_time = attempt.end_time;
  use.suspended = attempt.suspended;
  use.cpus = attempt.cpus;
  use.memory = attempt.memory;
  use.gpus = attempt.gpus;
  use.node_count = static_cast<std::uint32_t>(attempt.nodes.size());
  use.billing = attempt.billing;
  use.usage = attempt.usage;
  return use;
}

void AddCost(const Prices& prices, Time now, std::vector<AttemptUse>& attempts, JobView& job) {
  job.cost = Cost();
  for (AttemptUse& attempt : attempts) {
    attempt.cost = core::CostOf(attempt, prices, now);
    job.cost += attempt.cost;
  }
  job.currency = prices.currency;
}

void AddCost(const Prices& prices, Time now, JobDetail& detail) {
  std::vector<AttemptUse> attempts;
  for (const AttemptView& attempt : detail.attempts) {
    attempts.push_back(UseOf(attempt));
    if (attempt.end_time == kNoTime) {
      for (const NodeUsage& told : detail.live_usage) {
        attempts.back().usage.Add(told.usage);
      }
    }
  }
  AddCost(prices, now, attempts, detail.job);
}

}  // namespace muster::daemon
