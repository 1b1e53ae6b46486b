#include "cli/controller/query/newest_job.h"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "cli/controller/controller.h"
#include "scheduler/base/status.h"

namespace muster::cli {
namespace {

constexpr std::string_view kLast = "last";
constexpr std::uint32_t kEndedMost = 100;

absl::StatusOr<JobId> FindNewest(const Invocation& invocation) {
  const passwd* const entry = getpwuid(geteuid());  // NOLINT(concurrency-mt-unsafe): main thread
  const std::string user = entry == nullptr ? absl::StrCat(geteuid()) : entry->pw_name;
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, OpenController(invocation));
  ListJobs live;
  live.user = user;
  live.fold = true;
  ListHistory ended;
  ended.user = user;
  ended.limit = kEndedMost;
  ASSIGN_OR_RETURN(std::vector<JobView> jobs, connection->Call(live));
  ASSIGN_OR_RETURN(std::vector<JobView> over, connection->Call(ended));
  std::move(over.begin(), over.end(), std::back_inserter(jobs));
  const JobId newest = NewestOf(jobs);
  return newest.valid() ? absl::StatusOr<JobId>(newest)
                        : absl::NotFoundError(absl::StrCat("last: ", user, " has no job"));
}

}  // namespace

bool NamesLast(std::string_view text) {
  const bool begins = text.substr(0, kLast.size()) == kLast;
  return begins && (text.size() == kLast.size() ||
                    std::string_view("._+").find(text[kLast.size()]) != std::string_view::npos);
}

JobId NewestOf(const std::vector<JobView>& jobs) {
  JobId newest;
  for (const JobView& job : jobs) {
    const JobId whole = job.het_size > 0 ? job.het_job : job.array_job_id;
    newest = std::max(newest, whole.valid() ? whole : job.id);
  }
  return newest;
}

absl::StatusOr<std::vector<std::string>> WithLast(const Invocation& invocation, std::size_t most) {
  std::vector<std::string> names = invocation.arguments;
  JobId newest;
  for (std::size_t i = 0; i < std::min(most, names.size()); ++i) {
    if (!NamesLast(names[i])) {
      continue;
    }
    if (!newest.valid()) {
      ASSIGN_OR_RETURN(newest, FindNewest(invocation));
    }
    names[i] = absl::StrCat(newest.value(), names[i].substr(kLast.size()));
  }
  return names;
}

}  // namespace muster::cli
