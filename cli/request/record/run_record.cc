#include "cli/request/record/run_record.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "cli/request/record/git_state.h"
#include "scheduler/base/text/words.h"
#include "scheduler/base/utf8.h"
#include "scheduler/model/value/fingerprint.h"
#include "scheduler/model/value/program_record.h"

namespace muster::cli {
namespace {

constexpr std::size_t kValueBytesMax = 512;
constexpr std::size_t kSeedsMax = 16;

// Variables that differ from shell to shell and say nothing of what runs.
bool IsOfTheShell(std::string_view name) {
  constexpr std::array kNames = {
      "_",          "COLUMNS",      "DISPLAY", "INVOCATION_ID", "JOURNAL_STREAM", "LINES",
      "OLDPWD",     "PWD",          "SHLVL",   "STY",           "TERM",           "TMUX",
      "WINDOWID",   "TMUX_PANE",    "WINDOW",  "MAIL",          "SSH_TTY",        "SSH_CONNECTION",
      "SSH_CLIENT", "SSH_AUTH_SOCK"};
  constexpr std::array kBeginnings = {"XDG_", "DBUS_", "VSCODE_", "MUSTER_SUBMIT_", "KRB5"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end() ||
         std::any_of(kBeginnings.begin(), kBeginnings.end(), [name](const char* beginning) {
           return absl::StartsWith(std::string(name), beginning);
         });
}

// What stands in the record under another name: the value of a variable as it is.
constexpr std::array<std::pair<const char*, const char*>, 7> kTold = {{
    {"MUSTER_SUBMIT_CHECKPOINT_DIR", kCheckpointDirectoryRecord},
    {"MUSTER_CHECKPOINT_INTERVAL", kCheckpointIntervalRecord},
    {"LOADEDMODULES", "modules"},
    {"CONDA_DEFAULT_ENV", "conda"},
    {"VIRTUAL_ENV", "virtualenv"},
    {"CUDA_HOME", "cuda"},
    {"ROCM_PATH", "rocm"},
}};

// "SEED", "PYTHONHASHSEED", "PL_GLOBAL_SEED"; whose values are numbers.
bool IsSeed(std::string_view name, std::string_view value) {
  return absl::EndsWith(std::string(name), "SEED") && !value.empty() && value.size() <= 20 &&
         std::all_of(value.begin(), value.end(), [](char c) { return c >= '0' && c <= '9'; });
}

const char* WordOf(Changed changed) {
  return changed == Changed::kNo ? "no" : changed == Changed::kYes ? "yes" : "unknown";
}

// Found out once a process: the lines of a --batch come from one place, and each asks.
const std::optional<GitState>& KnownState(const std::string& directory,
                                          const std::vector<std::string>& own) {
  static std::map<std::string, std::optional<GitState>> known;
  const auto [found, is_new] = known.try_emplace(directory);
  if (is_new) {
    found->second = GitStateOf(directory, own);
  }
  return found->second;
}

using Record = std::map<std::string, std::string>;

// What the environment's variables add.
Record RecordOf(const std::vector<std::string>& environment) {
  std::map<std::string, std::string> variables;
  for (const std::string& variable : environment) {
    const std::pair<std::string, std::string> parts =
        absl::StrSplit(variable, absl::MaxSplits('=', 1));
    variables.insert(parts);
  }
  Record record;
  std::size_t seeds = 0;
  std::vector<std::string> kept;
  for (const auto& [name, value] : variables) {
    if (IsSeed(name, value) && seeds++ < kSeedsMax) {
      record["seed." + name] = value;
    }
    if (!IsOfTheShell(name)) {
      kept.push_back(absl::StrCat(name, "=", value));
    }
  }
  for (const auto& [variable, name] : kTold) {
    const auto found = variables.find(variable);
    if (found != variables.end() && !found->second.empty()) {
      record[name] = found->second;
    }
  }
  record["environment"] = HashText(Fingerprint().Add(kept).value());
  return record;
}

// The same, found out once for the lines of a --batch.
const Record& KnownRecord(const std::vector<std::string>& environment) {
  static std::vector<std::string> last;
  static Record record = RecordOf(last);
  if (environment != last) {
    last = environment;
    record = RecordOf(last);
  }
  return record;
}

}  // namespace

std::vector<std::string> RunRecord(const Program& program, const std::vector<std::string>& own) {
  if (std::find(own.begin(), own.end(), absl::StrCat(kNoRecord, "=0")) != own.end()) {
    return {};
  }
  Record record = KnownRecord(program.environment);
  record[std::string(kProgramRecord)] =
      HashText(Fingerprint().Add(program.script).Add(program.argv).value());
  if (const std::optional<GitState>& git = KnownState(program.work_dir, own)) {
    record["git.commit"] = git->commit;
    record["git.changed"] = WordOf(git->changed);
  }
  std::vector<std::string> lines;
  for (const auto& [name, value] : record) {
    const bool whole = value.size() <= kValueBytesMax && IsUtf8(value);
    lines.push_back(absl::StrCat(
        name, "=", whole ? value : "hash " + HashText(Fingerprint().Add(value).value())));
  }
  return lines;
}

}  // namespace muster::cli
