#include "scheduler/model/job/program_check.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/model/job/container.h"
#include "scheduler/model/job/order_limits.h"
#include "scheduler/model/job/step_io.h"
#include "scheduler/model/value/job_text.h"
#include "scheduler/model/value/wire_size.h"

namespace muster {
namespace {

// "NAME=value", each name once: programs differ in which of two they take.
absl::Status CheckEnvironment(const std::vector<std::string>& environment) {
  std::vector<std::string_view> names;
  names.reserve(environment.size());
  for (const std::string& entry : environment) {
    const std::size_t equals = entry.find('=');
    if (equals == std::string::npos || equals == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("--export: entry ", names.size() + 1, " of the environment ",
                       equals == 0 ? "has no name" : "has no =", "; an entry is NAME=value"));
    }
    names.emplace_back(entry.data(), equals);
  }
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice == names.end()) {
    return absl::OkStatus();
  }
  const std::string name = HasControl(std::string(*twice)) || twice->size() > kJobNameBytesMax
                               ? std::string("a variable")
                               : std::string(*twice);
  return absl::InvalidArgumentError(
      absl::StrCat("--export: the environment has ", name, " twice; leave one of them out"));
}

absl::Status CheckCopies(const std::vector<StagePair>& copies) {
  for (const StagePair& copy : copies) {
    for (const std::string* place : {&copy.from, &copy.to}) {
      if (place->empty() || HasControl(*place)) {
        return absl::InvalidArgumentError(
            "--stage-in, --stage-out: a place is empty or holds a control character");
      }
    }
  }
  return absl::OkStatus();
}

// The member that the option gives; null: none.
std::string Program::*MemberOf(std::string_view option) {
  return option == "output"  ? &Program::stdout_path
         : option == "error" ? &Program::stderr_path
         : option == "input" ? &Program::stdin_path
         : option == "chdir" ? &Program::work_dir
                             : nullptr;
}

}  // namespace

absl::Status CheckProgram(JobKind kind, const Program& program) {
  if (kind == JobKind::kBatch && program.script.rfind("#!", 0) != 0) {
    return absl::InvalidArgumentError(
        "the script does not begin with #!; its first line must name its interpreter, such as "
        "#!/bin/bash");
  }
  if (kind != JobKind::kBatch && program.argv.empty()) {
    return absl::InvalidArgumentError("no command to run");
  }
  const auto has_nul = [](const std::string& text) { return text.find('\0') != std::string::npos; };
  if (has_nul(program.script) || has_nul(program.work_dir) || has_nul(program.stdin_path) ||
      has_nul(program.stdout_path) || has_nul(program.stderr_path) ||
      std::any_of(program.argv.begin(), program.argv.end(), has_nul) ||
      std::any_of(program.environment.begin(), program.environment.end(), has_nul)) {
    return absl::InvalidArgumentError(
        "the script, a path, an argument or the environment holds a NUL byte");
  }
  if (program.argv.size() > kProgramEntriesMax || program.environment.size() > kProgramEntriesMax) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the program has ", program.argv.size(), " arguments and ", program.environment.size(),
        " variables; at most ", kProgramEntriesMax, " of each are allowed"));
  }
  if (const std::size_t bytes = WireBytes(program); bytes > kProgramBytesMax) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the script, its arguments and its environment are ", bytes, " bytes together; at most ",
        kProgramBytesMax, " are allowed: move data into a file, or use --export=NONE"));
  }
  RETURN_IF_ERROR(CheckEnvironment(program.environment));
  RETURN_IF_ERROR(CheckCopies(program.stage_in));
  RETURN_IF_ERROR(CheckCopies(program.stage_out));
  RETURN_IF_ERROR(CheckContainer(program.container));
  return program.io == StepIo() ? absl::OkStatus() : CheckStepIo(program.io);
}

absl::Status CheckPaths(const std::vector<ChangedPath>& paths) {
  constexpr std::size_t kPathMax = 4096;
  for (const ChangedPath& path : paths) {
    if (MemberOf(path.option) == nullptr) {
      return absl::InvalidArgumentError("a path of an option that gives none");
    }
    if (path.path.size() >= kPathMax || path.path.find('\0') != std::string::npos) {
      return absl::InvalidArgumentError(absl::StrCat("--", path.option, ": no path is longer than ",
                                                     kPathMax - 1, " bytes or holds a NUL byte"));
    }
    if (path.option == "chdir" && (path.path.empty() || path.path[0] != '/')) {
      return absl::InvalidArgumentError("--chdir: the directory's path must begin with /");
    }
  }
  return absl::OkStatus();
}

void SetPaths(const std::vector<ChangedPath>& paths, Program& program) {
  for (const ChangedPath& path : paths) {
    if (std::string Program::*const member = MemberOf(path.option)) {
      program.*member = path.path;
    }
  }
}

}  // namespace muster
