#include "cli/request/record/git_state.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "scheduler/runtime/file.h"
#include "scheduler/runtime/program/program_answer.h"

namespace muster::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kGit = "/usr/bin/git";
constexpr std::chrono::milliseconds kPatience{100};

std::string LineOf(const fs::path& path) {
  constexpr std::size_t kLineMax = 4096;
  const absl::StatusOr<std::string> text = ReadFile(path.string(), kLineMax);
  return text.ok() ? std::string(absl::StripAsciiWhitespace(*text)) : "";
}

bool IsCommit(const std::string& text) {
  constexpr std::size_t kSha1 = 40;
  constexpr std::size_t kSha256 = 64;
  return (text.size() == kSha1 || text.size() == kSha256) &&
         std::all_of(text.begin(), text.end(), absl::ascii_isxdigit);
}

// The directory of the repository's own files: ".git" of the first directory above that has one,
// or where the file of that name says, as of a worktree.
std::optional<fs::path> GitDirectory(const fs::path& directory) {
  for (fs::path at = directory;; at = at.parent_path()) {
    const fs::path found = at / ".git";
    std::error_code error;
    if (fs::is_directory(found, error)) {
      return found;
    }
    if (const std::string line = LineOf(found); absl::StartsWith(line, "gitdir: ")) {
      return at / line.substr(8);
    }
    if (at == at.parent_path()) {
      return std::nullopt;
    }
  }
}

// What a name such as "refs/heads/main" stands for.
std::string CommitOf(const fs::path& git, const std::string& name) {
  constexpr std::size_t kPackedMax = std::size_t{16} << 20;
  const std::string common = LineOf(git / "commondir");  // of a worktree
  for (const fs::path& at : {git, common.empty() ? git : git / common}) {
    if (std::string commit = LineOf(at / name); IsCommit(commit)) {
      return commit;
    }
    const absl::StatusOr<std::string> packed = ReadFile((at / "packed-refs").string(), kPackedMax);
    for (const std::string_view line :
         std::vector<std::string>(absl::StrSplit(packed.ok() ? *packed : "", '\n'))) {
      const std::size_t blank = line.find(' ');
      if (blank != line.npos && line.substr(blank + 1) == name) {
        return std::string(line.substr(0, blank));
      }
    }
  }
  return "";
}

Changed ChangedIn(const std::string& directory, const std::vector<std::string>& environment) {
  SpawnRequest request;
  request.program = kGit;
  request.arguments = {"git",    "--no-optional-locks",  "-C",         directory,
                       "status", "--untracked-files=no", "--porcelain"};
  request.environment = environment;
  const absl::StatusOr<ProgramAnswer> answer =
      AnswerOf(std::move(request), AnswerStreams::kOutput, kPatience);
  return !answer.ok() || !answer->success ? Changed::kUnknown
         : answer->text.empty()           ? Changed::kNo
                                          : Changed::kYes;
}

}  // namespace

std::optional<GitState> GitStateOf(const std::string& directory,
                                   const std::vector<std::string>& environment) {
  const std::optional<fs::path> git = GitDirectory(directory);
  if (!git.has_value()) {
    return std::nullopt;
  }
  const std::string head = LineOf(*git / "HEAD");
  GitState state;
  state.commit = absl::StartsWith(head, "ref: ") ? CommitOf(*git, head.substr(5)) : head;
  if (!IsCommit(state.commit)) {
    return std::nullopt;
  }
  state.changed = access(kGit, X_OK) == 0 ? ChangedIn(directory, environment) : Changed::kUnknown;
  return state;
}

}  // namespace muster::cli
