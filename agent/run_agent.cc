#include "agent/run_agent.h"

#include <grpc/grpc.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "agent/agent.h"
#include "agent/attempts/place/memory_place.h"
#include "agent/gpu_division.h"
#include "agent/node/container_feature.h"
#include "agent/node/criu_feature.h"
#include "agent/node/discovered_features.h"
#include "agent/node/faults/kernel_xid_meter.h"
#include "agent/node/faults/kernel_xids.h"
#include "agent/node/files/mount_counters.h"
#include "agent/node/network/fabric_ports.h"
#include "agent/node/usage_sampler.h"
#include "agent/supervisor/attempt/container_order.h"
#include "agent/supervisor/criu/criu_run.h"
#include "agent/supervisor/image/cache/image_facts.h"
#include "agent/supervisor/launch/pam_session.h"
#include "agent/supervisor/limits/device_filter.h"
#include "agent/supervisor/user_space/peer_address.h"
#include "scheduler/base/status.h"
#include "scheduler/model/machine/gpu_positions.h"
#include "scheduler/model/machine/mig.h"
#include "scheduler/runtime/cgroup/cgroup_tree.h"
#include "scheduler/runtime/event_loop.h"
#include "scheduler/runtime/file.h"
#include "scheduler/runtime/identity/certificate.h"
#include "scheduler/runtime/identity/expiry_watch.h"
#include "scheduler/runtime/identity/private_file.h"
#include "scheduler/runtime/process.h"
#include "scheduler/runtime/signals.h"
#include "topology/cpu_energy_meter.h"
#include "topology/gpu/gpu_meter.h"
#include "topology/gpu/libraries.h"

namespace muster::agent {
namespace {

constexpr const char* kStartComponent = "agent";
// As much of the instance as keeps agents of one name on one machine apart.
constexpr std::size_t kInstanceDigits = 8;
constexpr Duration kCriuTrialLimit = std::chrono::seconds(10);

void AnnounceReady(int fd) {
  constexpr std::string_view kReady = "ready\n";
  if (fd >= 0) {
    if (write(fd, kReady.data(), kReady.size()) < 0) {
      return;  // nobody waits any more
    }
    close(fd);
  }
}

// A script that is not right yet drains the node at the first job, so it is told now.
void WarnOfScripts(const SiteScripts& scripts, const Logger& log) {
  for (const SiteScript* script :
       {&scripts.prolog, &scripts.epilog, &scripts.step_prolog, &scripts.step_epilog}) {
    const absl::Status status =
        script->given() ? CheckSiteScript(script->program) : absl::OkStatus();
    if (!status.ok()) {
      log.Warning(kStartComponent,
                  absl::StrCat(std::string(status.message()),
                               "; until that is mended the first job drains this node"));
    }
  }
}

// What happens to the agent from outside, on its loop.
class Outside {
 public:
  // What a reload changes, and that readiness was announced, stands in `options` then.
  Outside(AgentOptions& options, const ServiceManager& manager, EventLoop& loop, const Clock& clock,
          const Logger& log)
      : options_(options),
        manager_(manager),
        loop_(loop),
        clock_(clock),
        log_(log),
        expiry_(options.tls.certificate, clock.Now()) {}

  // At each welcome of the controller's.
  void Ready(const std::string& status) {
    AnnounceReady(std::exchange(options_.ready_fd, -1));
    manager_.Ready(status);
  }

  // Stops the loop at SIGTERM and SIGINT; reads the file again at SIGHUP.
  void TakeSignals(const UniqueFd& signals) {
    while (const std::optional<SignalEvent> signal = TakeSignal(signals)) {
      if (signal->number == SIGHUP) {
        Reload();
        continue;
      }
      log_.Info(kStartComponent, absl::StrCat("stopping at signal ", signal->number,
                                              "; jobs go on under their supervisors"));
      manager_.Stopping();
      stopping_ = true;
      loop_.Stop();
    }
  }

  // From now on, while the loop runs.
  void ProveLife() {
    if (manager_.feed_every().count() > 0) {
      manager_.Alive();
      loop_.RunAfter(manager_.feed_every(), [this] { ProveLife(); });
    }
  }

  // The same, once a day, of a certificate that ends soon.
  void WatchExpiry() {
    if (const std::string warning = expiry_.Look(clock_.Now()); !warning.empty()) {
      log_.Warning(kStartComponent, warning);
    }
    loop_.RunAfter(std::chrono::hours(1), [this] { WatchExpiry(); });
  }

  void Serve(Agent& agent) { agent_ = &agent; }
  [[nodiscard]] bool stopping() const { return stopping_; }  // by a signal

 private:
  void Reload() {
    AgentOptions read;
    const absl::Status status = options_.file.empty()
                                    ? absl::FailedPreconditionError("there is no --config to read")
                                    : ReadAgentFile(options_.file, read);
    if (!status.ok()) {
      log_.Error(kStartComponent, absl::StrCat("SIGHUP: ", std::string(status.message()),
                                               "; the old settings stay in force"));
      return;
    }
    log_.Info(kStartComponent,
              absl::StrCat("SIGHUP: features, weight and scripts of ", options_.file,
                           " are in force; other changes need a restart"));
    WarnOfScripts(read.scripts, log_);
    manager_.Reloading();  // until the controller has heard, which is Ready's word
    agent_->Reconfigure(read.features, read.weight, read.scripts);
    options_.features = std::move(read.features);
    options_.weight = read.weight;
    options_.scripts = std::move(read.scripts);
  }

  AgentOptions& options_;
  const ServiceManager& manager_;
  EventLoop& loop_;
  const Clock& clock_;
  const Logger& log_;
  ExpiryWatch expiry_;
  Agent* agent_ = nullptr;
  bool stopping_ = false;
};

// Whether the keys are there, ours alone, and this node's; tells when they are to be replaced.
absl::Status CheckKeys(const AgentOptions& options, const Clock& clock, const Logger& log) {
  if (options.tls.empty()) {
    return absl::OkStatus();
  }
  HideMemory();
  if (const absl::Status key = ReadPrivateFile(options.tls.key).status(); !key.ok()) {
    return absl::IsNotFound(key)
               ? absl::NotFoundError(
                     absl::StrCat(std::string(key.message()), "; ", HowToMakeKeys(options.name)))
               : key;
  }
  RETURN_IF_ERROR(ReadFile(options.tls.authority).status());
  ASSIGN_OR_RETURN(const std::string certificate, ReadFile(options.tls.certificate));
  const absl::StatusOr<CertificateFacts> facts = ReadCertificate(certificate);
  if (!facts.ok()) {
    return absl::FailedPreconditionError(absl::StrCat(options.tls.certificate, ": ",
                                                      std::string(facts.status().message()),
                                                      " agent ", options.name));
  }
  if (facts->subject != CertificateSubject{CertificateRole::kAgent, options.name}) {
    return absl::FailedPreconditionError(
        absl::StrCat(options.tls.certificate, ": the certificate of ", ToText(facts->subject),
                     ", and this is node ", options.name, "; use its own (muster keys agent ",
                     options.name, "), or --name"));
  }
  const std::string warning = ExpiryWarning(*facts, clock.Now());
  if (!warning.empty()) {
    log.Warning(kStartComponent, warning);
  }
  return absl::OkStatus();
}

AttemptCgroups MakeCgroups(const AgentOptions& options, const StateDirectory& state,
                           LimitSet* limits) {
  absl::StatusOr<AttemptCgroups> cgroups = AttemptCgroups::Make(
      absl::StrCat(options.name, "-", state.instance().substr(0, kInstanceDigits)),
      options.cgroup_root);
  if (!cgroups.ok()) {
    *limits = NoLimits(std::string(cgroups.status().message()));
    return {};
  }
  *limits = cgroups->limits();
  return *std::move(cgroups);
}

// Of a machine with GPUs: which files are theirs, if the kernel lets us guard them.
void AddDevices(const Machine& machine, bool grouped, NodeLimits* limits) {
  limits->devices = topology::FindGpuDevices(machine, "/");
  if (limits->devices.empty()) {
    return;
  }
  const absl::Status can =
      grouped ? CheckDeviceFilter() : absl::FailedPreconditionError("no control groups");
  if (can.ok()) {
    limits->held.emplace_back("devices");
  } else {
    limits->missing.push_back({"devices", std::string(can.message())});
  }
}

// Jobs are held to the huge pages that they asked for, where the node has pools of such.
void AddHugePages(const Machine& machine, NodeLimits* limits) {
  constexpr const char* kController = "hugetlb";
  for (const GresCount& gres : machine.gres) {
    if (IsHugePages(gres)) {
      limits->huge_pages.push_back(gres.name);
    }
  }
  if (limits->huge_pages.empty()) {
    std::erase(limits->held, kController);
  } else if (!limits->Holds(kController)) {
    limits->missing.push_back({kController, "its control group does not offer it"});
  }
}

// Where attempts' directories may lie in memory. On a cluster they stay on the disk: other users
// own files in them, and could fill what the whole machine needs. So they do with a private /tmp,
// which lies there, too.
std::string MemoryFor(const AgentOptions& options) {
  if (!options.tls.empty() || options.private_tmp) {
    return "";
  }
  const char* runtime = getenv("XDG_RUNTIME_DIR");  // NOLINT(concurrency-mt-unsafe): before threads
  return FindMemory(geteuid(), runtime == nullptr ? "" : runtime).value_or("");
}

// Where MPS's daemons have their directories; empty: none is started.
std::string MpsPlace(const AgentOptions& options, const Machine& machine) {
  const bool any = std::any_of(machine.gpus.begin(), machine.gpus.end(),
                               [](const Gpu& gpu) { return gpu.vendor == GpuVendor::kNvidia; });
  if (!options.mps || !machine.enforced || !machine.mps.empty() || !any) {
    return "";
  }
  // NOLINTBEGIN(concurrency-mt-unsafe): before threads
  const char* const path = getenv("PATH");
  const char* const runtime = getenv("XDG_RUNTIME_DIR");
  // NOLINTEND(concurrency-mt-unsafe)
  return MpsBase(options.name, path == nullptr ? "" : path, runtime == nullptr ? "" : runtime);
}

absl::StatusOr<StateDirectory> OpenState(const AgentOptions& options, const Logger& log) {
  ASSIGN_OR_RETURN(StateDirectory state, StateDirectory::Open(options.state, MemoryFor(options)));
  if (!state.loss().empty()) {
    log.Error(kStartComponent, state.loss());
  }
  return state;
}

// What jobs here are held to. A machine that is only played is none to hold anybody to.
NodeLimits MakeLimits(const AgentOptions& options, const Machine& machine, bool grouped,
                      LimitSet set) {
  if (!machine.enforced) {
    return {NoLimits(machine.why_not_enforced), 0, 0, {}, {}};
  }
  NodeLimits limits{std::move(set), options.pids, options.memory_high, {}, {}};
  AddDevices(machine, grouped, &limits);
  AddHugePages(machine, &limits);
  return limits;
}

// The path of a CRIU that works on this node; "" with a line in the log where one does not.
std::string WorkingCriu(const AgentOptions& options, const Logger& log) {
  const char* const path = getenv("PATH");  // NOLINT(concurrency-mt-unsafe): before threads
  // With keys the jobs are those of ordinary users, without them our own.
  const bool as_user = geteuid() == 0 && !options.tls.empty();
  CriuFound found = FindCriu(path == nullptr ? "" : path, FindCriuProgram(options.supervisor),
                             as_user, kCriuTrialLimit);
  if (options.private_tmp && !found.path.empty()) {
    found = {"", "it cannot save files that were opened outside a private /tmp (private_tmp)"};
  }
  if (!found.why_not.empty()) {
    log.Warning(kStartComponent,
                absl::StrCat("no --checkpoint-with=criu on this node: ", found.why_not));
  }
  return found.path;
}

// Adds NAME=VALUE, unless the value is empty.
void AddVariable(std::string_view name, const std::string& value,
                 std::vector<std::string>* environment) {
  if (!value.empty()) {
    environment->push_back(absl::StrCat(std::string(name), "=", value));
  }
}

// What jobs in containers have here; without a runtime, with a line in the log, there are none.
ContainerSettings WorkingContainers(const AgentOptions& options, const Logger& log) {
  ContainerSettings settings = options.containers;
  ContainersFound found =
      FindContainers(settings.runtime, FindContainerProgram(options.supervisor));
  if (found.runtime.empty()) {
    log.Info(kStartComponent, absl::StrCat("no containers on this node: ", found.why_not));
  }
  settings.runtime = std::move(found.runtime);
  settings.one_machine = IsOneMachine(options.controller);
  if (settings.cache.empty()) {
    settings.cache = options.state + "/images";
  }
  return settings;
}

// Where copies of data are made here, and by what; without a program there are none.
StagingSettings WorkingStaging(const AgentOptions& options) {
  StagingSettings settings = options.staging;
  const std::string muster =
      options.supervisor.substr(0, options.supervisor.rfind('/') + 1) + "muster";
  const bool works = settings.size > 0 && !FindContainerProgram(options.supervisor).empty() &&
                     access(muster.c_str(), X_OK) == 0;
  settings.program = works ? muster : "";
  if (settings.cache.empty()) {
    settings.cache = options.state + "/staged";
  }
  return settings;
}

// What counts for a whole machine, on which several agents may play nodes.
void AddNodeCounters(const Machine& machine, UsageSampler::Sources* sources) {
  if (machine.enforced) {
    sources->fabric = kFabricPorts;
    sources->debug = kKernelDebug;
  }
}

// What measures the GPUs here, and hears of NVIDIA's what the kernel's log tells, too, where it can
// be read; null: nothing does.
std::unique_ptr<topology::GpuMeter> OpenMeter(const Logger& log) {
  std::unique_ptr<topology::GpuMeter> meter = topology::OpenGpuMeter();
  const std::vector<topology::GpuReading> gpus =
      meter == nullptr ? std::vector<topology::GpuReading>() : meter->Glance();
  if (std::none_of(gpus.begin(), gpus.end(), [](const auto& gpu) { return !gpu.pci.empty(); })) {
    return meter;
  }
  const char* const chosen = getenv("MUSTER_KERNEL_LOG");  // NOLINT(concurrency-mt-unsafe)
  absl::StatusOr<KernelXids> xids = KernelXids::Open(chosen == nullptr ? kKernelLog : chosen);
  if (!xids.ok()) {
    log.Info(kStartComponent, absl::StrCat(std::string(xids.status().message()),
                                           "; XID errors of GPUs are heard by NVML alone"));
    return meter;
  }
  return std::make_unique<KernelXidMeter>(std::move(meter), *std::move(xids));
}

// What the node finds in itself, by what jobs can have here.
std::vector<std::string> FindFeatures(const Machine& machine, const Attempts::Config& attempts,
                                      bool criu) {
  return DiscoveredFeatures(machine, FlagsOfThisProcessor(),
                            {.gpu_aware_mpi = HasGpuAwareMpi(""),
                             .criu = criu,
                             .containers = !attempts.containers.runtime.empty(),
                             .machine = OwnArchitecture(),
                             .staging = !attempts.staging.program.empty()});
}

}  // namespace

// What kernels keep between two runs lies in the agent's own directory.
HealthCheck::Config HealthConfig(const AgentOptions& options, const Machine& machine) {
  HealthCheck::Config config;
  const std::string cache = "XDG_CACHE_HOME=";
  for (const std::string& entry : options.environment) {
    if (entry.rfind(cache, 0) != 0 && entry.rfind("OMP_", 0) != 0) {
      config.environment.push_back(entry);
    }
  }
  config.environment.push_back(absl::StrCat(cache, options.state, "/cache"));
  config.program = options.kernels + "/health";
  config.cpus = machine.enforced ? AllCpus(machine) : CpuSet();
  config.reboot = options.reboot;
  return config;
}

namespace {

// What one machine after another has in common.
Agent::Config MakeConfig(const AgentOptions& options, const Machine& machine,
                         const AttemptCgroups& cgroups, const Logger& log) {
  Agent::Config config;
  config.name = options.name;
  config.hostname = options.hostname;
  config.module_dir = options.module_dir;
  const std::string criu = machine.enforced ? WorkingCriu(options, log) : "";
  config.attempts.containers = WorkingContainers(options, log);
  config.attempts.network = options.network;
  config.attempts.staging = WorkingStaging(options);
  config.ahead = options.ahead;
  config.attempts.mps_base = MpsPlace(options, machine);
  config.discovered = FindFeatures(machine, config.attempts, !criu.empty());
  config.link = {.address = options.controller, .tls = options.tls, .node = options.name};
  config.users = {geteuid(), options.min_uid, !options.tls.empty()};
  config.attempts.supervisor = options.supervisor;
  config.attempts.environment = options.environment;
  AddVariable(kSupervisorsGroup, cgroups.aside(), &config.attempts.environment);
  AddVariable(kCriuPath, criu, &config.attempts.environment);
  AddVariable(kPamService, options.pam_service, &config.attempts.environment);
  config.attempts.cgroups = cgroups;
  config.attempts.private_tmp = options.private_tmp;
  config.sources.gpu_jobs = options.gpu_jobs;
  AddNodeCounters(machine, &config.sources);
  config.sample_every = options.sample_interval;
  config.health = HealthConfig(options, machine);
  return config;
}

// What outlives one agent on a machine whose GPUs are divided.
struct Surroundings {
  AgentOptions& options;
  const ServiceManager& manager;
  const Clock& clock;
  const Logger& log;
  const UniqueFd& signals;
  StateDirectory& state;
};

// One agent, on a loop of its own, until that is stopped. Nothing: not for a division.
absl::StatusOr<std::optional<Agent::Division>> ServeMachine(const Surroundings& around,
                                                            Agent::Config config,
                                                            NodeLimits limits) {
  ASSIGN_OR_RETURN(const std::unique_ptr<EventLoop> loop, EventLoop::Create());
  Outside outside(around.options, around.manager, *loop, around.clock, around.log);
  config.machine.limits = ToText(limits);
  around.log.Info(kStartComponent, absl::StrCat("limits: ", config.machine.limits));
  config.attempts.limits = std::move(limits);
  config.features = around.options.features;
  config.weight = around.options.weight;
  config.attempts.scripts = around.options.scripts;
  config.ready = [&outside](const std::string& status) { outside.Ready(status); };
  const bool metered = config.machine.enforced && !config.machine.gpus.empty();
  const std::unique_ptr<topology::GpuMeter> meter = metered ? OpenMeter(around.log) : nullptr;
  const std::unique_ptr<topology::CpuEnergyMeter> cpu_meter = topology::CpuEnergyMeter::Open();
  config.sources.gpus = meter.get();
  config.sources.cpus = cpu_meter.get();
  Agent agent(*loop, around.clock, around.log, around.state, std::move(config));
  outside.Serve(agent);
  RETURN_IF_ERROR(loop->Watch(around.signals.get(), EPOLLIN,
                              [&](std::uint32_t) { outside.TakeSignals(around.signals); }));
  RETURN_IF_ERROR(agent.Start());
  around.manager.Status(absl::StrCat("waiting for the controller at ", around.options.controller));
  outside.ProveLife();
  outside.WatchExpiry();
  RETURN_IF_ERROR(loop->Run());
  RETURN_IF_ERROR(agent.outcome().status);
  return outside.stopping() ? std::nullopt : agent.outcome().division;
}

void LogDivision(const LayoutOrder& order, const LayoutReport& report, const Logger& log) {
  const std::string what =
      absl::StrCat("GPU ", order.gpu, " divided into ", InstancesText(order.instances));
  if (report.text.empty()) {
    log.Info(kStartComponent, what);
  } else {
    log.Error(kStartComponent, absl::StrCat(what, ": not done: ", report.text));
  }
}

// The machine, with its GPUs where they were when one of them was divided.
absl::StatusOr<Machine> FindAgain(const MachineFinder& find_machine, const StateDirectory& state,
                                  DivisionRecord& record) {
  ASSIGN_OR_RETURN(Machine machine, find_machine());
  if (!machine.enforced) {
    machine.mig.clear();
  }
  if (record.last.number != 0) {
    KeepGpuPositions(record.gpus, machine);
    record.gpus = GpuOrder(machine);
    RETURN_IF_ERROR(WriteDivision(state.path(), record));
  }
  return machine;
}

}  // namespace

absl::Status RunAgent(const AgentOptions& options, const MachineFinder& find_machine,
                      const ServiceManager& manager, const Clock& clock, const Logger& log) {
  IgnoreBrokenPipes();
  ASSIGN_OR_RETURN(const UniqueFd signals, BlockSignals({SIGTERM, SIGINT, SIGHUP}));
  RETURN_IF_ERROR(CheckKeys(options, clock, log));
  ASSIGN_OR_RETURN(StateDirectory state, OpenState(options, log));
  DivisionRecord record = ReadDivision(state.path());
  ASSIGN_OR_RETURN(Machine machine, FindAgain(find_machine, state, record));
  LimitSet set;
  const AttemptCgroups cgroups = MakeCgroups(options, state, &set);
  Agent::Config config = MakeConfig(options, machine, cgroups, log);
  WarnOfScripts(options.scripts, log);
  AgentOptions own = options;
  const Surroundings around{own, manager, clock, log, signals, state};
  // gRPC waits at its end for threads that it could not make; so it does not end before we do.
  grpc_init();
  absl::StatusOr<std::optional<Agent::Division>> division;
  while (true) {
    config.machine = machine;
    config.layout = record.last;
    division = ServeMachine(around, config,
                            MakeLimits(options, machine, !cgroups.PathFor("").empty(), set));
    if (!division.ok() || !division->has_value()) {
      break;
    }
    record.gpus = GpuOrder(machine);
    record.last = Divide(machine, (*division)->order, (*division)->refused);
    LogDivision((*division)->order, record.last, log);
    ASSIGN_OR_RETURN(machine, FindAgain(find_machine, state, record));
  }
  cgroups.RemoveIfEmpty();
  state.Fold();
  return division.status();
}

}  // namespace muster::agent
