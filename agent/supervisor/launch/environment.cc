#include "agent/supervisor/launch/environment.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "agent/supervisor/attempt/rendezvous.h"
#include "agent/supervisor/mpirun/launcher_environment.h"
#include "agent/supervisor/user_space/peer_address.h"
#include "agent/supervisor/variables/rank_variables.h"
#include "agent/supervisor/variables/tracking_variables.h"
#include "scheduler/base/text/host_list.h"
#include "topology/gpu/libraries.h"

namespace muster::agent {
namespace {

constexpr std::uint16_t kPortFirst = 20000;
constexpr std::uint64_t kPortCount = 10000;

// Whole families of names that a launcher owns. What else begins with OMPI_ is the user's settings.
constexpr std::array<std::string_view, 15> kStalePrefixes = {
    "MUSTER_",   "SLURM_",       "PMI_",           "PMIX_",         "OMPI_COMM_",
    "OMPI_APP_", "OMPI_MCA_ess", "OMPI_MCA_orte_", "ORTE_",         "FLUX_",
    "PBS_",      "LSB_",         "PET_",           "TORCHELASTIC_", "SCHED_ELASTIC_"};
constexpr std::array<std::string_view, 24> kStaleNames = {"RANK",
                                                          "OMPI_UNIVERSE_SIZE",
                                                          "OMPI_NUM_APP_CTX",
                                                          "OMPI_FIRST_RANKS",
                                                          "OMPI_ARGV",
                                                          "OMPI_COMMAND",
                                                          "OMPI_FILE_LOCATION",
                                                          "WORLD_SIZE",
                                                          "LOCAL_RANK",
                                                          "LOCAL_WORLD_SIZE",
                                                          "NODE_RANK",
                                                          "GROUP_RANK",
                                                          "GROUP_WORLD_SIZE",
                                                          "ROLE_RANK",
                                                          "ROLE_WORLD_SIZE",
                                                          "MASTER_ADDR",
                                                          "MASTER_PORT",
                                                          "ROLE_NAME",
                                                          "ZE_AFFINITY_MASK",
                                                          "ASCEND_RT_VISIBLE_DEVICES",
                                                          "JSM_JSRUN_PORT",
                                                          "HYDI_CONTROL_FD",
                                                          "MPI_LOCALNRANKS",
                                                          "MPI_LOCALRANKID"};

// Settings of our own commands and of Slurm's, which no job sets. By the first ones a job's
// commands know the controller.
constexpr std::array<std::string_view, 6> kSettings = {"MUSTER_KEYS",       "MUSTER_MUNGE_SOCKET",
                                                       "SLURM_TIME_FORMAT", "SLURM_CONF",
                                                       "SLURM_CLUSTERS",    "SLURM_BITSTR_LEN"};

bool IsStale(std::string_view name) {
  if (name.empty() || std::find(kSettings.begin(), kSettings.end(), name) != kSettings.end()) {
    return false;
  }
  return std::any_of(kStalePrefixes.begin(), kStalePrefixes.end(),
                     [&](std::string_view prefix) {
                       return name.front() == prefix.front() && name.starts_with(prefix);
                     }) ||
         std::find(kStaleNames.begin(), kStaleNames.end(), name) != kStaleNames.end() ||
         std::any_of(topology::GpuLibraries().begin(), topology::GpuLibraries().end(),
                     [&](const topology::GpuLibrary* library) {
                       const std::span<const std::string_view> stale = library->facts().stale;
                       return std::find(stale.begin(), stale.end(), name) != stale.end();
                     });
}

std::vector<std::string> NodeNames(const Allocation& allocation) {
  std::vector<std::string> names;
  for (const NodeAllocation& node : allocation.nodes) {
    names.push_back(node.name);
  }
  return names;
}

std::vector<std::uint32_t> RanksPerNode(const Allocation& allocation) {
  std::vector<std::uint32_t> counts;
  for (const NodeAllocation& node : allocation.nodes) {
    counts.push_back(static_cast<std::uint32_t>(node.ranks.size()));
  }
  return counts;
}

std::uint32_t RankCount(const Allocation& allocation) {
  std::uint32_t count = 0;
  for (const std::uint32_t ranks : RanksPerNode(allocation)) {
    count += ranks;
  }
  return count;
}

std::int64_t Seconds(Time time) {
  return std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count();
}

void SetArray(const LaunchOrder& launch, Variables* variables) {
  if (!launch.array_index.has_value()) {
    return;
  }
  variables->SetTwins("ARRAY_JOB_ID", launch.submission.value());
  variables->SetTwins("ARRAY_TASK_ID", *launch.array_index);
  if (!launch.spec.array.has_value() || launch.spec.array->ranges.empty()) {
    return;
  }
  const std::vector<ArrayRange>& ranges = launch.spec.array->ranges;
  std::uint32_t count = 0;
  std::uint32_t lowest = ranges.front().first;
  std::uint32_t highest = ranges.front().first;
  for (const ArrayRange& range : ranges) {
    const std::uint32_t step = std::max(range.step, 1U);
    const std::uint32_t more = range.last < range.first ? 0 : (range.last - range.first) / step;
    count += more + 1;
    lowest = std::min(lowest, range.first);
    highest = std::max(highest, range.first + more * step);
  }
  variables->SetTwins("ARRAY_TASK_COUNT", count);
  variables->SetTwins("ARRAY_TASK_MIN", lowest);
  variables->SetTwins("ARRAY_TASK_MAX", highest);
  variables->SetTwins("ARRAY_TASK_STEP", std::max(ranges.front().step, 1U));
}

const NodeAllocation* FindNode(const Allocation& allocation, const std::string& name) {
  for (const NodeAllocation& node : allocation.nodes) {
    if (node.name == name) {
      return &node;
    }
  }
  return nullptr;
}

std::uint32_t GpuCount(const Allocation& allocation) {
  std::size_t total = 0;
  for (const NodeAllocation& node : allocation.nodes) {
    total += node.gpus.size();
  }
  return static_cast<std::uint32_t>(total);
}

std::vector<std::uint32_t> CpusPerNode(const Allocation& allocation) {
  std::vector<std::uint32_t> cpus;
  for (const NodeAllocation& node : allocation.nodes) {
    cpus.push_back(node.cpus.Count());
  }
  return cpus;
}

// Of a heterogeneous job: what each component has, as NAME_HET_GROUP_i.
void SetComponents(const LaunchOrder& launch, Variables* variables) {
  if (launch.components.empty()) {
    return;
  }
  variables->SetTwins("HET_SIZE", launch.components.size());
  for (std::size_t i = 0; i < launch.components.size(); ++i) {
    const ComponentExtent& component = launch.components[i];
    const auto set = [&](const char* name, const auto& value) {
      variables->SetTwins(absl::StrCat(name, "_HET_GROUP_", i), value);
    };
    const std::string nodes =
        CompressHostlist(NodeNames(component.allocation), HostOrder::kAsGiven);
    set("JOB_ID", component.job.value());
    set("JOB_NODELIST", nodes);
    set("NODELIST", nodes);
    set("JOB_NUM_NODES", component.allocation.nodes.size());
    set("NNODES", component.allocation.nodes.size());
    set("NTASKS", RankCount(component.allocation));
    set("TASKS_PER_NODE", CompressCounts(RanksPerNode(component.allocation)));
    set("CPUS_PER_TASK", component.request.cpus_per_task);
    set("JOB_CPUS_PER_NODE", CompressCounts(CpusPerNode(component.allocation)));
    if (const std::uint32_t gpus = GpuCount(component.allocation); gpus > 0) {
      set("GPUS", gpus);
    }
  }
}

// What the submitter has given; an empty value is none.
std::string Given(const std::vector<std::string>& submitter, std::string_view name,
                  const std::string& otherwise) {
  std::string value = ValueIn(submitter, name).value_or("");
  return value.empty() ? otherwise : value;
}

void SetCheckpoint(const SupervisorOrder& order, Variables* variables) {
  const LaunchOrder& launch = order.launch;
  variables->Set("MUSTER_CHECKPOINT_DIR", CheckpointDirectoryOf(launch));
  // The submitter's own: nobody else sets them, so that they belong to no other job.
  for (const char* name : {"MUSTER_CHECKPOINT_LOCAL_DIR", "MUSTER_CHECKPOINT_INTERVAL",
                           "MUSTER_CHECKPOINT_LEDGER", "MUSTER_CHECKPOINT_OBJECT"}) {
    if (std::optional<std::string> value = ValueIn(launch.program.environment, name)) {
      variables->Set(name, *std::move(value));
    }
  }
  if (!order.checkpoint_hints.empty()) {
    variables->Set("MUSTER_CHECKPOINT_HINTS", order.checkpoint_hints);
  }
  if (!order.checkpoint_progress.empty()) {
    variables->Set("MUSTER_CHECKPOINT_PROGRESS", order.checkpoint_progress);
  }
  if (!order.flush_program.empty()) {
    variables->Set("MUSTER_CHECKPOINT_FLUSH", order.flush_program);
  }
  if (const CheckpointQuota& quota = launch.checkpoint_quota;
      quota.given() && !order.command.empty()) {
    variables->Set("MUSTER_CHECKPOINT_ADMIT", order.command);
    variables->Set("MUSTER_CHECKPOINT_QUOTA", quota.bytes.value());
    variables->Set("MUSTER_CHECKPOINT_QUOTA_COUNT", quota.count);
  }
}

// Whether one of these options was given. Where the command line did not tell, all were.
bool IsSaid(const Program& program, std::initializer_list<std::string_view> options) {
  const std::optional<std::string> words = ValueIn(program.environment, "MUSTER_SUBMIT_SAID");
  const std::vector<std::string> said = absl::StrSplit(words.value_or(""), ',');
  return !words.has_value() ||
         std::any_of(options.begin(), options.end(), [&said](std::string_view option) {
           return std::find(said.begin(), said.end(), option) != said.end();
         });
}

// Where it was submitted, as the command line tells it; else as the submitter's shell does.
void SetSubmission(const Program& program, Variables* variables) {
  const std::vector<std::string>& submitter = program.environment;
  const std::string shell = Given(submitter, "PWD", program.work_dir);
  variables->SetTwins("SUBMIT_DIR", Given(submitter, "MUSTER_SUBMIT_DIR", shell));
  const std::string host = Given(submitter, "MUSTER_SUBMIT_HOST", Given(submitter, "HOSTNAME", ""));
  if (!host.empty()) {
    variables->SetTwins("SUBMIT_HOST", host);
  }
  if (IsSaid(program, {"open-mode"})) {
    variables->SetTwins("OPEN_MODE", std::string(program.append_output ? "a" : "t"));
  }
}

void SetIdentity(const SupervisorOrder& order, Variables* variables) {
  const LaunchOrder& launch = order.launch;
  variables->SetTwins("JOB_ID", launch.job.value());
  variables->SetTwins("JOBID", launch.job.value());
  variables->SetTwins("JOB_NAME", launch.spec.name);
  variables->SetTwins("JOB_USER", launch.spec.user.name);
  variables->SetTwins("JOB_UID", launch.spec.user.uid);
  variables->SetTwins("JOB_GID", launch.spec.user.gid);
  const std::string& partition = launch.spec.partition;
  variables->SetTwins("JOB_PARTITION", partition.empty() ? std::string("main") : partition);
  const std::string& qos = launch.spec.qos;
  variables->SetTwins("JOB_QOS", qos.empty() ? std::string("normal") : qos);
  if (!launch.spec.reservation.empty()) {
    variables->SetTwins("JOB_RESERVATION", launch.spec.reservation);
  }
  variables->SetTwins("CLUSTER_NAME", launch.cluster);
  variables->SetTwins("RESTART_COUNT", launch.attempt.value() - 1);
  SetCheckpoint(order, variables);
  SetTrackingVariables(order, variables);
  variables->SetTwins("JOB_START_TIME", Seconds(launch.started));
  if (!launch.spec.account.empty()) {
    variables->SetTwins("JOB_ACCOUNT", launch.spec.account);
  }
  if (launch.spec.time_limit > Duration(0)) {
    variables->SetTwins("JOB_END_TIME", Seconds(launch.started + launch.spec.time_limit));
  }
  if (launch.spec.container.given()) {
    variables->Set("MUSTER_JOB_CONTAINER", launch.spec.container.image);
  }
  if (!order.staged.empty()) {
    variables->Set("MUSTER_STAGED", order.staged);
  }
  SetSubmission(launch.program, variables);
  variables->Set("MUSTER_CONTROLLER", order.controller);
  variables->Set("MUSTER_NODE_NAME", order.node_name);
  variables->Set("SLURMD_NODENAME", order.node_name);
  SetArray(launch, variables);
  SetComponents(launch, variables);
}

void SetGpus(const SupervisorOrder& order, const NodeAllocation& node, Variables* variables) {
  const Allocation& allocation = order.launch.allocation;
  const std::uint32_t total = GpuCount(allocation);
  std::vector<std::uint32_t> indices;
  for (const GpuGrant& grant : node.gpus) {
    indices.push_back(grant.gpu < order.machine.gpus.size() ? order.machine.gpus[grant.gpu].os_index
                                                            : grant.gpu);
  }
  if (total > 0) {
    variables->SetTwins("GPUS", total);
    variables->SetTwins("GPUS_ON_NODE", node.gpus.size());
  }
  if (!indices.empty()) {
    variables->SetTwins("JOB_GPUS", absl::StrJoin(indices, ","));
    variables->SetTwins("STEP_GPUS", absl::StrJoin(indices, ","));
  }
}

// Slurm's name only where `said`: its scripts ask whether it is there.
void SetTwinsWhere(bool said, const char* name, std::uint32_t value, Variables* variables) {
  variables->SetTwins(name, value);
  if (!said) {
    variables->Erase(absl::StrCat("SLURM_", name));
  }
}

// What is said of the whole job's resources, the same for a script and for the ranks of `program`.
void SetResources(const SupervisorOrder& order, const Program& program, const NodeAllocation& node,
                  Variables* variables) {
  const Allocation& allocation = order.launch.allocation;
  const ResourceRequest& request = order.launch.spec.request;
  variables->SetTwins("JOB_NODELIST", CompressHostlist(NodeNames(allocation), HostOrder::kAsGiven));
  variables->SetTwins("JOB_NUM_NODES", allocation.nodes.size());
  variables->SetTwins("JOB_CPUS_PER_NODE", CompressCounts(CpusPerNode(allocation)));
  variables->SetTwins("CPUS_ON_NODE", node.cpus.Count());
  SetTwinsWhere(
      IsSaid(program, {"cpus-per-task"}) || IsSaid(order.launch.program, {"cpus-per-task"}),
      "CPUS_PER_TASK", request.cpus_per_task, variables);
  if (request.tasks_per_node > 0) {
    variables->SetTwins("NTASKS_PER_NODE", request.tasks_per_node);
  }
  if (request.gpus_per_node.count > 0) {
    variables->SetTwins("GPUS_PER_NODE", request.gpus_per_node.count);
  }
  if (!node.memory.zero()) {
    variables->SetTwins("MEM_PER_NODE", node.memory.value() / kMebibyte.value());
  }
  if (!request.memory_per_cpu.zero()) {
    variables->SetTwins("MEM_PER_CPU", request.memory_per_cpu.value() / kMebibyte.value());
  }
}

// The nodes and tasks that a script or a step has at its disposal. `said`: how many tasks, by who
// asked for them.
void SetExtent(const Allocation& placement, bool said, Variables* variables) {
  variables->SetTwins("NODELIST", CompressHostlist(NodeNames(placement), HostOrder::kAsGiven));
  variables->SetTwins("NNODES", placement.nodes.size());
  SetTwinsWhere(said, "NTASKS", RankCount(placement), variables);
  SetTwinsWhere(said, "NPROCS", RankCount(placement), variables);
  variables->SetTwins("TASKS_PER_NODE", CompressCounts(RanksPerNode(placement)));
  if (!placement.grid.empty()) {
    variables->Set("MUSTER_GRID", absl::StrJoin(placement.grid, "x"));
  }
}

// Where the ranks of a step meet. The nodes of a cluster whose controller is reached by a unix
// socket are all on this machine, whatever they are called.
std::string MasterAddress(const SupervisorOrder& order, const Allocation& placement) {
  const bool local = placement.nodes.size() == 1 || order.controller.rfind("unix:", 0) == 0;
  return local ? "127.0.0.1" : placement.nodes.front().name;
}

// Where one launcher on each node of the job would meet the others; an elastic job's `torchrun`
// finds it by itself, unless its options say otherwise.
void SetElastic(const SupervisorOrder& order, const NodeAllocation& node, Variables* variables) {
  const LaunchOrder& launch = order.launch;
  const ResourceRequest& request = launch.spec.request;
  const Rendezvous rendezvous = RendezvousOf(launch);
  const std::string endpoint =
      absl::StrCat(MasterAddress(order, launch.allocation), ":", rendezvous.port);
  variables->Set("MUSTER_RDZV_ID", rendezvous.id);
  variables->Set("MUSTER_RDZV_ENDPOINT", endpoint);
  if (!order.progress_file.empty()) {
    variables->Set("MUSTER_PROGRESS_FILE", order.progress_file);
  }
  if (!launch.spec.elastic) {
    return;
  }
  for (const char* family : {"MUSTER_ELASTIC_", "SCHED_ELASTIC_"}) {
    variables->Set(absl::StrCat(family, "MIN"), request.min_nodes);
    variables->Set(absl::StrCat(family, "MAX"), request.max_nodes);
    variables->Set(absl::StrCat(family, "EPOCH"), launch.attempt.value());
  }
  variables->Set("PET_NNODES", launch.allocation.nodes.size());
  if (!node.gpus.empty()) {
    variables->Set("PET_NPROC_PER_NODE", node.gpus.size());
  }
  variables->Set("PET_RDZV_BACKEND", std::string("c10d"));
  variables->Set("PET_RDZV_ENDPOINT", endpoint);
  variables->Set("PET_RDZV_ID", rendezvous.id);
}

// The address at which `muster run` listens for the step, without its port.
std::string LaunchAddress(const Program& program) {
  const std::size_t colon = program.io.address.rfind(':');
  const bool local = colon == std::string::npos || program.io.address.rfind("unix:", 0) == 0;
  return local ? "127.0.0.1" : program.io.address.substr(0, colon);
}

// Whether the ranks find each other through a PMI.
bool HasMpi(const Program& program, std::uint32_t ranks) {
  return program.mpi == MpiFlavour::kAuto ? ranks > 1 : program.mpi != MpiFlavour::kNone;
}

// Of all ranks of the step on the node.
void SetStepNumbers(const SupervisorOrder& order, const StepContext& step, Variables* variables) {
  const Allocation& placement = *step.placement;
  const NodeAllocation& node = placement.nodes[step.node_index];
  const std::uint32_t world = RankCount(placement);
  std::vector<std::uint32_t> local_ranks;
  for (const RankPlacement& each : node.ranks) {
    local_ranks.push_back(each.rank);
  }
  variables->SetTwins("NODEID", step.node_index);
  variables->SetTwins("STEP_ID", step.step.value());
  variables->SetTwins("STEPID", step.step.value());
  if (placement.nodes.size() == 1 && !HasMpi(*step.program, world)) {
    // Beside SLURM_STEP_ID this name makes Open MPI look for a PMI, and refuse to be a single rank
    // where there is none. SLURM_JOB_NODELIST stands.
    variables->Erase("SLURM_NODELIST");
  }
  variables->SetTwins("STEP_NODELIST", CompressHostlist(NodeNames(placement), HostOrder::kAsGiven));
  variables->SetTwins("STEP_NUM_NODES", placement.nodes.size());
  variables->SetTwins("STEP_NUM_TASKS", world);
  variables->SetTwins("STEP_TASKS_PER_NODE", CompressCounts(RanksPerNode(placement)));
  variables->SetTwins("GTIDS", absl::StrJoin(local_ranks, ","));
  variables->SetTwins("TASK_PID", std::string(kPidPlaceholder));
  variables->SetTwins("LAUNCH_NODE_IPADDR", LaunchAddress(*step.program));
  variables->Set("MASTER_ADDR", MasterAddress(order, placement));
  variables->Set("MASTER_PORT", step.master_port);
  variables->Set("WORLD_SIZE", world);
  variables->Set("LOCAL_WORLD_SIZE", node.ranks.size());
  variables->Set("NODE_RANK", step.node_index);
  variables->Set("GROUP_RANK", step.node_index);
}

void SetRankNumbers(std::uint32_t rank, std::uint32_t local_rank, Variables* variables) {
  variables->SetTwins("PROCID", rank);
  variables->SetTwins("LOCALID", local_rank);
  variables->Set("RANK", rank);
  variables->Set("LOCAL_RANK", local_rank);
}

}  // namespace

std::vector<std::string> WithoutStaleVariables(const std::vector<std::string>& environment) {
  std::vector<std::string> kept;
  for (const std::string& assignment : environment) {
    if (!IsStale(std::string_view(assignment).substr(0, assignment.find('=')))) {
      kept.push_back(assignment);
    }
  }
  return kept;
}

std::vector<std::string> BatchEnvironment(const SupervisorOrder& order, std::uint32_t node_index) {
  const NodeAllocation& node = order.launch.allocation.nodes[node_index];
  const Program& program = order.launch.program;
  Variables variables(WithoutStaleVariables(program.environment));
  SetIdentity(order, &variables);
  SetResources(order, program, node, &variables);
  SetExtent(order.launch.allocation,
            IsSaid(program, {"ntasks", "ntasks-per-core", "ntasks-per-gpu", "ntasks-per-node",
                             "ntasks-per-socket"}),
            &variables);
  SetGpus(order, node, &variables);
  SetDevices(order, node, nullptr, &variables);
  SetLaunchers(order, node, &variables);
  SetElastic(order, node, &variables);
  variables.SetTwins("NODEID", node_index);
  variables.SetTwins("PROCID", 0);
  variables.SetTwins("LOCALID", 0);
  variables.SetTwins("GTIDS", 0);
  variables.SetTwins("TASK_PID", std::string(kPidPlaceholder));
  variables.Set("ENVIRONMENT", std::string("BATCH"));
  if (!variables.Has("TMPDIR")) {
    variables.Set("TMPDIR", std::string("/tmp"));
  }
  variables.Set("PWD", program.work_dir);
  return variables.List();
}

StepEnvironment::StepEnvironment(const SupervisorOrder& order, const StepContext& step)
    : order_(order),
      step_(step),
      node_(step.placement->nodes[step.node_index]),
      whole_(FindNode(order.launch.allocation, node_.name)),
      shared_(WithoutStaleVariables(step.program->environment)) {
  whole_ = whole_ == nullptr ? &node_ : whole_;
  SetIdentity(order, &shared_);
  SetResources(order, *step.program, *whole_, &shared_);
  SetExtent(*step.placement, /*said=*/true, &shared_);
  SetGpus(order, node_, &shared_);
  SetLaunchers(order, node_, &shared_);
  SetElastic(order, *whole_, &shared_);
  SetStepNumbers(order, step, &shared_);
  SetCpuBindings(node_, &shared_);
}

std::vector<std::string> StepEnvironment::Of(std::uint32_t local_rank) const {
  Variables variables = shared_;
  const RankPlacement& rank = node_.ranks[local_rank];
  SetDevices(order_, node_, &rank, &variables);
  SetRankNumbers(rank.rank, local_rank, &variables);
  SetPlace(rank, &variables);
  SetGridPlace(step_.placement->grid, rank.rank,
               static_cast<std::uint32_t>(RankCount(*step_.placement)), &variables);
  const LauncherKind launcher = LauncherOf(step_.program->environment);
  if (launcher == LauncherKind::kNone) {
    SetOpenMp(order_, rank, &variables);
  } else {
    SetDaemon(order_, *whole_, launcher, &variables);
  }
  variables.Set("PWD", step_.program->work_dir);
  return variables.List();
}

std::vector<std::string> CarrierOf(const SupervisorOrder& order) {
  const JobSpec& spec = order.launch.spec;
  const std::string object =
      Given(order.launch.program.environment, "MUSTER_CHECKPOINT_OBJECT", "");
  if (object.empty() || spec.container.given() || spec.checkpoint_with == CheckpointMeans::kCriu) {
    return {};
  }
  return {order.command, "checkpoint", "carry", "--", CheckpointDirectoryOf(order.launch), object};
}

// Made by who uses it. What --checkpoint-dir said comes first.
std::string CheckpointDirectoryOf(const LaunchOrder& launch) {
  const std::string usual =
      absl::StrCat(launch.program.work_dir, "/muster-", launch.job.value(), ".checkpoint");
  return Given(launch.program.environment, "MUSTER_SUBMIT_CHECKPOINT_DIR", usual);
}

std::uint16_t DerivedPort(JobId job, StepId step) {
  const std::uint64_t mixed = job.value() * 131 + std::uint64_t{step.value()} * 17;
  return static_cast<std::uint16_t>(kPortFirst + mixed % kPortCount);
}

}  // namespace muster::agent
