#include "scheduler/core/share/job_billing.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/numeric/int128.h"
#include "scheduler/core/share/billing.h"
#include "scheduler/model/policy/tres_weight.h"
#include "scheduler/model/value/units.h"

namespace muster::core {

BillingRate BillingOf(const TresUse& held, std::uint32_t usage_factor,
                      const PriorityConfig& config) {
  // With parts of GPUs everything is reckoned in thousandths.
  const bool parts = std::any_of(held.gpus.begin(), held.gpus.end(), [](const auto& model) {
    return model.second % kWholeGpu.value() != 0;
  });
  const std::uint64_t unit = parts ? kWholeGpu.value() : 1;
  const std::uint64_t gpu_unit = kWholeGpu.value() / unit;
  std::vector<TresAmount> amounts = {
      {"cpu", held.cpus * unit}, {"mem", held.memory * unit}, {"node", held.nodes * unit}};
  std::uint64_t gpus = 0;
  for (const auto& [model, thousandths] : held.gpus) {
    const std::uint64_t count = thousandths / gpu_unit;
    gpus += count;
    if (!model.empty()) {
      amounts.push_back({"gres/gpu:" + model, count});
    }
  }
  amounts.push_back({"gres/gpu", gpus});
  const BillingRate rate = Billing(amounts, config.billing, config.billing_rule);
  const absl::uint128 scaled = absl::uint128(rate.value()) * usage_factor / 1000 / unit;
  return BillingRate(
      static_cast<std::uint64_t>(std::min<absl::uint128>(scaled, kBillingRateMax.value())));
}

}  // namespace muster::core
