#include "cli/request/job_environment.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"

namespace muster::cli {
namespace {

std::string_view NameOf(std::string_view entry) {
  return entry.substr(0, entry.find('='));
}

bool HasPrefix(std::string_view name, std::string_view prefix) {
  return name.substr(0, prefix.size()) == prefix;
}

bool IsOfJob(std::string_view name) {
  return HasPrefix(name, "MUSTER_") || HasPrefix(name, "SLURM_");
}

// What is true of the script's process and node only.
bool IsOfNode(std::string_view name) {
  constexpr std::array<std::string_view, 7> kNames = {
      "CPUS_ON_NODE", "GPUS_ON_NODE", "GTIDS", "LOCALID", "NODEID", "PROCID", "TASK_PID"};
  const std::string_view bare = name.substr(name.find('_') + 1);
  return name == "MUSTER_NODE_NAME" || name == "MUSTER_REPORT_SOCKET" || name == "MUSTER_STAGED" ||
         std::find(kNames.begin(), kNames.end(), bare) != kNames.end();
}

// Of an enclosing job. Without one, MUSTER_* are the user's own settings.
bool IsOfEnclosingJob(std::string_view name) {
  return IsOfJob(name) || HasPrefix(name, "PMIX_") || HasPrefix(name, "PMI_") ||
         name == "SLURMD_NODENAME";
}

}  // namespace

bool JobEnvironmentReader::Take(std::string_view bytes) {
  while (!whole_ && !bytes.empty()) {
    const std::size_t end = bytes.find('\0');
    unfinished_.append(bytes.substr(0, end));
    if (end == std::string_view::npos) {
      break;
    }
    bytes.remove_prefix(end + 1);
    whole_ = unfinished_.empty();
    if (!whole_) {
      entries_.push_back(std::move(unfinished_));
      unfinished_.clear();
    }
  }
  return whole_;
}

std::vector<std::string> EnvironmentInside(const Environment& own,
                                           const std::vector<std::string>& job,
                                           const std::string& controller) {
  const bool enclosed = own.Has("MUSTER_JOB_ID");
  std::vector<std::string> inside = {absl::StrCat("MUSTER_CONTROLLER=", controller)};
  std::set<std::string, std::less<>> said = {"MUSTER_CONTROLLER"};
  for (const std::string& entry : job) {
    const std::string_view name = NameOf(entry);
    if (IsOfJob(name) && !IsOfNode(name) && said.emplace(name).second) {
      inside.push_back(entry);
    }
  }
  for (const std::string& entry : own.entries()) {
    const std::string_view name = NameOf(entry);
    if (said.count(name) == 0 && !(enclosed && IsOfEnclosingJob(name))) {
      inside.push_back(entry);
    }
  }
  return inside;
}

}  // namespace muster::cli
