#include "scheduler/core/state/transition.h"

#include <utility>

namespace muster::core {

Turn Refused(absl::Status status) {
  Turn turn;
  turn.status = std::move(status);
  return turn;
}

}  // namespace muster::core
