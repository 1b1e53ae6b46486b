#include "cli/slurm/control/local_processes.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string_view>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"

namespace muster::cli::slurm {
namespace {

std::string ReadAll(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// The field after the name, which may hold blanks and brackets: the parent.
std::int64_t ParentOf(const std::filesystem::path& process) {
  const std::string stat = ReadAll(process / "stat");
  const std::size_t name = stat.rfind(')');
  const std::vector<std::string> fields =
      absl::StrSplit(stat.substr(std::min(name + 1, stat.size())), ' ', absl::SkipEmpty());
  std::int64_t parent = 0;
  return fields.size() > 1 && absl::SimpleAtoi(fields[1], &parent) ? parent : 0;
}

}  // namespace

std::optional<LocalProcess> ReadLocalProcess(std::int64_t pid, const std::string& environment) {
  LocalProcess process{.pid = pid, .job = 0, .step = "batch", .local = "0", .global = "0"};
  for (std::size_t at = 0; at < environment.size();) {
    const std::size_t end = std::min(environment.find('\0', at), environment.size());
    const std::string entry = environment.substr(at, end - at);
    const std::size_t equals = entry.find('=');
    const std::string name = entry.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : entry.substr(equals + 1);
    if (name == "MUSTER_JOB_ID" && !absl::SimpleAtoi(value, &process.job)) {
      return std::nullopt;
    }
    process.step = name == "MUSTER_STEP_ID" ? value : process.step;
    process.local = name == "MUSTER_LOCALID" ? value : process.local;
    process.global = name == "MUSTER_PROCID" ? value : process.global;
    at = end + 1;
  }
  return process.job == 0 ? std::nullopt : std::optional(process);
}

std::vector<LocalProcess> LocalProcesses(const std::string& proc) {
  std::map<std::int64_t, LocalProcess> found;
  std::map<std::int64_t, std::int64_t> parents;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(proc, error)) {
    std::int64_t pid = 0;
    if (!absl::SimpleAtoi(entry.path().filename().string(), &pid)) {
      continue;
    }
    if (auto process = ReadLocalProcess(pid, ReadAll(entry.path() / "environ"))) {
      parents[pid] = ParentOf(entry.path());
      found.emplace(pid, *std::move(process));
    }
  }
  std::vector<LocalProcess> processes;
  for (const auto& [pid, process] : found) {
    const auto parent = found.find(parents[pid]);
    LocalProcess shown = process;
    // A rank's children have its environment, and are no ranks.
    if (parent != found.end() && parent->second.step == process.step &&
        parent->second.global == process.global && parent->second.job == process.job) {
      shown.local = "-";
      shown.global = "-";
    }
    processes.push_back(std::move(shown));
  }
  return processes;
}

std::string ProcessTable(const std::vector<LocalProcess>& processes) {
  std::string table = "PID      JOBID    STEPID   LOCALID GLOBALID\n";
  for (const LocalProcess& each : processes) {
    table += absl::StrFormat("%-8d %-8d %-8s %-7s %-8s\n", each.pid, each.job, each.step,
                             each.local, each.global);
  }
  return table;
}

}  // namespace muster::cli::slurm
