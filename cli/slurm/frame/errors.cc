#include "cli/slurm/frame/errors.h"

#include <algorithm>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "cli/page/text.h"

namespace muster::cli::slurm {
namespace {

// A piece of the controller's refusal, and what Slurm says of the same.
struct Wording {
  const char* ours;
  const char* slurms;
};

constexpr const char* kBadAccount = "Invalid account or account/partition combination specified";

constexpr Wording kWordings[] = {
    {"never on this cluster", "Requested node configuration is not available"},
    {"--array", "Invalid job array specification"},
    {"--begin", "Invalid time specified"},
    {"--dependency", "Job dependency problem"},
    {"--reservation", "Requested reservation is invalid"},
    {"--qos", "Invalid qos specification"},
    {"--partition", "Invalid partition name specified"},
    {"partition", "Invalid partition name specified"},
    {"--account", kBadAccount},
    {"account", kBadAccount},
    {"--licenses", "Invalid license specification"},
    {"--constraint", "Invalid feature specification"},
    {"--time", "Requested time limit is invalid (missing or exceeds some limit)"},
    {"--nodelist", "Invalid node name specified"},
};

const Wording* Find(const std::string& message) {
  for (const Wording& wording : kWordings) {
    if (absl::StrContains(message, wording.ours)) {
      return &wording;
    }
  }
  return nullptr;
}

// Who may not use an account, or a partition with it, is told so; who may not do something, that.
std::string DenialText(const std::string& message) {
  if (absl::StartsWith(message, "--account")) {
    return kBadAccount;
  }
  if (absl::StartsWith(message, "--partition")) {
    return absl::StrContains(message, "QOS") ? "Invalid qos specification" : kBadAccount;
  }
  return "Access/permission denied";
}

}  // namespace

std::string SlurmText(const absl::Status& status) {
  const std::string message(status.message());
  switch (status.code()) {
    case absl::StatusCode::kUnavailable:
      return "Unable to contact slurm controller (connect failure)";
    case absl::StatusCode::kDeadlineExceeded:
      return "Socket timed out on send/recv operation";
    case absl::StatusCode::kUnauthenticated:
      return "Protocol authentication error";
    case absl::StatusCode::kPermissionDenied:
      return DenialText(message);
    default:
      break;
  }
  if (const Wording* wording = Find(message)) {
    return wording->slurms;
  }
  return absl::IsNotFound(status) ? "Invalid job id specified" : Printable(message);
}

int Fail(const Call& call, const std::string& text) {
  return FailPlainly(call, call.name + ": error: " + text);
}

void Warn(const Call& call, const std::string& text) {
  if (!text.empty()) {
    FailPlainly(call, absl::StrCat(call.name, ": ", text));
  }
}

int FailPlainly(const Call& call, const std::string& text) {
  call.err << Printable(text) << std::endl;
  return 1;
}

int FailLines(const Call& call, const std::string& lines) {
  call.err << HarmlessLines(lines) << std::endl;
  return 1;
}

std::string HarmlessLines(const std::string& lines) {
  std::vector<std::string> safe = absl::StrSplit(lines, '\n');
  std::transform(safe.begin(), safe.end(), safe.begin(),
                 [](const std::string& line) { return Printable(line); });
  return absl::StrJoin(safe, "\n");
}

}  // namespace muster::cli::slurm
