#include "topology/captured/fabric_name.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace muster::topology {

bool IsFabricName(const std::string& name) {
  constexpr std::array<std::string_view, 15> kBeginnings = {
      "mlx4_",  "mlx5_", "mthca", "qib",  "hfi1_", "bnxt_re", "irdma", "efa_",
      "cxgb4_", "hns_",  "qedr",  "roce", "rdmap", "opap",    "mana_"};
  return std::any_of(kBeginnings.begin(), kBeginnings.end(), [&name](std::string_view beginning) {
    return name.compare(0, beginning.size(), beginning) == 0;
  });
}

}  // namespace muster::topology
