#pragma once

// What jobs cost, by the site's prices as they are now.
//
// Thread promise of PriceBook: any thread. Invariants: an attempt is charged by the prices that
// held when it began; without prices no view says a cost or a currency.

#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "scheduler/model/settings/prices.h"
#include "scheduler/model/value/time.h"
#include "scheduler/model/view/view.h"
#include "scheduler/runtime/mutex.h"

namespace muster::daemon {

class PriceBook {
 public:
  // When settings are read, or read again.
  void Use(const Prices& prices);
  [[nodiscard]] std::shared_ptr<const Prices> Now() const;

 private:
  mutable Mutex mutex_;
  std::shared_ptr<const Prices> prices_ ABSL_GUARDED_BY(mutex_) = std::make_shared<Prices>();
};

// What an attempt held and used, of what it is shown with.
AttemptUse UseOf(const AttemptView& attempt);

// Prices each attempt, and the job by all of them.
void AddCost(const Prices& prices, Time now, std::vector<AttemptUse>& attempts, JobView& job);
// The same of a job that is shown with its attempts; of one that runs what its nodes have reported
// counts.
void AddCost(const Prices& prices, Time now, JobDetail& detail);

}  // namespace muster::daemon
