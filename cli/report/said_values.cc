#include "cli/report/said_values.h"

#include "absl/strings/str_join.h"
#include "checkpoint/disk/report_socket.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/named_values.h"

namespace muster::cli {
namespace {

using checkpoint::Fault;

}  // namespace

absl::StatusOr<int> ReportValues(const Invocation& invocation) {
  if (!invocation.values.empty() && !invocation.Has("controller") && !invocation.Has("state")) {
    return absl::InvalidArgumentError(
        "NAME=VALUE words stand alone: options are for usage, utilization and waits");
  }
  const std::string text = absl::StrJoin(invocation.arguments, " ");
  RETURN_IF_ERROR(ParseNamedValues(text).status());
  const std::string socket = invocation.environment.Get("MUSTER_REPORT_SOCKET");
  if (socket.empty()) {
    return absl::FailedPreconditionError(
        "MUSTER_REPORT_SOCKET is not set: NAME=VALUE words are for the programs of a job");
  }
  const checkpoint::Error error = checkpoint::SendReport(socket, text);
  if (error.fault == Fault::kBusy) {
    return absl::ResourceExhaustedError(error.text);
  }
  return error.failed() ? absl::StatusOr<int>(absl::UnavailableError(error.text)) : 0;
}

}  // namespace muster::cli
