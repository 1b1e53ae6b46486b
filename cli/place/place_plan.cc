#include "cli/place/place_plan.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cli/parse/number.h"
#include "cli/parse/request/constraint.h"
#include "cli/parse/request/resources.h"
#include "cli/request/job_options.h"
#include "cli/up/cluster_options.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"
#include "scheduler/core/handle/submit/validate.h"
#include "scheduler/core/plan/planner.h"
#include "scheduler/model/value/gres.h"
#include "topology/captured/captured.h"
#include "topology/network/network_file.h"

namespace muster::cli {
namespace {

// Of submit's options, those that say where a job goes; the ones that this version refuses are
// there, too, so that they are refused by name.
constexpr std::array<std::string_view, 32> kRequestOptions = {"nodes",
                                                              "ntasks",
                                                              "ntasks-per-node",
                                                              "cpus-per-task",
                                                              "mem",
                                                              "mem-per-cpu",
                                                              "mem-per-gpu",
                                                              "gpus",
                                                              "gpus-per-node",
                                                              "gpus-per-task",
                                                              "gpu-memory",
                                                              "gpu-share",
                                                              "exclusive",
                                                              "overcommit",
                                                              "constraint",
                                                              "nodelist",
                                                              "exclude",
                                                              "switches",
                                                              "segment",
                                                              "distribution",
                                                              "cpu-bind",
                                                              "mem-bind",
                                                              "gpu-bind",
                                                              "hint",
                                                              "ntasks-per-socket",
                                                              "ntasks-per-core",
                                                              "threads-per-core",
                                                              "ntasks-per-gpu",
                                                              "cores-per-socket",
                                                              "parallel",
                                                              "gres",
                                                              "time"};

constexpr std::uint32_t kClusterNodesMax = 65'536;

// Every machine that is named, read once.
class MachineShelf {
 public:
  absl::StatusOr<std::shared_ptr<const Machine>> Get(const std::string& source) {
    std::shared_ptr<const Machine>& machine = machines_[source];
    if (machine == nullptr) {
      ASSIGN_OR_RETURN(Machine read, topology::ReadCapturedMachine(source));
      machine = std::make_shared<const Machine>(std::move(read));
    }
    return machine;
  }

  [[nodiscard]] std::vector<std::string> Remarks() const {
    std::vector<std::string> remarks;
    for (const auto& entry : machines_) {
      for (const std::string& remark : entry.second->remarks) {
        if (std::find(remarks.begin(), remarks.end(), remark) == remarks.end()) {
          remarks.push_back(remark);
        }
      }
    }
    return remarks;
  }

 private:
  std::map<std::string, std::shared_ptr<const Machine>> machines_;
};

// The nodes declare the countable things of their lists. Nodes with the same machine and the same
// list share one.
absl::Status AddGres(const std::string& text, PlaceCluster& cluster) {
  if (text.empty()) {
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(
      const std::vector<std::string> lists,
      ReadGresLists("--node-gres", text, static_cast<std::uint32_t>(cluster.nodes.size())));
  std::map<std::pair<const Machine*, std::size_t>, std::shared_ptr<const Machine>> known;
  for (std::size_t i = 0; i < cluster.nodes.size(); ++i) {
    std::shared_ptr<const Machine>& machine = cluster.nodes[i].machine;
    std::shared_ptr<const Machine>& with = known[{machine.get(), i % lists.size()}];
    if (with == nullptr) {
      auto changed = std::make_shared<Machine>(*machine);
      ASSIGN_OR_RETURN(changed->gres, ParseGresList(lists[i % lists.size()]));
      with = std::move(changed);
    }
    machine = with;
  }
  return absl::OkStatus();
}

// How many nodes there are: as said, else the network's, else one for each topology.
absl::StatusOr<std::size_t> CountNodes(const PlaceOptions& options, const Network* network) {
  const std::size_t known = network != nullptr ? network->nodes.size() : options.topologies.size();
  if (network != nullptr && options.nodes > known) {
    return absl::InvalidArgumentError(
        absl::StrCat("--cluster-nodes: ", options.nodes, " are more than the network's ", known));
  }
  const std::size_t count = options.nodes > 0 ? options.nodes : known;
  if (options.topologies.size() > 1 && options.topologies.size() != count) {
    return absl::InvalidArgumentError(absl::StrCat("--topology names ", options.topologies.size(),
                                                   " machines for ", Counted(count, "node"),
                                                   ": name one for all, or one for each"));
  }
  return count;
}

}  // namespace

std::vector<Option> PlaceOptionTable() {
  std::vector<Option> options = {
      {.name = "topology",
       .letter = 0,
       .metavar = "LIST",
       .text = "Machines, by commas: hwloc XML, NCCL XML, nvidia-smi topo -m, synthetic; "
               "MACHINE+TABLE joins",
       .joined_by = ','},
      {.name = "network",
       .letter = 0,
       .metavar = "FILE",
       .text = "Slurm's topology.conf or topology.yaml, or our TOML: names the nodes"},
      {.name = "cluster-nodes",
       .letter = 0,
       .metavar = "N",
       .text = "How many nodes the cluster has (default: the network's, or one a machine)"},
      {.name = "features",
       .letter = 0,
       .metavar = "LIST",
       .text = "The nodes' features: a,b; or one list for each: 'a,b;c'"},
      {.name = "node-gres",
       .letter = 0,
       .metavar = "LIST",
       .text = "The nodes' countable things: a:2,b; or one list for each: 'a:2,b;a:4'"},
      {.name = "message",
       .letter = 0,
       .metavar = "SIZE",
       .text = "Bytes of the collectives whose times are predicted (default 1G; a plain number is "
               "MiB)"},
  };
  options.push_back({.name = "svg",
                     .letter = 0,
                     .metavar = "FILE",
                     .text = "Write network and nodes as a picture with the ranks into FILE, too"});
  for (const Option& option : JobOptions(JobVerb::kSubmit)) {
    if (std::find(kRequestOptions.begin(), kRequestOptions.end(), option.name) !=
        kRequestOptions.end()) {
      options.push_back(option);
    }
  }
  options.push_back(JsonOption());
  return options;
}

absl::StatusOr<PlaceOptions> ReadPlaceOptions(const Invocation& invocation) {
  PlaceOptions options;
  if (!invocation.Has("topology")) {
    return absl::InvalidArgumentError(
        "missing --topology: name a captured machine, or describe one, like pack:2 core:4");
  }
  ASSIGN_OR_RETURN(options.topologies, ReadTopologyList(invocation.Value("topology")));
  for (const std::string& argument : invocation.arguments) {
    ASSIGN_OR_RETURN(const std::vector<std::string> more, ReadTopologyList(argument));
    options.topologies.insert(options.topologies.end(), more.begin(), more.end());
  }
  options.network = invocation.Value("network");
  if (invocation.Has("cluster-nodes")) {
    const absl::StatusOr<std::uint32_t> nodes =
        ParseCount(invocation.Value("cluster-nodes"), kClusterNodesMax);
    if (!nodes.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--cluster-nodes: ", std::string(nodes.status().message())));
    }
    options.nodes = *nodes;
  }
  options.features = invocation.Value("features");
  options.gres = invocation.Value("node-gres");
  if (invocation.Has("message")) {
    const absl::StatusOr<Bytes> message = ParseMemory(invocation.Value("message"));
    if (!message.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--message: ", std::string(message.status().message())));
    }
    options.message = *message;
  }
  ASSIGN_OR_RETURN(JobRequest request,
                   ReadJobOptions(invocation.values, {}, JobVerb::kSubmit,
                                  {.now = Time(), .zone = absl::UTCTimeZone()}));
  RETURN_IF_ERROR(RefuseShareSize(request));
  ASSIGN_OR_RETURN(options.spec, core::Normalise(std::move(request.spec), SchedulerConfig()));
  return options;
}

absl::StatusOr<PlaceCluster> LoadPlaceCluster(const PlaceOptions& options) {
  PlaceCluster cluster;
  if (!options.network.empty()) {
    ASSIGN_OR_RETURN(Network network, topology::ReadNetwork(options.network));
    cluster.network = std::make_shared<const Network>(std::move(network));
  }
  ASSIGN_OR_RETURN(const std::size_t count, CountNodes(options, cluster.network.get()));
  std::vector<std::string> lists;
  if (!options.features.empty()) {
    ASSIGN_OR_RETURN(lists, ReadFeatureLists(options.features, static_cast<std::uint32_t>(count)));
  }
  MachineShelf machines;
  for (std::size_t i = 0; i < count; ++i) {
    NodeSnapshot node;
    node.id = NodeId(static_cast<std::uint32_t>(i + 1));
    node.name =
        cluster.network != nullptr ? cluster.network->nodes[i].name : absl::StrCat("node", i + 1);
    ASSIGN_OR_RETURN(node.machine, machines.Get(options.topologies[i % options.topologies.size()]));
    node.up = true;
    node.taken.gpus.resize(node.machine->gpus.size());
    if (!lists.empty()) {
      ASSIGN_OR_RETURN(node.features, ParseFeatures(lists[i % lists.size()]));
      std::sort(node.features.begin(), node.features.end());
    }
    cluster.nodes.push_back(std::move(node));
  }
  RETURN_IF_ERROR(AddGres(options.gres, cluster));
  cluster.remarks = machines.Remarks();
  if (cluster.network != nullptr) {
    cluster.remarks.insert(cluster.remarks.end(), cluster.network->remarks.begin(),
                           cluster.network->remarks.end());
  }
  return cluster;
}

PlaceOutcome PlanPlacement(const PlaceCluster& cluster, const JobSpec& spec) {
  Snapshot snapshot;
  snapshot.version = Version(1);
  snapshot.nodes = cluster.nodes;
  snapshot.network = cluster.network;
  WaitingJob job;
  job.id = JobId(1);
  job.submission = job.id;
  job.spec = std::make_shared<const JobSpec>(spec);
  snapshot.waiting.push_back(std::move(job));
  Plan plan = core::MakePlan(snapshot, SchedulerConfig());
  PlaceOutcome outcome;
  if (!plan.starts.empty()) {
    outcome.allocation = std::move(plan.starts.front().allocation);
  } else if (!plan.waiting.empty()) {
    outcome.reason = std::move(plan.waiting.front().reason);
  }
  return outcome;
}

}  // namespace muster::cli
