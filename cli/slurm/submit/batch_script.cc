#include "cli/slurm/submit/batch_script.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"

namespace muster::cli::slurm {
namespace {

absl::Status Refuse(const std::string& text) {
  return absl::InvalidArgumentError(absl::StrCat("error: ", text));
}

// Our refusal of the script in Slurm's words.
absl::Status InSlurmsWords(const absl::Status& status, const std::string& path) {
  const std::string message(status.message());
  if (absl::StrContains(message, "cannot open")) {
    return Refuse(absl::StrCat("Unable to open file ", path));
  }
  if (absl::StrContains(message, "does not begin with #!")) {
    return Refuse(
        "This does not look like a batch script.  The first line must start with #! followed by "
        "the path to an interpreter. For instance: #!/bin/sh");
  }
  if (absl::StrContains(message, "is a directory")) {
    return Refuse("Batch script is empty!");
  }
  return Refuse(message);
}

}  // namespace

absl::StatusOr<Script> ReadBatchScript(const std::string& path) {
  absl::StatusOr<Script> script = LoadScript(path.empty() ? "-" : path);
  if (!script.ok()) {
    return InSlurmsWords(script.status(), path);
  }
  const std::size_t end = script->text.find('\n');
  if (end != std::string::npos && end > 0 && script->text[end - 1] == '\r') {
    return Refuse(
        "Batch script contains DOS line breaks (\\r\\n) instead of expected UNIX line breaks "
        "(\\n).");
  }
  if (path.empty()) {
    script->name = "sbatch";
  }
  return script;
}

absl::StatusOr<Script> WrapBatchCommand(const std::string& command) {
  absl::StatusOr<Script> script = WrapCommand(command.empty() ? ":" : command);
  return script.ok() ? script : InSlurmsWords(script.status(), "");
}

}  // namespace muster::cli::slurm
