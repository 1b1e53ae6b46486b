#include "scheduler/core/place/placement.h"

#include "scheduler/core/place/request.h"
#include "scheduler/core/place/share_placement.h"
#include "scheduler/core/place/whole_placement.h"

namespace muster::core {
namespace {

Placed PlaceWherever(const NodeSnapshot& node, const ResourceRequest& request,
                     std::uint32_t limit) {
  return request.gpu_share.zero() ? PlaceWhole(node, request, limit)
                                  : PlaceShares(node, request, limit);
}

}  // namespace

Placed PlaceOnNode(const NodeSnapshot& node, const ResourceRequest& request, std::uint32_t limit) {
  if (!node.gpu_occupants.empty()) {
    Placed apart = PlaceWherever(WithoutOccupied(node), request, limit);
    if (apart.tasks == limit || !request.gpu_occupied) {
      return apart;
    }
  }
  return PlaceWherever(node, request, limit);
}

}  // namespace muster::core
