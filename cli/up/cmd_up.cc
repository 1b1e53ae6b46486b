#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <iostream>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "cli/controller/address.h"
#include "cli/controller/connection.h"
#include "cli/frame/verbs.h"
#include "cli/parse/number.h"
#include "cli/slurm/links/command_links.h"
#include "cli/up/daemon_child.h"
#include "cli/up/own_group.h"
#include "cli/up/personal_cluster.h"
#include "cli/up/up_plan.h"
#include "cli/up/up_service.h"
#include "cli/up/web_place.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/host_list.h"
#include "scheduler/base/utf8.h"
#include "scheduler/runtime/file.h"
#include "scheduler/runtime/signals.h"

namespace muster::cli {
namespace {

void Say(const std::string& line) {
  std::cout << line << std::endl;
}

// Makes the state directory and refuses one that another controller uses; the lock says its pid.
absl::StatusOr<LockFile> TakeState(const UpPlan& plan) {
  RETURN_IF_ERROR(EnsurePrivateDirectory(plan.state));
  RETURN_IF_ERROR(EnsurePrivateDirectory(plan.state + "/log"));
  RETURN_IF_ERROR(EnsurePrivateDirectory(plan.state + "/agents"));
  RETURN_IF_ERROR(EnsurePrivateDirectory(plan.state + "/controller"));
  ASSIGN_OR_RETURN(LockFile ours, LockFile::Take(plan.state + "/up.lock"));
  // A musterd that was started by hand, or left behind, holds its own lock; ours goes at once.
  RETURN_IF_ERROR(LockFile::Take(plan.state + "/controller/lock").status());
  return ours;
}

// What of a node is not as the hardware is; "" where all is. `group`: why the nodes have no control
// group of their own, if they have none.
std::string Shortcoming(const NodeView& node, const absl::Status& group) {
  if (node.binding != "enforced" && !node.binding.empty()) {
    return "binding " + node.binding;
  }
  if (absl::StartsWith(node.limits, "not enforced")) {
    return "limits: " + (group.ok() ? node.limits
                                    : absl::StrCat("not enforced (no control group of our own: ",
                                                   std::string(group.message()), ")"));
  }
  return absl::StrContains(node.limits, "; not ") ? "limits: " + node.limits : "";
}

// "ready: 2 nodes, 2 cores, 23 GiB — submit with: …", and a line for each shortcoming.
absl::Status SayReady(Connection& connection, const absl::Status& group) {
  ASSIGN_OR_RETURN(const NodeList list, connection.Call(ListNodes{{}, false}));
  Say(ReadyLine(list.nodes));
  std::map<std::string, std::vector<std::string>> nodes_with;
  for (const NodeView& node : list.nodes) {
    nodes_with[Shortcoming(node, group)].push_back(node.name);
  }
  nodes_with.erase("");
  for (const auto& [shortcoming, nodes] : nodes_with) {
    Say(absl::StrCat(EscapeControl(CompressHostlist(nodes)), ": ", EscapeControl(shortcoming)));
  }
  return absl::OkStatus();
}

// Slurm's names for this cluster, where the front end is installed, and the line that finds them.
void SaySlurmNames(const std::string& state) {
  const absl::StatusOr<std::string> program = SiblingProgram("muster-slurm");
  const std::string directory = state + "/slurm";
  if (program.ok() && slurm::LinkCommands(*program, directory).ok()) {
    Say(absl::StrCat("Slurm's commands: export MUSTER_STATE=", state, " PATH=", directory,
                     ":$PATH"));
  }
}

// The gateway's socket, if there is to be one, and its address where `muster web` looks for it;
// that of an earlier start goes.
absl::StatusOr<UniqueFd> OpenWeb(UpPlan& plan) {
  const WebPlace place(plan.state);
  unlink(place.address.c_str());
  if (plan.web_address.empty()) {
    return UniqueFd();
  }
  ASSIGN_OR_RETURN(UniqueFd socket, ListenForWeb(plan.web_address));
  plan.daemons.back().socket = socket.get();
  plan.web_address = WebUrl(socket);
  RETURN_IF_ERROR(WriteFileAtomically(place.address, plan.web_address + "\n"));
  return socket;
}

// A control group of our own, for us and the daemons that we start; or why there is none.
absl::StatusOr<OwnGroup> MakeOwnGroup(const UpPlan& plan, const Environment& environment) {
  absl::StatusOr<OwnGroup> group = OwnGroup::Enter(plan.state, environment);
  if (!group.ok() && geteuid() != 0) {
    return absl::Status(group.status().code(),
                        absl::StrCat(std::string(group.status().message()),
                                     "; systemd-run --user --scope -p Delegate=yes muster up"));
  }
  return group;
}

// Everything of one `muster up`, on one loop.
class UpSession {
 public:
  UpSession(EventLoop& loop, Connection& connection, const UniqueFd& signals, UpPlan plan,
            const Environment& environment, absl::Status group)
      : loop_(loop),
        connection_(connection),
        signals_(signals),
        group_(std::move(group)),
        state_(plan.state),
        web_(plan.web_address),
        cluster_(loop, std::move(plan.daemons), environment.entries(),
                 {.ready = [this] { OnReady(); },
                  .tell = [](const std::string& line) { Say("muster up: " + line); },
                  .stopped = [this](const absl::Status& status) { OnStopped(status); }}) {}

  absl::StatusOr<int> Run() {
    RETURN_IF_ERROR(loop_.Watch(signals_.get(), EPOLLIN, [this](std::uint32_t) { OnSignals(); }));
    cluster_.Start();
    RETURN_IF_ERROR(loop_.Run());
    loop_.Unwatch(signals_.get());
    RETURN_IF_ERROR(result_);
    return 0;
  }

 private:
  void OnReady() {
    const absl::Status said = SayReady(connection_, group_);
    if (!said.ok()) {
      Say(absl::StrCat("ready, but the controller does not answer: ", std::string(said.message())));
    }
    if (!web_.empty()) {
      Say(absl::StrCat("page: ", web_, " — a link for your browser: muster web"));
    }
    SaySlurmNames(state_);
  }

  void OnSignals() {
    const absl::StatusOr<std::optional<SignalEvent>> event = NextSignal(signals_);
    if (!event.ok() || !event->has_value() || stopping_) {
      return;
    }
    stopping_ = true;
    const absl::StatusOr<ClusterStatus> status = connection_.Call(Ping{});
    running_ = status.ok() ? status->jobs_running : 0;
    cluster_.Stop();
  }

  void OnStopped(const absl::Status& status) {
    result_ = status;
    if (status.ok()) {
      Say(running_ == 0
              ? "stopped"
              : absl::StrCat("stopped; ", running_,
                             running_ == 1 ? " job runs on under its supervisor; the next \"muster "
                                             "up\" adopts it"
                                           : " jobs run on under their supervisors; the next "
                                             "\"muster up\" adopts them"));
    }
    loop_.Stop();
  }

  EventLoop& loop_;
  Connection& connection_;
  const UniqueFd& signals_;
  const absl::Status group_;
  const std::string state_;
  const std::string web_;  // the gateway's address; empty: there is none
  PersonalCluster cluster_;
  bool stopping_ = false;
  std::uint32_t running_ = 0;
  absl::Status result_ = absl::OkStatus();
};

// This invocation, for somebody else to make: the option that asked for that left out.
absl::StatusOr<std::vector<std::string>> CommandOf(const Invocation& invocation,
                                                   const std::string& state) {
  ASSIGN_OR_RETURN(const std::string program, SiblingProgram("muster"));
  std::vector<std::string> command = {program, "up", "--state", state};
  for (const auto& [name, value] : invocation.values) {
    if (name != "service" && name != "state") {
      command.push_back(absl::StrCat("--", name, value.empty() ? "" : "=", value));
    }
  }
  return command;
}

// --service: returns once all nodes are there.
absl::StatusOr<int> UpAsService(const Invocation& invocation, const UpOptions& options,
                                const UpPlan& plan) {
  { ASSIGN_OR_RETURN(const LockFile free, TakeState(plan)); }
  ASSIGN_OR_RETURN(const std::vector<std::string> command, CommandOf(invocation, plan.state));
  ASSIGN_OR_RETURN(const Address address, ParseAddress(plan.controller));
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection,
                   Connection::Open(address, {.changing = std::chrono::milliseconds(2'000),
                                              .reading = std::chrono::milliseconds(100)}));
  const auto ready = [&] {
    const absl::StatusOr<ClusterStatus> status = connection->Call(Ping{});
    return status.ok() && status->nodes_connected >= options.nodes;
  };
  const absl::StatusOr<UserManager> manager = UserManager::Find(invocation.environment);
  if (manager.ok()) {
    const std::string unit = UnitName(plan.state, invocation.environment);
    RETURN_IF_ERROR(StartUnit(*manager, unit,
                              UnitText(command, std::filesystem::current_path().string()), ready));
    Say(absl::StrCat(unit, ": started, and with each login; loginctl enable-linger keeps it when ",
                     "you log out"));
  } else {
    const std::string log = plan.state + "/log/up.log";
    RETURN_IF_ERROR(StartInBackground(command, invocation.environment, log, ready));
    Say(absl::StrCat("runs in the background, for ", std::string(manager.status().message()),
                     "; its log is ", log));
  }
  RETURN_IF_ERROR(SayReady(*connection, absl::OkStatus()));
  Say("muster down stops it");
  return 0;
}

absl::StatusOr<int> Up(const Invocation& invocation) {
  // Before gRPC starts its threads.
  ASSIGN_OR_RETURN(const UniqueFd signals, BlockSignals({SIGINT, SIGTERM, SIGHUP}));
  IgnoreBrokenPipes();
  ASSIGN_OR_RETURN(const UpOptions options, ReadUpOptions(invocation));
  ASSIGN_OR_RETURN(UpPlan plan, MakeUpPlan(options));
  if (invocation.Has("service")) {
    return UpAsService(invocation, options, plan);
  }
  ASSIGN_OR_RETURN(const LockFile lock, TakeState(plan));
  for (const std::string& directory : plan.directories) {
    RETURN_IF_ERROR(EnsurePrivateDirectory(directory));
  }
  ASSIGN_OR_RETURN(const UniqueFd web, OpenWeb(plan));
  // The named one is the agents' own affair.
  const bool named = !options.cgroup_root.empty();
  const absl::StatusOr<OwnGroup> group =
      named ? absl::StatusOr<OwnGroup>(OwnGroup()) : MakeOwnGroup(plan, invocation.environment);
  ASSIGN_OR_RETURN(const Address address, ParseAddress(plan.controller));
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection,
                   Connection::Open(address, {.changing = std::chrono::milliseconds(2'000),
                                              .reading = std::chrono::milliseconds(2'000)}));
  ASSIGN_OR_RETURN(const std::unique_ptr<EventLoop> loop, EventLoop::Create());
  UpSession session(*loop, *connection, signals, std::move(plan), invocation.environment,
                    group.status());
  return session.Run();
}

std::vector<Option> OptionsOfUp() {
  return {
      {.name = "nodes", .letter = 'N', .metavar = "N", .text = "How many nodes (default: 1)"},
      {.name = "topology",
       .letter = 0,
       .metavar = "LIST",
       .text = "hwloc XML files or synthetic descriptions, by commas"},
      {.name = "network",
       .letter = 0,
       .metavar = "FILE",
       .text =
           "The switches between the nodes, which it names: topology.conf, topology.yaml, TOML"},
      {.name = "features",
       .letter = 0,
       .metavar = "LIST",
       .text = "The nodes' features: a,b; or one list for each: 'a,b;c' (for submit --constraint)"},
      {.name = "gres",
       .letter = 0,
       .metavar = "LIST",
       .text = "Countable things of the nodes: scratch:4; or one list for each: 'a:1;b:2'"},
      {.name = "config",
       .letter = 0,
       .metavar = "FILE",
       .text =
           "The controller's settings, TOML: [policy], [licenses] NAME = COUNT, network = FILE"},
      {.name = "listen",
       .letter = 0,
       .metavar = "HOST:PORT",
       .text = "Also listen here, for further agents; with keys = \"DIR\" in --config"},
      {.name = "web",
       .letter = 0,
       .metavar = "",
       .text = "With the page, REST and metrics on this machine; prints where; see muster web"},
      {.name = "web-address",
       .letter = 0,
       .metavar = "HOST:PORT",
       .text = "The same, there: 127.0.0.1:7118 (default: a free port of 127.0.0.1)"},
      {.name = "service",
       .letter = 0,
       .metavar = "",
       .text = "Run it as a service of your systemd, or in the background; see muster down"},
      {.name = "cgroup-root",
       .letter = 0,
       .metavar = "DIR",
       .text = "Make jobs' control groups below this cgroup v2 directory (default: our own group)"},
      {.name = "state",
       .letter = 0,
       .metavar = "DIR",
       .text = "Where all state is kept (default: ~/.local/state/muster)"},
  };
}

}  // namespace

Verb UpVerb() {
  Verb verb;
  verb.name = "up";
  verb.purpose = "Run a personal cluster; Ctrl-C or muster down stops it";
  verb.examples = {"muster up",
                   "muster up --nodes 2",
                   "muster up --service",
                   "muster up --topology 'pack:2 numa:2 core:8 pu:2'",
                   "muster up --topology node.xml --network topology.conf",
                   "systemd-run --user --scope -p Delegate=yes muster up"};
  verb.remarks =
      "Needs no root and no configuration. --nodes divides this machine's cores; with --topology\n"
      "the nodes play other machines: placement is real, binding is recorded and not enforced.\n"
      "Jobs are held to their cores, memory and GPUs where control groups can be made: as root, "
      "or\n"
      "by systemd-run --user --scope -p Delegate=yes muster up. Where other processes are in its\n"
      "control group, as in a shell, it makes one for itself and its agents; where none can be "
      "made, it "
      "says\n"
      "why not.\n"
      "Jobs outlive a stop: their supervisors go on, and the next muster up adopts them.";
  verb.options = OptionsOfUp();
  verb.run = Up;
  return verb;
}

}  // namespace muster::cli
