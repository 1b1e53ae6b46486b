#include "agent/supervisor/mpirun/launcher_environment.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "agent/supervisor/mpirun/host_file.h"
#include "agent/supervisor/mpirun/inner_rank_wire.h"
#include "agent/supervisor/user_space/peer_address.h"

namespace muster::agent {
namespace {

void SetDefault(const char* name, const std::string& value, Variables* variables) {
  if (!variables->Has(name)) {
    variables->Set(name, value);
  }
}

// MPICH's Hydra and the one of Intel MPI. MPICH binds nothing unless it is told to, and its proxies
// hand on what they have themselves. Intel's pins ranks within what its proxy may run on; `compact`
// as we place them.
void SetHydra(const SupervisorOrder& order, Variables* variables) {
  const std::string hosts = HydraHostfile(order.hostfile);
  SetDefault("HYDRA_LAUNCHER", "ssh", variables);
  SetDefault("HYDRA_LAUNCHER_EXEC", order.remote_shell, variables);
  SetDefault("HYDRA_LAUNCHER_AUTOFORK", "0", variables);
  SetDefault("HYDRA_HOST_FILE", hosts, variables);
  SetDefault("HYDRA_ENV", "none", variables);
  SetDefault("I_MPI_HYDRA_BOOTSTRAP", "ssh", variables);
  SetDefault("I_MPI_HYDRA_BOOTSTRAP_EXEC", order.remote_shell, variables);
  SetDefault("I_MPI_HYDRA_HOST_FILE", hosts, variables);
  SetDefault("I_MPI_PIN_RESPECT_CPUSET", "on", variables);
  SetDefault("I_MPI_PIN_DOMAIN", "auto:compact", variables);
}

// Takes away what we gave the step that the launcher is: it is true of all its ranks together.
// What is a user's own stays.
void DropLaunchersOpenMp(const Machine& machine, Variables* variables,
                         std::vector<std::string>* dropped) {
  const absl::StatusOr<CpuSet> cpus = CpuSet::Parse(variables->Get("MUSTER_CPUS", ""));
  const std::string places = variables->Get("OMP_PLACES", "");
  if (!cpus.ok() || places.empty() || places != PlacesOf(machine, *cpus)) {
    return;
  }
  const std::string threads = variables->Get("OMP_NUM_THREADS", "");
  for (const char* name : kBlasThreads) {
    if (variables->Has(name) && variables->Get(name, "") == threads) {
      variables->Erase(name);
      dropped->emplace_back(name);
    }
  }
  for (const char* name : {"OMP_PLACES", "OMP_PROC_BIND", "OMP_NUM_THREADS"}) {
    variables->Erase(name);
    dropped->emplace_back(name);
  }
}

}  // namespace

LauncherKind LauncherOf(const std::vector<std::string>& environment) {
  const std::string word = ValueIn(environment, "MUSTER_LAUNCHER").value_or("");
  return word == "orted"              ? LauncherKind::kOpenMpi
         : word == "hydra"            ? LauncherKind::kHydra
         : word == "hydra-as-planned" ? LauncherKind::kHydraAsPlanned
                                      : LauncherKind::kNone;
}

void SetLaunchers(const SupervisorOrder& order, const NodeAllocation& node, Variables* variables) {
  const auto set = [variables](const char* name, const std::string& value) {
    SetDefault(name, value, variables);
  };
  // One that finds itself in a Slurm job looks for srun, which is not there: it shall start its
  // ranks by itself, on other nodes through a step of ours.
  set("OMPI_MCA_plm", "^slurm");
  set("OMPI_MCA_ras", "^slurm");
  set("HYDRA_RMK", "user");
  // Open MPI knows this machine's cores and not the job's: muster-rank binds each rank.
  const std::string program = RankProgram(order.remote_shell);
  if (!order.hostfile.empty() && !program.empty() && program.find(' ') == std::string::npos) {
    variables->Set("MUSTER_RANK_SOCKET", RankSocket(order.hostfile));
    set("OMPI_MCA_orte_fork_agent", program);
    set("OMPI_MCA_hwloc_base_binding_policy", std::string(kNoBindingOfItsOwn));
  }
  const LaunchOrder& launch = order.launch;
  const std::vector<NodeAllocation>& nodes = launch.allocation.nodes;
  if (launch.spec.kind != JobKind::kBatch || node.name != nodes.front().name || !IsLeader(launch) ||
      order.hostfile.empty()) {
    set("HYDRA_LAUNCHER", "fork");
    return;
  }
  variables->Set("MUSTER_HOSTFILE", order.hostfile);
  // Without a host file: as many ranks as tasks, not as the machine has cores.
  set("OMPI_MCA_orte_set_default_slots", absl::StrCat(std::max<std::size_t>(node.ranks.size(), 1)));
  if (order.remote_shell.empty()) {
    set("HYDRA_LAUNCHER", "fork");
    return;
  }
  SetHydra(order, variables);
  if (nodes.size() > 1) {
    set("OMPI_MCA_plm_rsh_agent", order.remote_shell);
    set("OMPI_MCA_plm_rsh_no_tree_spawn", "1");
    variables->Set("OMPI_MCA_orte_leave_session_attached", std::string("1"));
    variables->Set("OMPI_MCA_orte_default_hostfile", order.hostfile);
    if (IsOneMachine(order.controller)) {
      // All its daemons on one machine write their topology to one file, at once.
      set("OMPI_MCA_rtc_hwloc_vmhole", "none");
    }
  }
}

// Hydra's reader writes a zero behind the room that it took for each rank's list: one of 24, 40, 56
// characters would hit what lies behind it, so that a leading 0 makes it longer.
std::string HydraBinding(const NodeAllocation& node) {
  std::vector<std::string> ranks;
  for (const RankPlacement& rank : node.ranks) {
    std::string list = absl::StrJoin(rank.cpus.Members(), "+");
    ranks.push_back(list.size() % 16 == 8 ? "0" + list : list);
  }
  return "user:" + absl::StrJoin(ranks, ",");
}

void SetDaemon(const SupervisorOrder& order, const NodeAllocation& whole, LauncherKind kind,
               Variables* variables) {
  for (const char* name : {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "NODE_RANK",
                           "GROUP_RANK", "MASTER_ADDR", "MASTER_PORT"}) {
    variables->Erase(name);
  }
  if (kind != LauncherKind::kHydraAsPlanned || whole.ranks.empty() || !order.machine.enforced) {
    return;
  }
  SetDefault("HYDRA_BINDING", HydraBinding(whole), variables);
  const RankPlacement& first = whole.ranks.front();
  const bool alike = std::all_of(
      whole.ranks.begin(), whole.ranks.end(),
      [&](const RankPlacement& rank) { return rank.cpus.Count() == first.cpus.Count(); });
  if (alike) {
    SetThreads(std::max(first.cpus.Count(), 1U), variables);
  }
  if (first.gpus.empty() && !variables->Has("OMP_PLACES") && !variables->Has("OMP_PROC_BIND")) {
    variables->Set("OMP_PLACES", std::string("cores"));  // of what the rank is bound to
    variables->Set("OMP_PROC_BIND", std::string("close"));
  }
}

std::vector<std::string> InnerRankEnvironment(const SupervisorOrder& order,
                                              std::uint32_t node_index, const InnerRank& inner) {
  const NodeAllocation& node = order.launch.allocation.nodes[node_index];
  Variables variables(inner.own);
  std::vector<std::string> dropped;
  DropLaunchersOpenMp(order.machine, &variables, &dropped);
  variables.SetTwins("PROCID", inner.rank);
  variables.SetTwins("LOCALID", inner.local_rank);
  variables.Set("RANK", inner.rank);
  variables.Set("WORLD_SIZE", inner.size);
  variables.Set("LOCAL_RANK", inner.local_rank);
  variables.Set("LOCAL_WORLD_SIZE", inner.local_size);
  SetDevices(order, node, inner.place, &variables);
  SetGridPlace(order.launch.allocation.grid, inner.rank, inner.size, &variables);
  if (inner.place != nullptr && !inner.bound) {
    SetCpuBindings(node, &variables);
    SetPlace(*inner.place, &variables);
    SetOpenMp(order, *inner.place, &variables);
  } else if (!inner.bound) {
    // They share what there is.
    SetThreads(std::max(inner.cpus.Count() / std::max(inner.local_size, 1U), 1U), &variables);
  }
  // Those that are taken away come first: one may have got another value.
  const std::vector<std::string> set = variables.List();
  dropped.insert(dropped.end(), set.begin(), set.end());
  return dropped;
}

}  // namespace muster::agent
