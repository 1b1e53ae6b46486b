#include "agent/supervisor/container/container_environment.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "agent/supervisor/attempt/container_order.h"

namespace muster::agent {
namespace {

std::string NameIn(const std::string& assignment) {
  return assignment.substr(0, assignment.find('='));
}

// With which launchers in a job start programs of the node, where the container has none of them.
constexpr std::array<std::string_view, 14> kLaunchers = {"OMPI_MCA_orte_fork_agent",
                                                         "OMPI_MCA_plm_rsh_agent",
                                                         "OMPI_MCA_plm_rsh_no_tree_spawn",
                                                         "OMPI_MCA_orte_default_hostfile",
                                                         "OMPI_MCA_hwloc_base_binding_policy",
                                                         "HYDRA_BINDING",
                                                         "HYDRA_HOST_FILE",
                                                         "HYDRA_LAUNCHER",
                                                         "HYDRA_LAUNCHER_AUTOFORK",
                                                         "HYDRA_LAUNCHER_EXEC",
                                                         "I_MPI_HYDRA_BOOTSTRAP",
                                                         "I_MPI_HYDRA_BOOTSTRAP_EXEC",
                                                         "I_MPI_HYDRA_HOST_FILE",
                                                         "MUSTER_RANK_SOCKET"};

constexpr const char* kDriverPath = "/usr/local/nvidia";

// Where the driver's programs and libraries are, for an image that does not say so.
void AddDriver(const char* name, const char* part, std::map<std::string, std::string>* variables) {
  const std::string place = absl::StrCat(kDriverPath, "/", part);
  std::string& value = (*variables)[name];
  if (value.find(place) == std::string::npos) {
    absl::StrAppend(&value, value.empty() ? "" : ":", place);
  }
}

// The same program as it is seen inside; others stay.
std::string SeenInside(const std::string& value, const ContainerVariables& variables) {
  if (!variables.rank_program.empty() && value == variables.rank_program) {
    return kRankInside;
  }
  return !variables.remote_shell.empty() && value == variables.remote_shell ? kShellInside : value;
}

// Of a variable of ours: whether it names what the container does not have.
bool IsNodesOwn(const std::string& name, const ContainerVariables& variables) {
  return name == "MUSTER_CHECKPOINT_FLUSH" || name == "MUSTER_CHECKPOINT_ADMIT" ||
         (variables.rank_program.empty() &&
          std::find(kLaunchers.begin(), kLaunchers.end(), name) != kLaunchers.end());
}

}  // namespace

std::vector<std::string> InContainer(const std::vector<std::string>& own,
                                     const ContainerVariables& variables) {
  const std::set<std::string> submitter(variables.submitter.begin(), variables.submitter.end());
  const std::set<std::string> kept(variables.kept.begin(), variables.kept.end());
  std::map<std::string, std::string> all;
  std::set<std::string> ours;
  for (const std::string& assignment : own) {
    const std::string name = NameIn(assignment);
    const bool by_submitter = submitter.count(assignment) != 0;
    if (!by_submitter && IsNodesOwn(name, variables)) {
      continue;
    }
    all[name] =
        SeenInside(assignment.substr(std::min(assignment.size(), name.size() + 1)), variables);
    if (!by_submitter || kept.count(name) != 0) {
      ours.insert(name);
    }
  }
  for (const std::string& assignment : variables.image) {
    const std::string name = NameIn(assignment);
    if (!name.empty() && name.size() < assignment.size() && ours.count(name) == 0) {
      all[name] = assignment.substr(name.size() + 1);
    }
  }
  if (all.count("CUDA_VISIBLE_DEVICES") != 0) {
    AddDriver("LD_LIBRARY_PATH", "lib64", &all);
    AddDriver("PATH", "bin", &all);
  }
  all.emplace("HYDRA_LAUNCHER", "fork");
  all["PWD"] = variables.work_dir;
  std::vector<std::string> environment;
  environment.reserve(all.size());
  for (const auto& [name, value] : all) {
    environment.push_back(absl::StrCat(name, "=", value));
  }
  return environment;
}

}  // namespace muster::agent
