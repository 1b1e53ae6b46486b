#include "cli/up/up_plan.h"

#include <unistd.h>

#include <filesystem>

#include "absl/strings/str_cat.h"
#include "cli/controller/address.h"
#include "cli/parse/number.h"
#include "cli/up/cluster_options.h"
#include "cli/up/web_place.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"
#include "topology/network/network_file.h"

namespace muster::cli {
namespace {

absl::Status WithPlace(const char* place, const absl::Status& status) {
  return absl::InvalidArgumentError(absl::StrCat(place, ": ", std::string(status.message())));
}

DaemonSpec AgentSpec(const UpOptions& options, const UpPlan& plan, const std::string& program,
                     std::uint32_t index) {
  const std::string& name = options.names[index];
  DaemonSpec agent;
  agent.name = name + "'s agent";
  agent.program = program;
  agent.log = absl::StrCat(options.state, "/log/agent-", name, ".log");
  agent.arguments = {"--state",      absl::StrCat(options.state, "/agents/", name),
                     "--controller", plan.controller,
                     "--name",       name};
  if (!options.topologies.empty()) {
    const std::string& topology = options.topologies[index % options.topologies.size()];
    agent.arguments.insert(agent.arguments.end(), {"--topology", topology});
  } else if (options.nodes > 1) {
    agent.arguments.insert(agent.arguments.end(),
                           {"--slice", absl::StrCat(index, "/", options.nodes)});
  }
  if (!options.features.empty()) {
    const std::string& features = options.features[index % options.features.size()];
    agent.arguments.insert(agent.arguments.end(), {"--features", features});
  }
  if (!options.gres.empty()) {
    const std::string& gres = options.gres[index % options.gres.size()];
    agent.arguments.insert(agent.arguments.end(), {"--gres", gres});
  }
  if (!options.cgroup_root.empty()) {
    agent.arguments.insert(agent.arguments.end(), {"--cgroup-root", options.cgroup_root});
  }
  return agent;
}

// The gateway: it may open a socket of the controller's on which nothing but tokens counts.
absl::Status AddGateway(const UpOptions& options, UpPlan& plan) {
  const WebPlace place(options.state);
  DaemonSpec gateway;
  gateway.name = "the gateway";
  ASSIGN_OR_RETURN(gateway.program, SiblingProgram("muster-gateway"));
  gateway.log = options.state + "/log/muster-gateway.log";
  gateway.arguments = {"--controller", place.socket, "--links", place.links};
  plan.daemons.push_back(std::move(gateway));
  plan.directories.insert(plan.directories.end(), {place.directory, place.links});
  plan.web_address = options.web_address;
  return absl::OkStatus();
}

// The network's nodes, of which there are as many here as were asked for; all of them if none were.
absl::Status ReadNetworkOption(const Invocation& invocation, UpOptions& options) {
  std::error_code error;
  options.network = std::filesystem::absolute(invocation.Value("network"), error).string();
  const absl::StatusOr<Network> network = topology::ReadNetwork(options.network);
  if (!network.ok()) {  // refused: the option is well used
    return absl::FailedPreconditionError(
        absl::StrCat("--network: ", std::string(network.status().message())));
  }
  const std::size_t known = network->nodes.size();
  const bool said = invocation.Has("nodes") || options.topologies.size() > 1;
  if (said ? options.nodes > known : known > kPersonalNodesMax) {
    return absl::InvalidArgumentError(
        said ? absl::StrCat("--network has ", Counted(known, "node"), ", not ", options.nodes,
                            ": ask for fewer")
             : absl::StrCat("--network has ", Counted(known, "node"), "; at most ",
                            kPersonalNodesMax, " can be run: say --nodes"));
  }
  options.nodes = said ? options.nodes : static_cast<std::uint32_t>(known);
  for (std::uint32_t i = 0; i < options.nodes; ++i) {
    options.names.push_back(network->nodes[i].name);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<UpOptions> ReadUpOptions(const Invocation& invocation) {
  UpOptions options;
  ASSIGN_OR_RETURN(options.state,
                   StateDirectory(invocation.Value("state"), invocation.environment));
  if (invocation.Has("topology")) {
    ASSIGN_OR_RETURN(options.topologies, ReadTopologyList(invocation.Value("topology")));
    options.nodes = static_cast<std::uint32_t>(options.topologies.size());
  }
  if (invocation.Has("nodes")) {
    const absl::StatusOr<std::uint32_t> nodes =
        ParseCount(invocation.Value("nodes"), kPersonalNodesMax);
    if (!nodes.ok()) {
      return WithPlace("--nodes", nodes.status());
    }
    options.nodes = *nodes;
  }
  if (invocation.Has("network")) {
    RETURN_IF_ERROR(ReadNetworkOption(invocation, options));
  }
  for (std::uint32_t i = static_cast<std::uint32_t>(options.names.size()); i < options.nodes; ++i) {
    options.names.push_back(absl::StrCat("node", i + 1));
  }
  if (options.topologies.size() > 1 && options.topologies.size() != options.nodes) {
    return absl::InvalidArgumentError(absl::StrCat("--topology names ", options.topologies.size(),
                                                   " machines for ", Counted(options.nodes, "node"),
                                                   ": name one for all, or one for each"));
  }
  if (invocation.Has("features")) {
    ASSIGN_OR_RETURN(options.features,
                     ReadFeatureLists(invocation.Value("features"), options.nodes));
  }
  if (invocation.Has("gres")) {
    ASSIGN_OR_RETURN(options.gres,
                     ReadGresLists("--gres", invocation.Value("gres"), options.nodes));
  }
  if (invocation.Has("cgroup-root")) {
    std::error_code error;
    options.cgroup_root =
        std::filesystem::absolute(invocation.Value("cgroup-root"), error).string();
    if (!std::filesystem::exists(options.cgroup_root + "/cgroup.subtree_control", error)) {
      return absl::InvalidArgumentError(
          absl::StrCat("--cgroup-root: ", Quote(options.cgroup_root),
                       " is not a group of a cgroup v2 tree: use one like /sys/fs/cgroup/muster"));
    }
  }
  if (invocation.Has("config")) {
    std::error_code error;
    options.config = std::filesystem::absolute(invocation.Value("config"), error).string();
  }
  options.web = invocation.Has("web") || invocation.Has("web-address");
  options.web_address =
      invocation.Has("web-address") ? invocation.Value("web-address") : "127.0.0.1:0";
  if (invocation.Has("listen")) {
    const absl::StatusOr<Address> address = ParseAddress(invocation.Value("listen"));
    if (!address.ok() || address->kind != Address::Kind::kTcp) {
      return absl::InvalidArgumentError(
          absl::StrCat("--listen: ", Quote(invocation.Value("listen")),
                       " is not HOST:PORT: use one like 127.0.0.1:7700"));
    }
    options.listen = address->text;
  }
  return options;
}

absl::StatusOr<UpPlan> MakeUpPlan(const UpOptions& options) {
  UpPlan plan;
  plan.state = options.state;
  plan.controller = absl::StrCat("unix:", options.state, "/controller.sock");
  DaemonSpec controller;
  controller.name = "the controller";
  ASSIGN_OR_RETURN(controller.program, SiblingProgram("musterd"));
  controller.log = options.state + "/log/musterd.log";
  // Who reads this state directory is the user whose scripts they are.
  controller.arguments = {"--state", options.state, "--listen", plan.controller, "--keep-scripts"};
  if (!options.listen.empty()) {
    controller.arguments.insert(controller.arguments.end(), {"--listen", options.listen});
  }
  if (!options.network.empty()) {
    controller.arguments.insert(controller.arguments.end(), {"--network", options.network});
  }
  if (!options.config.empty()) {
    controller.arguments.insert(controller.arguments.end(), {"--config", options.config});
  }
  if (options.web) {
    controller.arguments.insert(controller.arguments.end(),
                                {"--gateway-socket", WebPlace(options.state).socket});
  }
  plan.daemons.push_back(std::move(controller));
  ASSIGN_OR_RETURN(const std::string agent, SiblingProgram("muster-agent"));
  for (std::uint32_t i = 0; i < options.nodes; ++i) {
    plan.daemons.push_back(AgentSpec(options, plan, agent, i));
    plan.directories.push_back(absl::StrCat(options.state, "/agents/", options.names[i]));
  }
  if (options.web) {
    RETURN_IF_ERROR(AddGateway(options, plan));
  }
  return plan;
}

std::string ReadyLine(const std::vector<NodeView>& nodes) {
  std::uint64_t cores = 0;
  std::uint64_t gpus = 0;
  Bytes memory;
  for (const NodeView& node : nodes) {
    cores += node.cores;
    gpus += node.gpus;
    memory += node.memory;
  }
  return absl::StrCat("ready: ", Counted(nodes.size(), "node"), ", ", Counted(cores, "core"), ", ",
                      gpus == 0 ? "" : Counted(gpus, "GPU") + ", ",
                      memory.value() / kGibibyte.value(),
                      " GiB — submit with: muster submit --wrap hostname");
}

}  // namespace muster::cli
