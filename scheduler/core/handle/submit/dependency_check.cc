#include "scheduler/core/handle/submit/dependency_check.h"

#include <memory>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/core/state/tables/dependency.h"

namespace muster::core {

absl::Status CheckDependencyNow(const JobTable& jobs, const JobSpec& spec,
                                const std::vector<TargetHistory>& history, Time now) {
  ASSIGN_OR_RETURN(const std::vector<TermProgress> progress,
                   BeginProgress(jobs, spec.dependency, spec.array.has_value(), history));
  const std::shared_ptr<const OpenDependency> open = LookAhead(spec.dependency, progress, now);
  if (open != nullptr && open->state == TermState::kNever &&
      spec.kill_on_invalid_dep != Choice::kNo) {
    return absl::FailedPreconditionError(
        absl::StrCat("--dependency: ", open->terms,
                     " can never be met: that job has ended otherwise; see muster history "
                     "(--kill-on-invalid-dep=no submits the job all the same)"));
  }
  return absl::OkStatus();
}

}  // namespace muster::core
