#include "cli/slurm/streams/sbcast.h"

#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "cli/frame/verbs.h"
#include "cli/parse/selector.h"
#include "cli/slurm/frame/cluster.h"
#include "cli/slurm/frame/errors.h"
#include "cli/slurm/frame/words.h"
#include "scheduler/base/status.h"

namespace muster::cli::slurm {
namespace {

constexpr int kFailed = 255;  // so does Slurm once it knows the job

// Those of which nothing depends here: how the file travels.
constexpr Row kCastRows[] = {
    {"compress", 'C', Takes::kOptional},
    {"exclude", 0, Takes::kValue},
    {"fanout", 'F', Takes::kValue},
    {"force", 'f'},
    {"jobid", 'j', Takes::kValue},
    {"preserve", 'p'},
    {"send-libs", 0, Takes::kOptional},
    {"size", 's', Takes::kValue},
    {"timeout", 't', Takes::kValue},
    {"treewidth", 0, Takes::kValue},
    {"verbose", 'v'},
};

// The job that is named, or that this runs in; "" where there is none.
std::string JobNamed(const Call& call, const Words& words) {
  if (words.Has("jobid")) {
    return words.Value("jobid");
  }
  for (const char* const variable : {"SLURM_JOB_ID", "SLURM_JOBID", "MUSTER_JOB_ID"}) {
    if (call.environment.Has(variable)) {
      return call.environment.Get(variable);
    }
  }
  return "";
}

// The environment of that job's script, as far as `muster cast` reads it.
absl::StatusOr<Environment> InsideJob(const Call& call, const std::string& id) {
  ASSIGN_OR_RETURN(const JobSelector selector, ParseSelector(id));
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, OpenCluster(call));
  ASSIGN_OR_RETURN(const std::vector<JobDetail> details, connection->Call(ShowJob{ById(selector)}));
  const JobView& job = details.front().job;
  if (job.nodes.empty()) {
    return absl::FailedPreconditionError("Job is pending execution");
  }
  std::vector<std::string> entries;
  for (const std::string& entry : call.environment.entries()) {
    if (!absl::StartsWith(entry, "MUSTER_JOB_ID=") &&
        !absl::StartsWith(entry, "MUSTER_JOB_NUM_NODES=")) {
      entries.push_back(entry);
    }
  }
  entries.push_back(absl::StrCat("MUSTER_JOB_ID=", job.id.value()));
  entries.push_back(absl::StrCat("MUSTER_JOB_NUM_NODES=", job.nodes.size()));
  return Environment(std::move(entries));
}

Invocation CastOf(const Environment& environment, std::vector<std::string> arguments) {
  static const std::vector<Verb> verbs;
  return {
      .environment = environment, .verbs = verbs, .values = {}, .arguments = std::move(arguments)};
}

}  // namespace

int RunSbcast(const Call& call) {
  int code = 0;
  const std::optional<Words> words = ReadCommand(call, kCastRows, Operands::kAnywhere, &code);
  if (!words.has_value()) {
    return code;
  }
  if (words->operands.size() != 2) {
    return FailPlainly(
        call, absl::StrCat("Need two file names, have ", words->operands.size(), " names"));
  }
  if (words->Has("send-libs") && words->Value("send-libs") != "no") {
    return Fail(call, "--send-libs: libraries are not sent: copy them each, or leave it out");
  }
  const std::string id = JobNamed(call, *words);
  if (id.empty()) {
    return Fail(call,
                "Need a job id to run this command.  Run from within a Slurm job or use the "
                "--jobid option.");
  }
  const std::string& source = words->operands.front();
  if (access(source.c_str(), R_OK) != 0) {
    Fail(call, absl::StrCat("Can't open `", source, "`: ", std::generic_category().message(errno)));
    return kFailed;
  }
  const absl::StatusOr<Environment> environment = InsideJob(call, id);
  if (!environment.ok()) {
    const bool unknown =
        absl::IsNotFound(environment.status()) || absl::IsInvalidArgument(environment.status());
    Fail(call,
         absl::StrCat("Slurm job ", id, " lookup error: ",
                      unknown ? "Invalid job id specified" : SlurmText(environment.status())));
    return kFailed;
  }
  Invocation invocation = CastOf(*environment, words->operands);
  if (words->Has("force")) {
    invocation.values["force"] = "";
  }
  const absl::StatusOr<int> ended = CastVerb().run(invocation);
  return ended.ok() ? *ended : Fail(call, SlurmText(ended.status()));
}

int ReceiveBroadcast(const Call& call) {
  constexpr Row kRows[] = {{"receive", 0, Takes::kValue}};
  const absl::StatusOr<Words> words = ReadWords(kRows, Operands::kAnywhere, call.arguments);
  if (!words.ok() || !words->Has("receive") || words->operands.size() != 1) {
    return Fail(call, "is for sbcast itself");
  }
  Invocation invocation = CastOf(call.environment, words->operands);
  invocation.values["receive"] = words->Value("receive");
  const absl::StatusOr<int> ended = CastVerb().run(invocation);
  return ended.ok() ? *ended : Fail(call, std::string(ended.status().message()));
}

}  // namespace muster::cli::slurm
