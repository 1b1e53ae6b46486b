#include "agent/supervisor/scripts/site_request.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "scheduler/base/utf8.h"

namespace muster::agent {
namespace {

// Nothing that a user wrote is in it: numbers, and names that the site gave.
std::vector<std::string> SiteEnvironment(const SupervisorOrder& order, std::uint32_t node_index,
                                         const char* what, StepId step) {
  std::vector<std::string> environment = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/", "LANG=C"};
  const auto both = [&](const char* name, const std::string& value) {
    environment.push_back(absl::StrCat("MUSTER_", name, "=", value));
    environment.push_back(absl::StrCat("SLURM_", name, "=", value));
  };
  const JobSpec& spec = order.launch.spec;
  const NodeAllocation& node = order.launch.allocation.nodes[node_index];
  std::vector<std::string> names;
  for (const NodeAllocation& each : order.launch.allocation.nodes) {
    names.push_back(each.name);
  }
  environment.push_back(absl::StrCat("MUSTER_SCRIPT=", what));
  environment.push_back(absl::StrCat("MUSTER_NODE_NAME=", order.node_name));
  environment.push_back(absl::StrCat("SLURMD_NODENAME=", order.node_name));
  both("JOB_ID", ToString(order.launch.job));
  both("JOB_UID", absl::StrCat(spec.user.uid));
  both("JOB_GID", absl::StrCat(spec.user.gid));
  both("JOB_USER", spec.user.name);
  both("JOB_NODELIST", absl::StrJoin(names, ","));
  both("JOB_NUM_NODES", absl::StrCat(names.size()));
  both("JOB_GPUS", absl::StrJoin(node.gpus, ",", [](std::string* out, const GpuGrant& gpu) {
         absl::StrAppend(out, gpu.gpu);
       }));
  if (step.valid()) {
    both("STEP_ID", absl::StrCat(step.value()));
  }
  return environment;
}

// What the user wrote, for those who want it, a line each: nothing of it is ever a variable or an
// argument.
std::string SiteInput(const SupervisorOrder& order) {
  const JobSpec& spec = order.launch.spec;
  return absl::StrCat("job=", ToString(order.launch.job), "\nname=", EscapeControl(spec.name),
                      "\naccount=", EscapeControl(spec.account),
                      "\nwork_dir=", EscapeControl(order.launch.program.work_dir), "\n");
}

}  // namespace

ScriptRun::Request SiteRequest(const SupervisorOrder& order, std::uint32_t node_index,
                               const char* what, const SiteScript& script, StepId step,
                               const JobUser* user) {
  return {.what = what,
          .script = script,
          .environment = SiteEnvironment(order, node_index, what, step),
          .input = SiteInput(order),
          .user = user};
}

}  // namespace muster::agent
