#include "scheduler/core/handle/submit/container_job.h"

#include "scheduler/base/status.h"
#include "scheduler/core/handle/submit/required_feature.h"
#include "scheduler/model/job/container.h"

namespace muster::core {

absl::Status FillContainer(JobSpec& spec) {
  RETURN_IF_ERROR(CheckContainer(spec.container));
  if (!spec.container.given()) {
    return absl::OkStatus();
  }
  if (spec.checkpoint_with == CheckpointMeans::kCriu) {
    return absl::InvalidArgumentError(
        "--checkpoint-with=criu: what runs in a container cannot be saved so; leave one out");
  }
  RequireFeature(kContainerFeature, &spec.request.constraint.every);
  for (Alternative& alternative : spec.alternatives) {
    RequireFeature(kContainerFeature, &alternative.request.constraint.every);
  }
  return absl::OkStatus();
}

}  // namespace muster::core
