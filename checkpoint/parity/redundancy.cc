#include "checkpoint/parity/redundancy.h"

namespace muster::checkpoint {

double ExtraSpace(Redundancy scheme, std::uint32_t nodes, std::uint32_t parities) {
  switch (scheme) {
    case Redundancy::kSingle:
      return nodes >= 1 ? 0 : kImpossible;
    case Redundancy::kPartner:
      return nodes >= 2 ? 1 : kImpossible;
    case Redundancy::kXor:
      return nodes >= 2 ? 1.0 / (nodes - 1) : kImpossible;
    case Redundancy::kReedSolomon:
      return parities >= 1 && parities < nodes ? static_cast<double>(parities) / (nodes - parities)
                                               : kImpossible;
  }
  return kImpossible;
}

std::uint32_t LossesSurvived(Redundancy scheme, std::uint32_t nodes, std::uint32_t parities) {
  if (scheme == Redundancy::kSingle || ExtraSpace(scheme, nodes, parities) == kImpossible) {
    return 0;
  }
  return scheme == Redundancy::kReedSolomon ? parities : 1;
}

}  // namespace muster::checkpoint
