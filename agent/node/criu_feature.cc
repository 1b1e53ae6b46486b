#include "agent/node/criu_feature.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/base/utf8.h"
#include "scheduler/runtime/process.h"
#include "scheduler/runtime/program/program_answer.h"
#include "scheduler/runtime/program/program_search.h"

namespace muster::agent {
namespace {

constexpr std::size_t kWordsMost = 512;

// Its last words, unless it exits with 0 within the limit.
absl::Status Run(const std::vector<std::string>& command, Duration limit) {
  SpawnRequest request;
  request.program = command.front();
  request.arguments = command;
  request.environment = {absl::StrCat("PATH=", kSystemPath)};
  ASSIGN_OR_RETURN(const ProgramAnswer answer,
                   AnswerOf(std::move(request), AnswerStreams::kOutput, limit));
  if (answer.success) {
    return absl::OkStatus();
  }
  if (answer.late) {
    return absl::DeadlineExceededError(
        absl::StrCat("it took longer than ", limit.count() / 1000, " s"));
  }
  const std::string words = answer.text.substr(0, std::min(answer.text.find('\n'), kWordsMost));
  return absl::InternalError(words.empty() ? "it failed" : EscapeControl(words));
}

}  // namespace

CriuFound FindCriu(const std::string& path, const std::string& program, bool as_user,
                   Duration limit) {
  CriuFound found;
  const std::string criu = FindAlong("criu", absl::StrCat(path, ":", kSystemPath));
  if (criu.empty()) {
    return found;
  }
  if (program.empty()) {
    found.why_not = "muster-criu is not installed";
    return found;
  }
  std::vector<std::string> command = {program, "try", criu};
  if (as_user) {
    command.emplace_back("as-user");
  }
  const absl::Status works = Run(command, limit);
  if (works.ok()) {
    found.path = criu;
  } else {
    found.why_not = absl::StrCat(criu, ": ", as_user ? "as an ordinary user: " : "",
                                 std::string(works.message()));
  }
  return found;
}

}  // namespace muster::agent
