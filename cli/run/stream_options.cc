#include "cli/run/stream_options.h"

#include <fcntl.h>

#include <cerrno>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"

namespace muster::cli {
namespace {

absl::Status ReadInput(const Invocation& invocation, const std::string& work_dir,
                       StreamChoice* choice) {
  const std::string input = invocation.Value("input");
  constexpr std::uint64_t kRankMax = 1U << 31;
  if (const absl::StatusOr<std::uint64_t> rank = ParseDigits(input, kRankMax); rank.ok()) {
    choice->takers = absl::StrCat(*rank);
    return absl::OkStatus();
  }
  if (input == "all" || input == "none") {
    choice->takers = input;
    return absl::OkStatus();
  }
  const std::string path = (std::filesystem::path(work_dir) / input).string();
  choice->takers = "all";
  choice->file.reset(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  std::error_code error;
  if (!choice->file.valid()) {
    const absl::Status refused = absl::ErrnoToStatus(errno, absl::StrCat("--input: ", path));
    return absl::FailedPreconditionError(absl::StrCat(
        std::string(refused.message()), ": name a readable file, all, none or a rank"));
  }
  if (std::filesystem::is_directory(path, error)) {
    return absl::FailedPreconditionError(
        absl::StrCat("--input: ", path, ": is a directory: name a file, all, none or a rank"));
  }
  return absl::OkStatus();
}

absl::Status RefuseEmpty(const Invocation& invocation) {
  for (const char* name : {"output", "error", "input"}) {
    if (invocation.Has(name) && invocation.Value(name).empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--", name, ": \"\" is not a path: name a file"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

std::vector<Option> StreamOptions() {
  return {{.name = "output",
           .letter = 'o',
           .metavar = "FILE",
           .text = "Output: all (here), none, RANK (its alone) or a file; %t rank, %n or %N node, "
                   "%j job, %s step"},
          {.name = "error",
           .letter = 'e',
           .metavar = "FILE",
           .text = "Standard error, like --output (default: where the output goes)"},
          {.name = "open-mode",
           .letter = 0,
           .metavar = "MODE",
           .text = "append to output files, or truncate them (the default)"},
          {.name = "input",
           .letter = 'i',
           .metavar = "FILE",
           .text = "Standard input: ours to all, none or RANK (default: 0), or a file to all"}};
}

absl::StatusOr<StreamChoice> ReadStreams(const Invocation& invocation,
                                         const std::string& work_dir) {
  RETURN_IF_ERROR(RefuseEmpty(invocation));
  StreamChoice choice;
  choice.output.output = invocation.Value("output");
  choice.output.error = invocation.Value("error");
  choice.output.work_dir = work_dir;
  const std::string mode = invocation.Value("open-mode");
  if (invocation.Has("open-mode") && mode != "append" && mode != "truncate") {
    return absl::InvalidArgumentError(
        absl::StrCat("--open-mode: ", Quote(mode), " is not one of append, truncate"));
  }
  choice.output.append = mode == "append";
  RETURN_IF_ERROR(RankFiles(choice.output).Check());
  if (invocation.Has("input")) {
    RETURN_IF_ERROR(ReadInput(invocation, work_dir, &choice));
  }
  return choice;
}

}  // namespace muster::cli
