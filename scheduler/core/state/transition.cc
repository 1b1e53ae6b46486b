#include "scheduler/core/state/transition.h"

#include <utility>

namespace muster::core {

Transition Refused(absl::Status status) {
  Transition transition;
  transition.status = std::move(status);
  return transition;
}

}  // namespace muster::core
