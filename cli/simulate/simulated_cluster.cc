#include "cli/simulate/simulated_cluster.h"

#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/parse/number.h"
#include "cli/parse/request/resources.h"
#include "cli/simulate/failure_options.h"
#include "cli/simulate/power_options.h"
#include "cli/simulate/trace_options.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"
#include "scheduler/model/value/gres.h"
#include "scheduler/runtime/config_file.h"
#include "scheduler/settings/policy_tables.h"
#include "scheduler/settings/settings_file.h"
#include "topology/captured/captured.h"
#include "topology/network/network_file.h"

namespace muster::cli {
namespace {

constexpr std::int64_t kNodesMax = 1'000'000;
constexpr std::int64_t kCpusMax = 65'536;  // of a node
constexpr std::int64_t kGpusMax = 256;
constexpr const char* kGpuModel = "gpu";

constexpr std::array<const char*, 6> kOptions = {"nodes",     "cpus-per-node", "gpus-per-node",
                                                 "gpu-model", "mem-per-node",  "cluster"};

absl::Status ReadNumber(const Invocation& invocation, const char* name, std::int64_t max,
                        std::int64_t* number) {
  if (!invocation.Has(name)) {
    return absl::OkStatus();
  }
  const absl::StatusOr<std::uint32_t> count =
      ParseCount(invocation.Value(name), static_cast<std::uint32_t>(max));
  if (!count.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--", name, ": ", std::string(count.status().message())));
  }
  *number = *count;
  return absl::OkStatus();
}

absl::StatusOr<sim::ClusterRun> AlikeNodes(const Invocation& invocation) {
  std::int64_t count = 0;
  std::int64_t cpus = 0;
  std::int64_t gpus = 0;
  RETURN_IF_ERROR(ReadNumber(invocation, "nodes", kNodesMax, &count));
  RETURN_IF_ERROR(ReadNumber(invocation, "cpus-per-node", kCpusMax, &cpus));
  RETURN_IF_ERROR(ReadNumber(invocation, "gpus-per-node", kGpusMax, &gpus));
  if (count == 0 || cpus == 0) {
    return absl::InvalidArgumentError(
        "a cluster needs --nodes N and --cpus-per-node C, or --cluster FILE");
  }
  Bytes memory;
  if (invocation.Has("mem-per-node")) {
    const absl::StatusOr<Bytes> said = ParseMemory(invocation.Value("mem-per-node"));
    if (!said.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--mem-per-node: ", std::string(said.status().message())));
    }
    memory = *said;
  }
  const std::string model = invocation.Has("gpu-model") ? invocation.Value("gpu-model") : kGpuModel;
  sim::NodeClass nodes;
  nodes.count = static_cast<std::uint32_t>(count);
  nodes.machine = sim::PlainMachine(static_cast<std::uint32_t>(cpus),
                                    static_cast<std::uint32_t>(gpus), model, memory);
  sim::ClusterRun run;
  run.config = DefaultSettings();
  run.nodes.push_back(std::move(nodes));
  return run;
}

// [nodes.NAME]: a captured machine, or a plain one.
absl::StatusOr<Machine> ReadMachine(ConfigFile& file, const std::string& path) {
  std::string topology;
  RETURN_IF_ERROR(file.ReadString(path + ".topology", &topology));
  if (!topology.empty()) {
    absl::StatusOr<Machine> machine = topology::ReadCapturedMachine(topology);
    return machine.ok() ? std::move(machine)
                        : file.ErrorAt(path + ".topology", std::string(machine.status().message()));
  }
  std::int64_t cpus = 0;
  std::int64_t gpus = 0;
  std::string model = kGpuModel;
  std::string memory;
  RETURN_IF_ERROR(file.ReadInteger(path + ".cpus", {1, kCpusMax}, &cpus));
  RETURN_IF_ERROR(file.ReadInteger(path + ".gpus", {0, kGpusMax}, &gpus));
  RETURN_IF_ERROR(file.ReadString(path + ".gpu_model", &model));
  RETURN_IF_ERROR(file.ReadText(path + ".memory", &memory));
  if (cpus == 0) {
    return file.ErrorAt(path, "say cpus = N, or topology = \"FILE\"");
  }
  Bytes bytes;
  if (!memory.empty()) {
    const absl::StatusOr<Bytes> said = ParseMemory(memory);
    if (!said.ok()) {
      return file.ErrorAt(path + ".memory", std::string(said.status().message()));
    }
    bytes = *said;
  }
  return sim::PlainMachine(static_cast<std::uint32_t>(cpus), static_cast<std::uint32_t>(gpus),
                           model, bytes);
}

// gres = "scratch:4,fpga": countable things that each of the nodes declares.
absl::Status ReadGresKey(ConfigFile& file, const std::string& key, GresList& gres) {
  std::string text;
  RETURN_IF_ERROR(file.ReadString(key, &text));
  if (text.empty()) {
    return absl::OkStatus();
  }
  const absl::StatusOr<GresList> said = ParseGresList(text);
  if (!said.ok() || said->size() > kGresKinds) {
    return file.ErrorAt(key, said.ok() ? absl::StrCat("a node has at most ", kGresKinds, " kinds")
                                       : std::string(said.status().message()));
  }
  gres = *said;
  return absl::OkStatus();
}

// network = "FILE", beside the cluster's file unless it says where.
absl::Status ReadNetworkKey(const std::string& directory, ConfigFile& file,
                            SchedulerConfig& config) {
  std::string name;
  RETURN_IF_ERROR(file.ReadString("network", &name));
  if (name.empty()) {
    return absl::OkStatus();
  }
  absl::StatusOr<Network> network =
      topology::ReadNetwork((std::filesystem::path(directory) / name).string());
  if (!network.ok()) {
    return file.ErrorAt("network", std::string(network.status().message()));
  }
  config.network = std::make_shared<const Network>(*std::move(network));
  return absl::OkStatus();
}

absl::StatusOr<sim::NodeClass> ReadNodes(ConfigFile& file, const std::string& name) {
  const std::string table = absl::StrCat("nodes.", name);
  sim::NodeClass nodes;
  nodes.name = name;
  std::int64_t count = 1;
  std::int64_t weight = 0;
  RETURN_IF_ERROR(file.ReadInteger(table + ".count", {1, kNodesMax}, &count));
  RETURN_IF_ERROR(file.ReadInteger(table + ".weight", {0, 1'000'000}, &weight));
  RETURN_IF_ERROR(file.ReadStrings(table + ".features", &nodes.features));
  RETURN_IF_ERROR(ReadFailureKeys(file, table, &nodes));
  ASSIGN_OR_RETURN(nodes.machine, ReadMachine(file, table));
  RETURN_IF_ERROR(ReadGresKey(file, table + ".gres", nodes.machine.gres));
  nodes.count = static_cast<std::uint32_t>(count);
  nodes.weight = static_cast<std::uint32_t>(weight);
  return nodes;
}

absl::StatusOr<sim::ClusterRun> ReadClusterFile(const std::string& path) {
  ASSIGN_OR_RETURN(ConfigFile file, ConfigFile::Load(path));
  if (file.KeysUnder("nodes").empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": no nodes: write [nodes.NAME] with count = N and cpus = C"));
  }
  ASSIGN_OR_RETURN(sim::ClusterRun run,
                   ReadCluster(file, std::filesystem::path(path).parent_path().string()));
  RETURN_IF_ERROR(file.RefuseUnknownKeys());
  return run;
}

// As TOML writes it.
std::string Quoted(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      quoted += '\\';
    }
    quoted += c;
  }
  return quoted + '"';
}

}  // namespace

absl::StatusOr<sim::ClusterRun> ReadCluster(ConfigFile& file, const std::string& directory) {
  sim::ClusterRun run;
  run.config = DefaultSettings();
  for (const std::string& name : file.KeysUnder("nodes")) {
    ASSIGN_OR_RETURN(sim::NodeClass nodes, ReadNodes(file, name));
    run.nodes.push_back(std::move(nodes));
  }
  RETURN_IF_ERROR(ReadSettings(file, run.config));
  RETURN_IF_ERROR(ReadNetworkKey(directory, file, run.config));
  RETURN_IF_ERROR(ReadFailureKeys(file, directory, &run));
  ASSIGN_OR_RETURN(run.policy, ReadPolicy(file));
  RETURN_IF_ERROR(CheckPolicyFile(file, SitePolicy(), run.policy));
  return run;
}

absl::StatusOr<std::string> AlikeNodesText(const Invocation& invocation) {
  ASSIGN_OR_RETURN(const sim::ClusterRun run, AlikeNodes(invocation));
  const sim::NodeClass& nodes = run.nodes.front();
  std::string text = absl::StrCat("[nodes.", nodes.name, "]\ncount = ", nodes.count,
                                  "\ncpus = ", nodes.machine.cores.size(),
                                  "\ngpus = ", nodes.machine.gpus.size(), "\n");
  if (invocation.Has("gpu-model")) {
    absl::StrAppend(&text, "gpu_model = ", Quoted(invocation.Value("gpu-model")), "\n");
  }
  if (invocation.Has("mem-per-node")) {
    absl::StrAppend(&text, "memory = ", Quoted(invocation.Value("mem-per-node")), "\n");
  }
  return text;
}

std::vector<Option> AlikeNodesOptionTable() {
  return {
      MakeOption("nodes", "N",
                 "A cluster of N nodes that are alike, under the code that schedules live"),
      MakeOption("cpus-per-node", "C", "Hardware threads of each node, a core each"),
      MakeOption("gpus-per-node", "G",
                 "GPUs of each node, joined two by two by NVLink (default: none)"),
      MakeOption("gpu-model", "NAME", "What the GPUs are (default: gpu)"),
      MakeOption("mem-per-node", "SIZE", "Memory of each node (default: memory is not counted)"),
  };
}

std::vector<Option> ClusterOptionTable() {
  std::vector<Option> options = AlikeNodesOptionTable();
  options.push_back(
      MakeOption("cluster", "FILE", "Nodes, partitions, accounts, policy: see the manual"));
  const std::vector<Option> of_failures = FailureOptionTable();
  options.insert(options.end(), of_failures.begin(), of_failures.end());
  options.push_back(PowerOption());
  return options;
}

absl::StatusOr<std::optional<sim::ClusterRun>> ReadClusterRun(const Invocation& invocation) {
  bool any = false;
  for (const char* option : kOptions) {
    any = any || invocation.Has(option);
    if (invocation.Has(option) && invocation.Has("cluster") && std::string(option) != "cluster") {
      return absl::InvalidArgumentError(
          absl::StrCat("--", option, ": the file says it: leave it out, or --cluster"));
    }
  }
  if (!any) {
    RETURN_IF_ERROR(RefuseFailureOptions(invocation));
    RETURN_IF_ERROR(RefusePowerOption(invocation));
    return std::nullopt;
  }
  ASSIGN_OR_RETURN(sim::ClusterRun run, invocation.Has("cluster")
                                            ? ReadClusterFile(invocation.Value("cluster"))
                                            : AlikeNodes(invocation));
  RETURN_IF_ERROR(ReadFailureOptions(invocation, &run));
  if (invocation.Has("policy")) {
    const absl::Status status = SetClusterPolicy(invocation.Value("policy"), run.config);
    if (!status.ok()) {
      return absl::InvalidArgumentError(absl::StrCat("--policy: ", std::string(status.message())));
    }
  }
  RETURN_IF_ERROR(ReadPowerOption(invocation, &run));
  return run;
}

absl::Status SetClusterPolicy(const std::string& name, SchedulerConfig& config) {
  if (name == "muster") {
    return absl::OkStatus();
  }
  if (name == "prompt") {
    config.priority.order = QueueRule::kPrompt;
    return absl::OkStatus();
  }
  const std::optional<Backfill> backfill = name == "fcfs" ? Backfill::kNone : BackfillNamed(name);
  if (backfill.has_value()) {
    config.priority.order = QueueRule::kPriority;
    config.backfill = *backfill;
    return absl::OkStatus();
  }
  if (name == "fairshare") {
    PriorityConfig only;
    only.fairshare = config.priority.fairshare;
    only.half_life = config.priority.half_life;
    only.billing_rule = config.priority.billing_rule;
    only.billing = config.priority.billing;
    only.weight_fairshare = 1'000'000;
    config.priority = std::move(only);
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat(Quote(name), " is not a policy of a cluster: one of ", ClusterPolicyNames(),
                   "; the others are for --flat"));
}

std::string ClusterPolicyNames() {
  return absl::StrCat("muster, prompt, fairshare, fcfs, ", absl::StrJoin(kBackfillNames, ", "));
}

}  // namespace muster::cli
