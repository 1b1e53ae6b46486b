#include "scheduler/core/place/placement.h"

#include "scheduler/core/place/share_placement.h"
#include "scheduler/core/place/whole_placement.h"

namespace muster::core {

Placed PlaceOnNode(const NodeSnapshot& node, const ResourceRequest& request, std::uint32_t limit) {
  return request.gpu_share.zero() ? PlaceWhole(node, request, limit)
                                  : PlaceShares(node, request, limit);
}

}  // namespace muster::core
