#include "cli/slurm/submit/step_values.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/parse/number.h"
#include "cli/request/slurm_option_table.h"
#include "cli/request/step_request.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/host_list.h"
#include "scheduler/base/text/words.h"

namespace muster::cli::slurm {
namespace {

using Values = std::map<std::string, std::string>;

constexpr std::uint64_t kCountMax = 1U << 24;

constexpr SrunVariable kVariables[] = {
    {"SLURM_ACCOUNT", "account", false},
    {"SLURM_ACCTG_FREQ", "acctg-freq", true},
    {"SLURM_BCAST", "bcast", true},
    {"SLURM_BCAST_EXCLUDE", "bcast-exclude", true},
    {"SLURM_BURST_BUFFER", "bb", false},
    {"SLURM_CLUSTERS", "clusters", false},
    {"SLURM_COMPRESS", "compress", true},
    {"SLURM_CONSTRAINT", "constraint", false},
    {"SLURM_CONTAINER", "container", true},
    {"SLURM_CONTAINER_ID", "container-id", true},
    {"SLURM_CORE_SPEC", "core-spec", false},
    {"SLURM_CPUS_PER_GPU", "cpus-per-gpu", false},
    {"SLURM_CPU_BIND", "cpu-bind", true},
    {"SLURM_CPU_FREQ_REQ", "cpu-freq", true},
    {"SLURM_DELAY_BOOT", "delay-boot", false},
    {"SLURM_DEPENDENCY", "dependency", false},
    {"SLURM_DISABLE_STATUS", "disable-status", true},
    {"SLURM_DISTRIBUTION", "distribution", true},
    {"SLURM_EPILOG", "epilog", true},
    {"SLURM_EXACT", "exact", true},
    {"SLURM_EXCLUSIVE", "exclusive", true},
    {"SLURM_EXPORT_ENV", "export", true},
    {"SLURM_GPUS", "gpus", false},
    {"SLURM_GPUS_PER_NODE", "gpus-per-node", false},
    {"SLURM_GPUS_PER_TASK", "gpus-per-task", true},
    {"SLURM_GPU_BIND", "gpu-bind", true},
    {"SLURM_GPU_FREQ", "gpu-freq", true},
    {"SLURM_GRES", "gres", false},
    {"SLURM_GRES_FLAGS", "gres-flags", true},
    {"SLURM_HINT", "hint", true},
    {"SLURM_IMMEDIATE", "immediate", true},
    {"SLURM_JOB_NAME", "job-name", false},
    {"SLURM_JOB_NUM_NODES", "nodes", false},
    {"SLURM_KILL_BAD_EXIT", "kill-on-bad-exit", true},
    {"SLURM_LABELIO", "label", true},
    {"SLURM_MEM_BIND", "mem-bind", true},
    {"SLURM_MEM_PER_CPU", "mem-per-cpu", false},
    {"SLURM_MEM_PER_GPU", "mem-per-gpu", false},
    {"SLURM_MEM_PER_NODE", "mem", false},
    {"SLURM_MPI_TYPE", "mpi", true},
    {"SLURM_NETWORK", "network", true},
    {"SLURM_NNODES", "nodes", false},
    {"SLURM_NO_KILL", "no-kill", true},
    {"SLURM_NPROCS", "ntasks", false},
    {"SLURM_NTASKS", "ntasks", false},
    {"SLURM_NTASKS_PER_CORE", "ntasks-per-core", true},
    {"SLURM_NTASKS_PER_GPU", "ntasks-per-gpu", false},
    {"SLURM_NTASKS_PER_NODE", "ntasks-per-node", false},
    {"SLURM_NTASKS_PER_SOCKET", "ntasks-per-socket", true},
    {"SLURM_OOMKILLSTEP", "oom-kill-step", true},
    {"SLURM_OPEN_MODE", "open-mode", true},
    {"SLURM_OVERCOMMIT", "overcommit", true},
    {"SLURM_OVERLAP", "overlap", true},
    {"SLURM_PARTITION", "partition", false},
    {"SLURM_POWER", "power", false},
    {"SLURM_PROFILE", "profile", true},
    {"SLURM_PROLOG", "prolog", true},
    {"SLURM_QOS", "qos", false},
    {"SLURM_REMOTE_CWD", "chdir", true},
    {"SLURM_REQ_SWITCH", "switches", false},
    {"SLURM_RESERVATION", "reservation", false},
    {"SLURM_RESV_PORTS", "resv-ports", true},
    {"SLURM_SEND_LIBS", "send-libs", true},
    {"SLURM_SIGNAL", "signal", false},
    {"SLURM_SPREAD_JOB", "spread-job", false},
    {"SLURM_STDERRMODE", "error", true},
    {"SLURM_STDINMODE", "input", true},
    {"SLURM_STDOUTMODE", "output", true},
    {"SLURM_STEP_GRES", "gres", true},
    {"SLURM_TASK_EPILOG", "task-epilog", true},
    {"SLURM_TASK_PROLOG", "task-prolog", true},
    {"SLURM_THREADS", "threads", true},
    {"SLURM_THREADS_PER_CORE", "threads-per-core", true},
    {"SLURM_THREAD_SPEC", "thread-spec", false},
    {"SLURM_TIMELIMIT", "time", true},
    {"SLURM_TRES_BIND", "tres-bind", true},
    {"SLURM_TRES_PER_TASK", "tres-per-task", true},
    {"SLURM_UNBUFFEREDIO", "unbuffered", true},
    {"SLURM_USE_MIN_NODES", "use-min-nodes", false},
    {"SLURM_WAIT", "wait", true},
    {"SLURM_WCKEY", "wckey", false},
    {"SLURM_WORKING_DIR", "chdir", true},
    {"SRUN_CONTAINER", "container", true},
    {"SRUN_CONTAINER_ID", "container-id", true},
    {"SRUN_CPUS_PER_TASK", "cpus-per-task", true},
    {"SRUN_ERROR", "error", true},
    {"SRUN_EXPORT_ENV", "export", true},
    {"SRUN_INPUT", "input", true},
    {"SRUN_JOB_NAME", "job-name", true},
    {"SRUN_OUTPUT", "output", true},
    {"SRUN_SEGMENT_SIZE", "segment", false},
};

// In a task SLURM_CPU_BIND and its like say how that task is bound, not how those of its steps are
// to be.
bool IsOfTask(const Environment& environment, std::string_view option) {
  return environment.Has("SLURM_STEP_ID") &&
         (option == "cpu-bind" || option == "mem-bind" || option == "distribution") &&
         environment.Get("SLURM_CPU_BIND") != "none";
}

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
  const auto all = NodeNames(environment.Get("SLURM_JOB_NODELIST"));
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
  const auto without = NodeNames((*values)["exclude"]);
  const auto all = NodeNames(environment.Get("SLURM_JOB_NODELIST"));
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

std::span<const SrunVariable> SrunVariables() {
  return kVariables;
}

std::vector<GivenWord> WordsOfVariables(const Environment& environment, bool in_job) {
  std::vector<GivenWord> words;
  for (const SrunVariable& variable : kVariables) {
    const std::string value = environment.Get(variable.name);
    const SlurmOption* option = FindSlurmOption(variable.option, kSrun);
    if (value.empty() || option == nullptr || (in_job && !variable.in_job) ||
        IsOfTask(environment, variable.option)) {
      continue;
    }
    const bool off = value == "0" || value == "no";
    const bool on = value == "1" || value == "yes";
    if (option->takes == SlurmValue::kRequired || (!off && !on)) {
      const bool takes = option->takes != SlurmValue::kNone;
      words.push_back({option->name, takes ? value : "", takes});
    } else if (on) {
      words.push_back({option->name, "", false});
    }
  }
  return words;
}

}  // namespace muster::cli::slurm
