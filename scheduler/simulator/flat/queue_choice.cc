#include "scheduler/simulator/flat/queue_choice.h"

#include "scheduler/simulator/flat/conservative_queue.h"
#include "scheduler/simulator/flat/easy_queue.h"
#include "scheduler/simulator/flat/prompt_queue.h"

namespace muster::sim {

std::unique_ptr<FlatQueue> MakeFlatQueue(const FlatPolicy& policy, std::int64_t processors,
                                         Tick now) {
  if (policy.order == FlatOrder::kPrompt) {
    return std::make_unique<PromptQueue>(policy, processors, now);
  }
  if (policy.backfill == Backfill::kConservative) {
    return std::make_unique<ConservativeQueue>(policy, processors, now);
  }
  return std::make_unique<EasyQueue>(policy, processors, now);
}

}  // namespace muster::sim
