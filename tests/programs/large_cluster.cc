// A controller with very many nodes and jobs, for tests and measures of what reads it.
//
//   large_cluster STATE NODES GPUS JOBS [--switches] [--ready-fd N]
//
// The controller, its store, its services and its gateway's socket are the real ones; the agents
// are played: each start is reported as such, each order to end as an end. It serves
// STATE/controller.sock and STATE/gateway.sock until SIGTERM. With --switches the controller has a
// map: a rack of 40 nodes below one switch, five racks below another, all below one core.
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "daemon/access/token_store.h"
#include "daemon/agents/live_usage.h"
#include "daemon/client/client_service.h"
#include "daemon/controller/controller.h"
#include "daemon/controller/worker.h"
#include "daemon/door/acceptor.h"
#include "daemon/serve/server.h"
#include "daemon/store/accounting.h"
#include "daemon/store/job_store.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/file.h"
#include "scheduler/runtime/identity/signing_key.h"
#include "scheduler/runtime/log.h"
#include "scheduler/runtime/signals.h"

namespace muster {
namespace {

using daemon::Acceptor;
using daemon::Accounting;
using daemon::AgentGateway;
using daemon::ClientService;
using daemon::Controller;
using daemon::Gate;
using daemon::JobSecrets;
using daemon::JobStore;
using daemon::LiveUsage;
using daemon::Order;
using daemon::Server;
using daemon::StorePlace;
using daemon::TlsFiles;
using daemon::TokenStore;

constexpr std::uint32_t kCores = 64;
constexpr std::uint32_t kRack = 40;  // nodes

// Agents that do at once what they are ordered to.
class PlayedAgents final : public AgentGateway {
 public:
  void Use(Controller* controller) { controller_ = controller; }
  void Send(NodeId node, const Order& order) override {
    if (const auto* launch = std::get_if<LaunchOrder>(&order)) {
      RunStarted started;
      started.time = clock_.Now();
      started.pid = 1;
      Tell(node, launch->job, launch->attempt, 1, started);
    } else if (const auto* end = std::get_if<TerminateOrder>(&order)) {
      RunEnded ended;
      ended.time = clock_.Now();
      ended.cause = end->cause;
      Tell(node, end->job, end->attempt, 2, ended);
    }
  }
  void CloseAll() override {}
  std::vector<LoseAgent> TakeExpired() override { return {}; }

 private:
  void Tell(NodeId node, JobId job, AttemptNumber attempt, std::uint64_t index, Fact fact) {
    controller_->Take(TakeReport{node, Report{job, attempt, index, std::move(fact)}},
                      [](const core::Transition&, const absl::Status&) {});
  }
  const SystemClock clock_;
  Controller* controller_ = nullptr;
};

Machine MachineWith(std::uint32_t gpus) {
  Machine machine;
  machine.memory = Bytes(kGibibyte.value() * 512);
  for (std::uint32_t numa = 0; numa < 2; ++numa) {
    CpuSet cpus;
    for (std::uint32_t i = numa * kCores / 2; i < (numa + 1) * kCores / 2; ++i) {
      const CpuSet own = CpuSet::Of({i});
      machine.cores.push_back(Core{i, own, numa, kNowhere, kNowhere});
      cpus |= own;
    }
    machine.numa_nodes.push_back(NumaNode{numa, cpus, Bytes(kGibibyte.value() * 256)});
  }
  for (std::uint32_t i = 0; i < gpus; ++i) {
    Gpu gpu;
    gpu.os_index = i;
    gpu.uuid = absl::StrCat("GPU-", i);
    gpu.model = "H200";
    gpu.memory = Bytes(kGibibyte.value() * 141);
    gpu.numa = i < gpus / 2 ? 0 : 1;
    machine.gpus.push_back(std::move(gpu));
  }
  return machine;
}

// No more at once than the controller takes in.
absl::Status TakeAll(Controller& controller, std::vector<Command> commands) {
  constexpr std::size_t kAtOnce = 500;
  for (std::size_t begin = 0; begin < commands.size(); begin += kAtOnce) {
    const std::size_t end = std::min(commands.size(), begin + kAtOnce);
    std::promise<absl::Status> last;
    for (std::size_t i = begin; i < end; ++i) {
      controller.Take(
          std::move(commands[i]),
          [&last, is_last = i + 1 == end](const core::Transition&, const absl::Status& status) {
            if (!status.ok()) {
              std::fprintf(stderr, "large_cluster: %s\n", status.ToString().c_str());
            }
            if (is_last) {
              last.set_value(status);
            }
          });
    }
    RETURN_IF_ERROR(last.get_future().get());
  }
  return absl::OkStatus();
}

std::string NameOf(std::uint32_t node) {
  return absl::StrFormat("r%02d-n%02d", node / kRack + 1, node % kRack + 1);
}

std::shared_ptr<const Network> Switches(std::uint32_t nodes) {
  constexpr std::uint32_t kRacksOfPod = 5;
  Network network;
  const auto add = [&network](const std::string& name, std::uint32_t parent, std::uint32_t level) {
    NetworkSwitch made;
    made.name = name;
    made.parent = parent;
    made.level = level;
    network.switches.push_back(std::move(made));
    return static_cast<std::uint32_t>(network.switches.size() - 1);
  };
  const std::uint32_t core = add("core", kNowhere, 2);
  std::uint32_t pod = core;
  std::uint32_t rack = core;
  for (std::uint32_t i = 0; i < nodes; ++i) {
    if (i % (kRack * kRacksOfPod) == 0) {
      pod = add(absl::StrCat("pod", i / kRack / kRacksOfPod + 1), core, 1);
    }
    if (i % kRack == 0) {
      rack = add(absl::StrCat("rack", i / kRack + 1), pod, 0);
    }
    network.nodes.push_back(NetworkNode{NameOf(i), rack, kNowhere, kNowhere});
  }
  network.source = "large_cluster";
  return std::make_shared<const Network>(std::move(network));
}

std::vector<Command> Registrations(std::uint32_t nodes, std::uint32_t gpus) {
  std::vector<Command> commands;
  for (std::uint32_t i = 0; i < nodes; ++i) {
    RegisterAgent agent;
    agent.registration.name = NameOf(i);
    agent.registration.instance = "played";
    agent.registration.boot_id = "boot";
    agent.registration.machine = MachineWith(gpus);
    commands.emplace_back(std::move(agent));
  }
  return commands;
}

// Jobs of a few users and kinds; more than fit, so that many wait.
std::vector<Command> Submissions(std::uint32_t jobs, std::uint32_t gpus) {
  static constexpr const char* kUsers[] = {"ada",  "bob", "chen", "dora",
                                           "emil", "fay", "gus",  "hana"};
  static constexpr const char* kNames[] = {"train-llm",         "solver",      "sweep",
                                           "preprocess",        "<b>bold</b>", "fold\u202etxt",
                                           "render \U0001F525", "eval"};
  std::vector<Command> commands;
  for (std::uint32_t i = 0; i < jobs; ++i) {
    SubmitJob job;
    job.token = absl::StrFormat("%032x", i + 1);
    job.spec.name = kNames[i % std::size(kNames)];
    job.spec.user = User{1000 + i % 8, 1000, kUsers[(i / 3) % std::size(kUsers)]};
    job.spec.time_limit = std::chrono::minutes(30 + 45 * (i % 20));
    job.spec.request.min_nodes = job.spec.request.max_nodes = i % 50 == 0 ? 8 : 1;
    job.spec.request.tasks = job.spec.request.min_nodes * (1 + i % 4);
    job.spec.request.cpus_per_task = 4;
    if (gpus > 0 && i % 3 != 0) {
      job.spec.request.gpus_per_node.count = 1 + i % 4;
    }
    job.program.script = "#!/bin/sh\n";
    job.program.argv = {job.spec.name};
    job.program.work_dir = "/";
    commands.emplace_back(std::move(job));
  }
  return commands;
}

// What each node's agent would tell of its GPUs, once.
void TellOfGpus(Controller& controller, std::uint32_t gpus, LiveUsage& usage) {
  std::promise<std::vector<NodeId>> asked;
  controller.Look([&asked](const daemon::StateView& snapshot) -> Controller::Reply {
    std::vector<NodeId> nodes;
    for (const auto& [id, node] : snapshot.state().nodes()) {
      nodes.push_back(id);
    }
    return [&asked, nodes](const absl::Status&) { asked.set_value(nodes); };
  });
  for (const NodeId node : asked.get_future().get()) {
    std::vector<daemon::GpuSample> samples(gpus);
    for (std::uint32_t i = 0; i < gpus; ++i) {
      const std::uint64_t number = node.value() * 8U + i;
      samples[i].gpu = absl::StrCat("GPU-", i);
      samples[i].uncorrected_ecc = number % 997 == 0 ? 1 : 0;
      samples[i].corrected_ecc = number % 89;
      samples[i].xids = number % 499 == 0 ? 1 : 0;
      samples[i].memory_used = Bytes((number * 7919 % 141) * kGibibyte.value() + number);
      samples[i].power_mw = 70'000 + number * 131 % 630'000;
      samples[i].celsius = static_cast<int>(30 + number % 50);
      samples[i].busy_percent = static_cast<std::uint32_t>(number * 37 % 101);
    }
    usage.TakeGpus(node, samples, Time());
  }
}

absl::Status Serve(const std::string& state, std::uint32_t nodes, std::uint32_t gpus,
                   std::uint32_t jobs, bool switches, int ready_fd) {
  const SystemClock clock;
  const Logger log(clock, STDERR_FILENO, LogLevel::kWarning, false);
  ASSIGN_OR_RETURN(const UniqueFd signals, BlockSignals({SIGTERM, SIGINT}));
  RETURN_IF_ERROR(EnsurePrivateDirectory(state));
  const std::string directory = state + "/controller";
  ASSIGN_OR_RETURN(const std::unique_ptr<JobStore> store, JobStore::Open(directory));
  ASSIGN_OR_RETURN(const std::unique_ptr<Accounting> accounting, Accounting::Open(*store));
  ASSIGN_OR_RETURN(const auto tokens, TokenStore::Open(directory, "large", clock));
  Acceptor acceptor(log, clock);
  const Gate gate(log, "", nullptr, 0, &acceptor, nullptr, tokens.get());
  PlayedAgents agents;
  SchedulerConfig config;
  config.network = switches ? Switches(nodes) : nullptr;
  Controller controller(*store, agents, clock, log, {config, "large", {}});
  agents.Use(&controller);
  RETURN_IF_ERROR(controller.Start());
  RETURN_IF_ERROR(TakeAll(controller, Registrations(nodes, gpus)));
  RETURN_IF_ERROR(TakeAll(controller, Submissions(jobs, gpus)));
  LiveUsage usage;
  TellOfGpus(controller, gpus, usage);
  ClientService clients(controller, *accounting, *store, {"large", gate, usage, tokens.get()});
  ASSIGN_OR_RETURN(const std::unique_ptr<Server> server,
                   Server::Start(acceptor, {{absl::StrCat("unix:", state, "/controller.sock")},
                                            {},
                                            {&clients},
                                            {},
                                            nullptr,
                                            absl::StrCat("unix:", state, "/gateway.sock")}));
  if (ready_fd >= 0) {
    [[maybe_unused]] const ssize_t written = write(ready_fd, "ready\n", 6);
    close(ready_fd);
  }
  while (true) {
    ASSIGN_OR_RETURN(const auto event, NextSignal(signals));
    if (event.has_value()) {
      break;
    }
    usleep(50'000);
  }
  server->Stop();
  controller.Stop();
  return absl::OkStatus();
}

}  // namespace
}  // namespace muster

int main(int argc, char** argv) {
  muster::KeepOpenSslToTheEnd();
  if (argc < 5) {
    std::fputs("usage: large_cluster STATE NODES GPUS JOBS [--switches] [--ready-fd N]\n", stderr);
    return 2;
  }
  muster::IgnoreBrokenPipes();
  const auto number = [argv](int i) {
    return static_cast<std::uint32_t>(std::strtoul(argv[i], nullptr, 10));
  };
  const bool switches = argc > 5 && std::string_view(argv[5]) == "--switches";
  const int fd = switches ? 7 : 6;
  const int ready_fd = argc > fd ? std::atoi(argv[fd]) : -1;
  const absl::Status status =
      muster::Serve(argv[1], number(2), number(3), number(4), switches, ready_fd);
  if (!status.ok()) {
    std::fprintf(stderr, "large_cluster: %s\n", status.ToString().c_str());
    return 1;
  }
  return 0;
}
