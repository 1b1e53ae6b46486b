#include "checkpoint/c_group.h"

namespace muster::checkpoint {

bool CGroup::IsWhole(const muster_checkpoint_group& calls) {
  return calls.ranks > 0 && calls.rank < calls.ranks && calls.broadcast != nullptr &&
         calls.gather != nullptr && calls.least != nullptr;
}

CGroup::~CGroup() {
  if (calls_.release != nullptr) {
    calls_.release(calls_.context);
  }
}

bool CGroup::Broadcast(std::uint32_t root, void* bytes, std::size_t size) {
  return calls_.broadcast(calls_.context, root, bytes, size) == 0;
}

bool CGroup::Gather(const void* own, std::size_t size, void* all) {
  return calls_.gather(calls_.context, own, size, all) == 0;
}

bool CGroup::Least(std::uint64_t* value) {
  return calls_.least(calls_.context, value) == 0;
}

bool CGroup::Exchange(const Outgoing& out, const Incoming& in) {
  return CanExchange() && calls_.exchange(calls_.context, out.to, out.bytes, out.size, in.from,
                                          in.bytes, in.size) == 0;
}

}  // namespace muster::checkpoint
