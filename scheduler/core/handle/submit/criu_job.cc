#include "scheduler/core/handle/submit/criu_job.h"

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/core/handle/submit/required_feature.h"

namespace muster::core {
namespace {

absl::Status Refuse(const char* what, const char* why) {
  return absl::InvalidArgumentError(absl::StrCat("--checkpoint-with=criu: ", what, ": ", why));
}

absl::Status FillRequest(ResourceRequest* request) {
  if (request->gpus_per_node.count > 0 || request->gpus_per_task.count > 0) {
    return Refuse("--gpus", "it cannot save what a GPU holds; let the program save itself");
  }
  if (request->min_nodes > 1) {
    return Refuse("--nodes", "it saves the processes of one node; ask for one");
  }
  request->max_nodes = 1;
  request->as_wide_as_fits = false;
  RequireFeature(kCriuFeature, &request->constraint.every);
  return absl::OkStatus();
}

}  // namespace

absl::Status FillCriu(JobSpec& spec) {
  if (spec.checkpoint_with != CheckpointMeans::kCriu) {
    return absl::OkStatus();
  }
  if (spec.kind != JobKind::kBatch) {
    return Refuse("run", "what is connected to a terminal or a client cannot be saved; submit it");
  }
  if (spec.elastic) {
    return Refuse("--elastic", "its processes cannot go on as more or fewer; leave one out");
  }
  if (spec.progress_timeout > Duration(0)) {
    return Refuse("--progress-timeout",
                  "what a restored program shows is not found; leave one out");
  }
  RETURN_IF_ERROR(FillRequest(&spec.request));
  for (Alternative& alternative : spec.alternatives) {
    RETURN_IF_ERROR(FillRequest(&alternative.request));
  }
  return absl::OkStatus();
}

}  // namespace muster::core
