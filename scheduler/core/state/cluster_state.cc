#include "scheduler/core/state/cluster_state.h"

#include <utility>
#include <variant>

#include "scheduler/core/state/apply/attempt_events.h"
#include "scheduler/core/state/apply/job_events.h"
#include "scheduler/core/state/apply/node_events.h"

namespace muster::core {

ClusterState::ClusterState(StateImage image)
    : version_(image.version), parts_(std::move(image)), touched_(version_) {}

void ClusterState::Apply(const Event& event) {
  const Version next = version_.Next();
  touched_.Note(event, parts_.jobs, next);
  std::visit([this](const auto& change) { ApplyTo(parts_, change); }, event);
  version_ = next;
  touched_.Note(event, parts_.jobs, next);
}

}  // namespace muster::core
