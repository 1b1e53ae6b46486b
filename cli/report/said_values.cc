#include "cli/report/said_values.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "checkpoint/disk/report_socket.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/named_values.h"

namespace muster::cli {
namespace {

using checkpoint::Fault;

// The words, and whose they are: this process has ended when somebody looks for the rank that it is
// of.
std::string TextOf(const Invocation& invocation, std::size_t values) {
  std::string text = absl::StrJoin(invocation.arguments, " ");
  const std::string step = invocation.environment.Get("MUSTER_STEP_ID");
  const std::string rank = invocation.environment.Get("MUSTER_PROCID");
  if (!step.empty() && !rank.empty() && values + 2 <= kNamedValuesMax) {
    absl::StrAppend(&text, " ", kTellersStep, "=", step, " ", kTellersRank, "=", rank);
  }
  return text;
}

}  // namespace

absl::StatusOr<int> ReportValues(const Invocation& invocation) {
  if (!invocation.values.empty() && !invocation.Has("controller") && !invocation.Has("state")) {
    return absl::InvalidArgumentError(
        "NAME=VALUE words stand alone: options are for usage, utilization and waits");
  }
  ASSIGN_OR_RETURN(const std::vector<NamedValue> values,
                   ParseNamedValues(absl::StrJoin(invocation.arguments, " ")));
  const std::string socket = invocation.environment.Get("MUSTER_REPORT_SOCKET");
  if (socket.empty()) {
    return absl::FailedPreconditionError(
        "MUSTER_REPORT_SOCKET is not set: NAME=VALUE words are for the programs of a job");
  }
  const checkpoint::Error error = checkpoint::SendReport(socket, TextOf(invocation, values.size()));
  if (error.fault == Fault::kBusy) {
    return absl::ResourceExhaustedError(error.text);
  }
  return error.failed() ? absl::StatusOr<int>(absl::UnavailableError(error.text)) : 0;
}

}  // namespace muster::cli
