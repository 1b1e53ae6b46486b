#include "cli/service/service_script.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "cli/page/shell_words.h"

namespace muster::cli {
namespace {

constexpr const char* kExec = "exec ";
constexpr const char* kInput = " <<'";
constexpr const char* kArguments = " -- \"$@\"";

// `exec … <<'END'` and what follows it.
std::string WithInput(const std::string& command, const std::string& text) {
  std::string end = "END_OF_SCRIPT";
  const std::vector<std::string> lines = absl::StrSplit(text, '\n');
  while (std::find(lines.begin(), lines.end(), end) != lines.end()) {
    end += "_";
  }
  const bool whole = text.empty() || text.back() == '\n';
  return absl::StrCat(command, kInput, end, "'\n", text, whole ? "" : "\n", end, "\n");
}

struct ReplicaScriptParts {
  std::string head;     // the lines before the command
  std::string command;  // without its input
};

absl::StatusOr<ReplicaScriptParts> Split(const std::string& script) {
  ReplicaScriptParts parts;
  const std::vector<std::string> lines = absl::StrSplit(script, '\n');
  for (const std::string& line : lines) {
    const std::size_t input = line.rfind(kInput);
    if (absl::StartsWith(line, kExec) && input != std::string::npos) {
      parts.command = line.substr(0, input);
      return parts;
    }
    absl::StrAppend(&parts.head, line, "\n");
  }
  return absl::FailedPreconditionError("its script is not one that muster service start made");
}

}  // namespace

std::string ReplicaScript(const std::vector<std::string>& keeper, const std::string& text) {
  std::string script = "#!/bin/sh\n";
  const std::vector<std::string> lines = absl::StrSplit(text, '\n');
  for (std::size_t i = 1; i < lines.size() && (lines[i].empty() || lines[i][0] == '#'); ++i) {
    absl::StrAppend(&script, lines[i], "\n");
  }
  absl::StrAppend(&script, "# Made by muster service start: keeps the replica that follows.\n");
  return script + WithInput(absl::StrCat(kExec, ShellWords(keeper), kArguments), text);
}

absl::StatusOr<std::string> WithUserScript(const std::string& replica_script,
                                           const std::string& text) {
  absl::StatusOr<ReplicaScriptParts> parts = Split(replica_script);
  if (!parts.ok()) {
    return parts.status();
  }
  return parts->head + WithInput(parts->command, text);
}

}  // namespace muster::cli
