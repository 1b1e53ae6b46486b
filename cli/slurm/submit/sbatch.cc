#include "cli/slurm/submit/sbatch.h"

#include <unistd.h>

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cli/controller/address.h"
#include "cli/images/container_check.h"
#include "cli/jobs/submit/staged_submission.h"
#include "cli/jobs/submit/submission.h"
#include "cli/page/text.h"
#include "cli/request/request.h"
#include "cli/slurm/frame/cluster.h"
#include "cli/slurm/frame/errors.h"
#include "cli/slurm/frame/words.h"
#include "cli/slurm/submit/batch_script.h"
#include "cli/slurm/submit/forecast_line.h"
#include "cli/slurm/submit/own_words.h"
#include "scheduler/base/status.h"

namespace muster::cli::slurm {
namespace {

constexpr const char* kFailed = "Batch job submission failed: ";

// What the command line says: the components' options, the words of Slurm's own, and the script.
struct BatchCall {
  Words words;  // the first component's
  std::vector<std::map<std::string, std::string>> components;
  std::vector<std::string> operands;
};

// Nothing when it was answered already; `exit_code` is set then.
std::optional<BatchCall> ReadCall(const Call& call, int* exit_code) {
  BatchCall read;
  Call part = call;
  const std::vector<Row> rows = RowsOf(kSbatch);
  for (;;) {
    std::optional<Words> words = ReadCommand(part, rows, Operands::kLast, exit_code);
    if (!words.has_value()) {
      return std::nullopt;
    }
    absl::StatusOr<std::map<std::string, std::string>> values = OwnValues(*words, kSbatch);
    if (!values.ok()) {
      *exit_code = FailAs(call, values.status(), kSbatch);
      return std::nullopt;
    }
    read.operands = words->operands;
    if (read.components.empty()) {
      read.words = *std::move(words);
    }
    read.components.push_back(*std::move(values));
    if (read.operands.empty() || read.operands.front() != ":") {
      return read;
    }
    part.arguments.assign(read.operands.begin() + 1, read.operands.end());
  }
}

absl::StatusOr<Script> ScriptOf(const BatchCall& read) {
  for (const auto& values : read.components) {
    const auto wrap = values.find("wrap");
    if (wrap != values.end()) {
      return read.operands.empty()
                 ? WrapBatchCommand(wrap->second)
                 : absl::InvalidArgumentError(
                       "error: Script arguments not permitted with --wrap option");
    }
  }
  return ReadBatchScript(read.operands.empty() ? "" : read.operands.front());
}

Invocation InvocationOf(const Call& call, const BatchCall& read) {
  static const std::vector<Verb> verbs;
  Invocation invocation{.environment = call.environment,
                        .verbs = verbs,
                        .values = read.components.front(),
                        .arguments = read.operands};
  for (std::size_t i = 1; i < read.components.size(); ++i) {
    invocation.components.push_back({read.components[i], {}});
  }
  return invocation;
}

// Slurm's names of files, where no option says others.
void NameOutput(JobRequest* request) {
  if (request->program.stdout_path.empty()) {
    request->program.stdout_path =
        request->spec.array.has_value() ? "slurm-%A_%a.out" : "slurm-%j.out";
  }
}

// For whoever looks on; workflow engines parse stderr.
void TellRecorded(const Call& call, const JobRequest& request) {
  const std::string text = isatty(STDERR_FILENO) == 0 ? "" : RecordedText(request);
  if (!text.empty()) {
    call.err << call.name << ": " << text << std::endl;
  }
}

int Submit(const Call& call, Connection& connection, JobRequest request, const Words& words) {
  const auto refuse = [&call](const absl::Status& status) {
    return Fail(call, absl::StrCat(kFailed, SlurmText(status)));
  };
  const absl::StatusOr<std::string> token = MakeToken();
  if (!token.ok()) {
    return refuse(token.status());
  }
  if (const absl::Status possible =
          CheckContainerNodes(connection, request, call.environment.entries());
      !possible.ok()) {
    return refuse(possible);
  }
  if (request.test_only) {
    const absl::StatusOr<StartForecast> forecast = connection.Call(
        TestSubmit{{*token, request.spec, request.program, {}, request.components}});
    if (!forecast.ok()) {
      return FailPlainly(call, absl::StrCat("allocation failure: ", SlurmText(forecast.status())));
    }
    return TellForecast(call, *forecast, request);
  }
  const absl::StatusOr<StagedJobs> submitted =
      SubmitWithCopies(connection, *token, request, /*refuse_misfit=*/true);
  if (!submitted.ok()) {
    const absl::Status known = CheckNodes(connection, request.spec.request.nodelist);
    return refuse(absl::IsNotFound(known) ? known : submitted.status());
  }
  const JobId job = submitted->job;
  if (request.parsable) {
    const absl::StatusOr<ClusterStatus> cluster =
        words.Has("clusters") ? connection.Call(Ping{}) : ClusterStatus();
    call.out << job.value() << (cluster.ok() && words.Has("clusters") ? ";" + cluster->cluster : "")
             << std::endl;
  } else if (!words.Has("quiet")) {
    call.out << "Submitted batch job " << job.value() << std::endl;
  }
  TellRecorded(call, request);
  if (!request.wait) {
    return 0;
  }
  const absl::StatusOr<int> code = WaitWithCopies(connection, *submitted, request);
  return code.ok() ? *code : refuse(code.status());
}

}  // namespace

int RunSbatch(const Call& call) {
  int exit_code = 0;
  const std::optional<BatchCall> read = ReadCall(call, &exit_code);
  if (!read.has_value()) {
    return exit_code;
  }
  const absl::StatusOr<Script> script = ScriptOf(*read);
  if (!script.ok()) {
    return FailAs(call, script.status(), kSbatch);
  }
  const absl::StatusOr<Address> address = ControllerAddress("", "", call.environment);
  if (!address.ok()) {
    return FailAs(call, address.status(), kSbatch);
  }
  absl::StatusOr<JobRequest> request = MakeSubmission(InvocationOf(call, *read), *address, *script);
  if (!request.ok()) {
    return absl::IsInvalidArgument(request.status())
               ? FailAs(call, request.status(), kSbatch)
               : Fail(call, absl::StrCat(kFailed, std::string(request.status().message())));
  }
  NameOutput(&*request);
  Warn(call, FitNodes(&request->spec.request));
  for (Component& component : request->components) {
    Warn(call, FitNodes(&component.spec.request));
  }
  const absl::StatusOr<std::unique_ptr<Connection>> connection = Connection::Open(*address);
  if (!connection.ok()) {
    return Fail(call, absl::StrCat(kFailed, SlurmText(connection.status())));
  }
  if (const absl::Status known = CheckClusters(**connection, read->words.Value("clusters"));
      !known.ok()) {
    return Fail(call, std::string(known.message()));
  }
  return Submit(call, **connection, *request, read->words);
}

}  // namespace muster::cli::slurm
