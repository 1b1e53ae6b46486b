#include "cli/slurm/streams/sattach.h"

#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/frame/verbs.h"
#include "cli/parse/selector.h"
#include "cli/slurm/frame/cluster.h"
#include "cli/slurm/frame/errors.h"
#include "cli/slurm/frame/words.h"
#include "cli/slurm/streams/step_layout.h"
#include "scheduler/base/text/host_list.h"

namespace muster::cli::slurm {
namespace {

constexpr Row kAttachRows[] = {
    {"error-filter", 0, Takes::kValue},
    {"input-filter", 0, Takes::kValue},
    {"label", 'l'},
    {"layout"},
    {"output-filter", 0, Takes::kValue},
    {"pty"},
    {"quiet", 'Q'},
    {"unbuffered", 'u'},
    {"verbose", 'v'},
};

// What the controller or the session refused, in Slurm's words.
int FailAttach(const Call& call, const absl::Status& status) {
  const std::string message(status.message());
  const std::string text = absl::IsNotFound(status)             ? "Invalid job id specified"
                           : absl::StrContains(message, "wait") ? "Job is pending execution"
                                                                : SlurmText(status);
  return Fail(call, absl::StrCat("Could not get job step info: ", text));
}

int ShowLayout(const Call& call, const StepSelector& named) {
  const absl::StatusOr<std::unique_ptr<Connection>> connection = OpenCluster(call);
  const absl::StatusOr<std::vector<JobDetail>> details =
      connection.ok() ? (*connection)->Call(ShowJob{ById(named.job)})
                      : absl::StatusOr<std::vector<JobDetail>>(connection.status());
  if (!details.ok()) {
    return FailAttach(call, details.status());
  }
  const absl::StatusOr<std::string> layout = StepLayout(details->front(), *named.step);
  if (!layout.ok()) {
    return FailAttach(call, layout.status());
  }
  call.out << *layout << std::flush;
  return 0;
}

}  // namespace

int RunSattach(const Call& call) {
  int code = 0;
  const std::optional<Words> words = ReadCommand(call, kAttachRows, Operands::kAnywhere, &code);
  if (!words.has_value()) {
    return code;
  }
  if (words->operands.size() != 1) {
    return Fail(
        call, words->operands.empty() ? "missing the step, <jobid.stepid>" : "too many parameters");
  }
  const absl::StatusOr<StepSelector> named = ParseStepSelector(words->operands.front());
  if (!named.ok() || !named->step.has_value() || named->job.elements.size() > 1) {
    return Fail(call, "Failed to parse stepid from command line options");
  }
  for (const char* const filter : {"input-filter", "output-filter", "error-filter"}) {
    if (words->Has(filter)) {
      return Fail(call,
                  absl::StrCat("--", filter, ": the streams of all tasks come: leave it out"));
    }
  }
  if (words->Has("layout")) {
    return ShowLayout(call, *named);
  }
  static const std::vector<Verb> verbs;
  Invocation invocation{.environment = call.environment,
                        .verbs = verbs,
                        .values = {},
                        .arguments = {words->operands.front()}};
  if (words->Has("label")) {
    invocation.values["label"] = "";
  }
  if (words->Has("pty")) {
    invocation.values["input"] = "";
  }
  const absl::StatusOr<int> ended = AttachVerb().run(invocation);
  return ended.ok() ? *ended : FailAttach(call, ended.status());
}

}  // namespace muster::cli::slurm
