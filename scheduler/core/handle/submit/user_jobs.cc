#include "scheduler/core/handle/submit/user_jobs.h"

#include "absl/strings/str_cat.h"

namespace muster::core {

absl::Status CheckUserJobs(const JobTable& jobs, const std::string& user, std::uint64_t count,
                           const SchedulerConfig& config) {
  const std::uint64_t most = config.submit_jobs_max;
  const std::uint64_t own = jobs.OfUser(user);
  if (most == 0 || own + count <= most) {
    return absl::OkStatus();
  }
  return absl::ResourceExhaustedError(absl::StrCat(
      "user ", user, ": ", own, " of ", most, " jobs wait or run (policy.submit_jobs_max), ", count,
      " more do not fit; wait for some to end, or ask the administrator"));
}

}  // namespace muster::core
