#include "cli/slurm/live/cmd_sprio.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "cli/controller/query/job_choice.h"
#include "cli/controller/query/job_query.h"
#include "cli/parse/selector.h"
#include "cli/slurm/format/job_words.h"
#include "cli/slurm/frame/cluster.h"
#include "cli/slurm/frame/errors.h"
#include "cli/slurm/frame/people.h"
#include "cli/slurm/frame/words.h"
#include "cli/slurm/live/priority_page.h"
#include "scheduler/base/status.h"
#include "scheduler/model/job/job_state.h"

namespace muster::cli::slurm {
namespace {

constexpr Row kPriorityRows[] = {
    {"clusters", 'M', Takes::kValue},
    {"cluster", 'M', Takes::kValue},
    {"federation"},
    {"format", 'o', Takes::kValue},
    {"jobs", 'j', Takes::kOptional},
    {"local"},
    {"long", 'l'},
    {"noheader", 'h'},
    {"norm", 'n'},
    {"partition", 'p', Takes::kValue},
    {"partitions", 'p', Takes::kValue},
    {"sibling"},
    {"sort", 'S', Takes::kValue},
    {"user", 'u', Takes::kValue},
    {"users", 'u', Takes::kValue},
    {"verbose", 'v'},
    {"weights", 'w'},
};

struct SprioWords {
  SprioRequest page;
  JobChoice choice;
  std::string clusters;
  bool chooses = false;  // jobs or users were named
};

absl::StatusOr<SprioWords> ReadSprio(const Call& call, const Words& words) {
  SprioWords read;
  const std::string usual = call.environment.Get("SPRIO_FORMAT");
  const std::string format = words.Has("format") ? words.Value("format")
                             : words.Has("long") ? kLongPriorityFormat
                             : words.Has("norm") ? kNormPriorityFormat
                             : !usual.empty()    ? usual
                                                 : kPriorityFormat;
  ASSIGN_OR_RETURN(read.page.format, ReadPriorityFormat(format));
  read.page.header = !words.Has("noheader");
  read.page.weights = words.Has("weights");
  read.page.sort = SplitCommas(words.Value("sort"));
  read.clusters = words.Value("clusters");
  read.choice.partitions = SplitCommas(words.Value("partition"));
  std::vector<std::string> jobs = SplitCommas(words.Value("jobs"));
  if (words.Has("jobs") && jobs.empty() && !words.operands.empty()) {
    jobs = SplitCommas(words.operands.front());
  } else if (!words.operands.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("Unrecognized option: ", words.operands.front()));
  }
  for (const std::string& text : jobs) {
    absl::StatusOr<JobSelector> job = ParseSelector(text);
    if (!job.ok()) {
      return absl::InvalidArgumentError(absl::StrCat("Invalid job id: ", text));
    }
    read.choice.jobs.push_back(*std::move(job));
  }
  for (const std::string& user : SplitCommas(words.Value("user"))) {
    const std::optional<std::uint32_t> uid = UserNumber(user);
    if (!uid.has_value()) {
      return absl::InvalidArgumentError(absl::StrCat("Invalid user: ", user));
    }
    read.choice.users.push_back(absl::StrCat(*uid));
  }
  read.chooses = !read.choice.jobs.empty() || !read.choice.users.empty();
  return read;
}

// The chosen jobs that wait with a priority; FailedPrecondition when none is reckoned here.
absl::StatusOr<std::vector<RankedJob>> Ranked(Connection& connection, const SprioWords& words) {
  JobFilter waiting;
  waiting.states = {Name(JobState::kPending)};
  waiting.fold = true;
  ASSIGN_OR_RETURN(const std::vector<JobView> jobs, connection.Call(ListJobs{waiting}));
  std::vector<RankedJob> ranked;
  bool waits = false;
  for (const JobView& job : jobs) {
    if (!Waits(job) || (!words.page.weights && !Chooses(words.choice, job))) {
      continue;
    }
    absl::StatusOr<JobSelector> selector = ParseSelector(job.label);
    if (!selector.ok()) {
      selector = JobSelector{job.id, {}};
    }
    const absl::StatusOr<JobExplanation> explanation = connection.Call(ExplainJob{ById(*selector)});
    if (absl::IsNotFound(explanation.status())) {
      continue;  // it has started meanwhile
    }
    RETURN_IF_ERROR(explanation.status());
    waits = true;
    if (explanation->priority.total > 0 && !explanation->priority.terms.empty()) {
      ranked.push_back({job, explanation->priority});
      if (words.page.weights) {
        break;  // one job tells them
      }
    }
  }
  if (waits && ranked.empty() && !words.chooses) {
    return absl::FailedPreconditionError(
        "this cluster computes no priorities: jobs wait in the order of submission, or are held");
  }
  return ranked;
}

}  // namespace

int RunSprio(const Call& call) {
  int code = 0;
  const std::optional<Words> words = ReadCommand(call, kPriorityRows, Operands::kAnywhere, &code);
  if (!words.has_value()) {
    return code;
  }
  absl::StatusOr<SprioWords> request = ReadSprio(call, *words);
  if (!request.ok()) {
    return Fail(call, std::string(request.status().message()));
  }
  const absl::StatusOr<std::unique_ptr<Connection>> connection = OpenCluster(call);
  const absl::StatusOr<ClusterStatus> status =
      connection.ok() ? (*connection)->Call(Ping{})
                      : absl::StatusOr<ClusterStatus>(connection.status());
  if (!status.ok()) {
    return FailPlainly(call, absl::StrCat("Couldn't get priority factors from controller: ",
                                          SlurmText(status.status())));
  }
  request->page.cluster = status->cluster;
  if (const absl::Status known = CheckClusters(**connection, request->clusters); !known.ok()) {
    return Fail(call, std::string(known.message()));
  }
  absl::StatusOr<std::vector<RankedJob>> jobs = Ranked(**connection, *request);
  if (!jobs.ok()) {
    return Fail(call, absl::IsFailedPrecondition(jobs.status())
                          ? std::string(jobs.status().message())
                          : SlurmText(jobs.status()));
  }
  if (jobs->empty() && request->chooses) {
    call.out << "Unable to find jobs matching user/id(s) specified\n" << std::flush;
    return 0;
  }
  if (jobs->empty() && request->page.weights) {
    return Fail(call,
                "no job waits, so there are no weights to show: see [priority] in the "
                "controller's configuration");
  }
  call.out << PriorityPage(request->page, *std::move(jobs)) << std::flush;
  return 0;
}

}  // namespace muster::cli::slurm
