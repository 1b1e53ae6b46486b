#include "scheduler/core/job_billing.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/numeric/int128.h"
#include "scheduler/core/billing.h"
#include "scheduler/model/tres_weight.h"
#include "scheduler/model/units.h"

namespace muster {

BillingRate BillingOf(const TresUse& held, std::uint32_t usage_factor,
                      const PriorityConfig& config) {
  std::vector<TresAmount> amounts = {
      {"cpu", held.cpus}, {"mem", held.memory}, {"node", held.nodes}};
  std::uint64_t gpus = 0;
  for (const auto& [model, thousandths] : held.gpus) {
    const std::uint64_t count = thousandths / kWholeGpu.value();
    gpus += count;
    if (!model.empty()) {
      amounts.push_back({"gres/gpu:" + model, count});
    }
  }
  amounts.push_back({"gres/gpu", gpus});
  const BillingRate rate = Billing(amounts, config.billing, config.billing_rule);
  const absl::uint128 scaled = absl::uint128(rate.value()) * usage_factor / 1000;
  return BillingRate(
      static_cast<std::uint64_t>(std::min<absl::uint128>(scaled, kBillingRateMax.value())));
}

}  // namespace muster
