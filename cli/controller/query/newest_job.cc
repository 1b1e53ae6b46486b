#include "cli/controller/query/newest_job.h"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "cli/controller/controller.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"

namespace muster::cli {
namespace {

constexpr std::string_view kLast = "last";
constexpr std::string_view kParts = "._+";  // begin a step, an element, a component
constexpr std::uint32_t kEndedMost = 1000;

absl::StatusOr<std::vector<JobView>> JobsOf(const Invocation& invocation, const std::string& user) {
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
  return jobs;
}

JobId NewestNamed(const std::vector<JobView>& jobs, std::string_view name) {
  std::vector<JobView> named;
  std::copy_if(jobs.begin(), jobs.end(), std::back_inserter(named),
               [name](const JobView& job) { return job.name == name; });
  return NewestOf(named);
}

}  // namespace

std::string OwnUserName() {
  const passwd* const entry = getpwuid(geteuid());  // NOLINT(concurrency-mt-unsafe): main thread
  return entry == nullptr ? absl::StrCat(geteuid()) : entry->pw_name;
}

bool NamesByWord(std::string_view text) {
  text.remove_prefix(!text.empty() && text.front() == '[' ? 1 : 0);  // jobs in a row: "[12-15]"
  return !text.empty() && !absl::ascii_isdigit(static_cast<unsigned char>(text.front()));
}

bool NamesLast(std::string_view text) {
  const bool begins = text.substr(0, kLast.size()) == kLast;
  return begins &&
         (text.size() == kLast.size() || kParts.find(text[kLast.size()]) != std::string_view::npos);
}

std::optional<std::string> WithNumber(const std::vector<JobView>& jobs, std::string_view text) {
  if (NamesLast(text)) {
    const JobId newest = NewestOf(jobs);
    return newest.valid()
               ? std::optional(absl::StrCat(newest.value(), std::string(text.substr(kLast.size()))))
               : std::nullopt;
  }
  for (std::size_t end = text.size(); end != 0 && end != std::string_view::npos;
       end = text.find_last_of(kParts, end - 1)) {
    if (const JobId named = NewestNamed(jobs, text.substr(0, end)); named.valid()) {
      return absl::StrCat(named.value(), std::string(text.substr(end)));
    }
  }
  return std::nullopt;
}

JobId NewestOf(const std::vector<JobView>& jobs) {
  JobId newest;
  for (const JobView& job : jobs) {
    const JobId whole = job.het_size > 0 ? job.het_job : job.array_job_id;
    newest = std::max(newest, whole.valid() ? whole : job.id);
  }
  return newest;
}

absl::StatusOr<std::vector<std::string>> WithNumbers(const Invocation& invocation,
                                                     std::size_t most) {
  std::vector<std::string> names = invocation.arguments;
  const std::string user = OwnUserName();
  std::optional<std::vector<JobView>> jobs;
  for (std::size_t i = 0; i < std::min(most, names.size()); ++i) {
    if (!NamesByWord(names[i])) {
      continue;
    }
    if (!jobs.has_value()) {
      ASSIGN_OR_RETURN(jobs, JobsOf(invocation, user));
    }
    const std::optional<std::string> number = WithNumber(*jobs, names[i]);
    if (!number.has_value()) {
      return absl::NotFoundError(
          NamesLast(names[i])
              ? absl::StrCat("last: ", user, " has no job")
              : absl::StrCat(Quote(names[i]), ": ", user,
                             " has no job of that name; use a number like 12, or \"last\""));
    }
    names[i] = *number;
  }
  return names;
}

}  // namespace muster::cli
