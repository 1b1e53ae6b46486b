#include "scheduler/core/handle/submit/node_data_job.h"

#include "scheduler/base/status.h"
#include "scheduler/core/handle/submit/required_feature.h"
#include "scheduler/model/plan/node_data.h"

namespace muster::core {

absl::Status FillNodeData(JobSpec& spec) {
  RETURN_IF_ERROR(CheckNodeData(spec.node_data));
  if (spec.node_data.empty()) {
    return absl::OkStatus();
  }
  RequireFeature(kStagingFeature, &spec.request.constraint.every);
  for (Alternative& alternative : spec.alternatives) {
    RequireFeature(kStagingFeature, &alternative.request.constraint.every);
  }
  return absl::OkStatus();
}

}  // namespace muster::core
