#include "cli/slurm/submit/step_values.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/parse/hostlist.h"
#include "cli/parse/number.h"
#include "cli/request/step_request.h"
#include "scheduler/base/status.h"

namespace muster::cli::slurm {
namespace {

using Values = std::map<std::string, std::string>;

constexpr std::uint64_t kCountMax = 1U << 24;

std::uint64_t CountIn(const std::string& text, std::uint64_t otherwise) {
  const absl::StatusOr<std::uint64_t> count = ParseDigits(text, kCountMax);
  return count.ok() ? *count : otherwise;
}

std::string ValueOf(const Values& values, const char* name) {
  const auto found = values.find(name);
  return found == values.end() ? "" : found->second;
}

// The fewest nodes that the step asks for; 0: it does not say.
std::uint64_t NodesOf(const Values& values) {
  const std::string nodes = ValueOf(values, "nodes");
  return CountIn(nodes.substr(0, nodes.find('-')), 0);
}

// How many tasks, where only the nodes or the tasks on each say so.
void FillTasks(const Environment& environment, Values* values) {
  if (values->count("ntasks") != 0 || values->count("multi-prog") != 0) {
    return;
  }
  const std::uint64_t each = CountIn(ValueOf(*values, "ntasks-per-node"), 0);
  const std::uint64_t nodes = NodesOf(*values);
  if (each > 0) {
    const std::uint64_t all = CountIn(environment.Get("SLURM_NNODES"), 1);
    (*values)["ntasks"] = absl::StrCat(each * (nodes > 0 ? nodes : all));
  } else if (environment.Has("SLURM_NTASKS")) {
    (*values)["ntasks"] = environment.Get("SLURM_NTASKS");
  } else if (nodes > 0) {
    (*values)["ntasks"] = absl::StrCat(nodes);
  }
}

// --relative: of the job's nodes those from that one on, as many as the step says.
absl::Status FillRelative(const Environment& environment, Values* values) {
  const std::uint64_t first = CountIn(ValueOf(*values, "relative"), kCountMax);
  const auto all = ParseHostlist(environment.Get("SLURM_JOB_NODELIST"));
  const std::uint64_t count = NodesOf(*values);
  if (!all.ok() || first >= all->size() || count > all->size() - first) {
    return absl::InvalidArgumentError(
        "error: Unable to create step: Requested node configuration is not available");
  }
  const auto begin = all->begin() + static_cast<std::ptrdiff_t>(first);
  const auto end = count == 0 ? all->end() : begin + static_cast<std::ptrdiff_t>(count);
  (*values)["nodelist"] = absl::StrJoin(begin, end, ",");
  return absl::OkStatus();
}

// --exclude: the job's other nodes.
absl::Status FillNodes(const Environment& environment, Values* values) {
  if (values->count("relative") != 0 && values->count("nodelist") == 0) {
    return FillRelative(environment, values);
  }
  if (values->count("exclude") == 0 || values->count("nodelist") != 0) {
    return absl::OkStatus();
  }
  const auto without = ParseHostlist((*values)["exclude"]);
  const auto all = ParseHostlist(environment.Get("SLURM_JOB_NODELIST"));
  if (!without.ok() || !all.ok()) {
    return absl::InvalidArgumentError("error: Invalid node name specified");
  }
  std::vector<std::string> names = *all;
  std::erase_if(names, [&without](const std::string& name) {
    return std::find(without->begin(), without->end(), name) != without->end();
  });
  if (names.empty()) {
    return absl::InvalidArgumentError(
        "error: Unable to create step: Requested node configuration is not available");
  }
  (*values)["nodelist"] = absl::StrJoin(names, ",");
  return absl::OkStatus();
}

// GPUs of each node, as GPUs of the step. "none" leaves them to other steps.
void FillGpus(const Environment& environment, Values* values) {
  std::string each = ValueOf(*values, "gpus-per-node");
  const std::string gres = ValueOf(*values, "gres");
  if (each.empty() && absl::StartsWith(gres, "gpu")) {
    each = gres.size() > 4 ? gres.substr(4) : "1";
  }
  if (each.empty() || values->count("gpus") != 0) {
    return;
  }
  const std::size_t colon = each.rfind(':');
  const std::string type = colon == std::string::npos ? "" : each.substr(0, colon + 1);
  const std::uint64_t count =
      CountIn(colon == std::string::npos ? each : each.substr(colon + 1), 1);
  const std::uint64_t nodes = std::max<std::uint64_t>(NodesOf(*values), 1);
  const std::uint64_t tasks = CountIn(ValueOf(*values, "ntasks"), 1);
  const std::uint64_t all = CountIn(environment.Get("SLURM_NNODES"), 1);
  (*values)["gpus"] = absl::StrCat(type, count * std::max(nodes, std::min(all, tasks)));
}

}  // namespace

Environment InJob(const Environment& environment, const std::string& job) {
  const std::string own = environment.Get("SLURM_JOB_ID");
  const std::string id = !job.empty() ? job : own.empty() ? environment.Get("SLURM_JOBID") : own;
  std::vector<std::string> entries;
  for (const std::string& entry : environment.entries()) {
    if (!absl::StartsWith(entry, "MUSTER_JOB_ID=")) {
      entries.push_back(entry);
    }
  }
  if (!id.empty()) {
    entries.push_back("MUSTER_JOB_ID=" + id);
  }
  return Environment(std::move(entries));
}

bool IsLauncher(const std::string& program) {
  const std::string_view name = std::string_view(program).substr(program.rfind('/') + 1);
  return name == "orted" || name == "prted" || name == "hydra_pmi_proxy";
}

absl::StatusOr<Values> StepValues(Values values, const Environment& environment, bool launcher) {
  FillTasks(environment, &values);
  RETURN_IF_ERROR(FillNodes(environment, &values));
  FillGpus(environment, &values);
  const std::string bind = environment.Get("SLURM_CPU_BIND");
  if (values.count("cpu-bind") == 0 && (bind == "none" || bind == "no")) {
    values["cpu-bind"] = "none";
  }
  if (launcher) {
    values.erase("exclusive");
    values.erase("exact");
    values.erase("mem");
    values.erase("cpus-per-task");
    values["overlap"] = "";
    values["cpu-bind"] = "none";
    values["mpi"] = "none";
  }
  std::erase_if(values, [](const auto& value) { return !IsStepOption(value.first); });
  return values;
}

void AddRunVariables(const Environment& environment, Values* values) {
  const auto add = [&](const char* option, const std::string& value) {
    if (!value.empty()) {
      values->insert({option, value});
    }
  };
  const std::string mode = environment.Get("SLURM_OPEN_MODE");
  add("open-mode", mode.empty() ? "" : mode[0] == 'a' ? "append" : "truncate");
  const std::string exports = environment.Get("SLURM_EXPORT_ENV");
  add("export", exports);
  if (environment.Get("SLURM_KILL_BAD_EXIT") == "1") {
    values->insert({"kill-on-bad-exit", ""});
  }
  add("wait", environment.Get("SLURM_WAIT"));
  const std::string label = environment.Get("SLURM_LABELIO");
  if (!label.empty() && label != "0") {
    values->insert({"label", ""});
  }
}

}  // namespace muster::cli::slurm
