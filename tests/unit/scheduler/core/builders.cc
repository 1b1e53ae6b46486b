#include "tests/unit/scheduler/core/builders.h"

namespace muster::core::testing {

Machine MakeMachine(const Shape& shape) {
  Machine machine;
  machine.source = "test";
  std::uint32_t next_cpu = 0;
  for (std::uint32_t n = 0; n < shape.numa; ++n) {
    NumaNode numa;
    numa.os_index = n;
    numa.memory = shape.memory;
    machine.memory += shape.memory;
    for (std::uint32_t c = 0; c < shape.cores; ++c) {
      Core core;
      core.os_index = static_cast<std::uint32_t>(machine.cores.size());
      core.numa = n;
      for (std::uint32_t t = 0; t < shape.threads; ++t) {
        core.cpus.Insert(next_cpu++);
      }
      numa.cpus |= core.cpus;
      machine.cores.push_back(std::move(core));
    }
    for (std::uint32_t g = 0; g < shape.gpus; ++g) {
      Gpu gpu;
      gpu.os_index = static_cast<std::uint32_t>(machine.gpus.size());
      gpu.uuid = absl::StrCat("GPU-", gpu.os_index);
      gpu.model = shape.gpu_model;
      gpu.numa = n;
      machine.gpus.push_back(std::move(gpu));
    }
    machine.numa_nodes.push_back(std::move(numa));
  }
  return machine;
}

NodeSnapshot MakeNode(std::uint32_t id, const Shape& shape) {
  NodeSnapshot node;
  node.id = NodeId(id);
  node.name = absl::StrCat("n", id);
  node.machine = std::make_shared<const Machine>(MakeMachine(shape));
  node.up = true;
  node.taken.gpus.resize(node.machine->gpus.size());
  return node;
}

std::shared_ptr<const Network> MakeNetwork(std::uint32_t nodes, std::uint32_t width) {
  auto network = std::make_shared<Network>();
  const std::uint32_t leaves = (nodes + width - 1) / width;
  network->switches.push_back({"root", SwitchKind::kSwitch, kNowhere, 2, {}});
  for (std::uint32_t spine = 0; 2 * spine < leaves; ++spine) {
    network->switches.push_back({absl::StrCat("spine", spine + 1), SwitchKind::kSwitch, 0, 1, {}});
  }
  const auto first = static_cast<std::uint32_t>(network->switches.size());
  for (std::uint32_t leaf = 0; leaf < leaves; ++leaf) {
    network->switches.push_back(
        {absl::StrCat("leaf", leaf + 1), SwitchKind::kSwitch, 1 + leaf / 2, 0, {}});
  }
  for (std::uint32_t node = 0; node < nodes; ++node) {
    network->nodes.push_back(
        {absl::StrCat("n", node + 1), first + node / width, kNowhere, kNowhere});
  }
  return network;
}

CpuSet Cpus(const std::string& list) {
  return *CpuSet::Parse(list);
}

JobSpec Normal(ResourceRequest request) {
  JobSpec spec;
  spec.user = User{1000, 1000, "ada"};
  spec.request = std::move(request);
  return *Normalise(spec, SchedulerConfig());
}

ResourceRequest Asks(ResourceRequest request) {
  return Normal(std::move(request)).request;
}

ResourceRequest Tasks(std::uint32_t tasks, std::uint32_t cpus_per_task) {
  ResourceRequest request;
  request.tasks = tasks;
  request.cpus_per_task = cpus_per_task;
  return request;
}

Time At(std::int64_t seconds) {
  return Time(std::chrono::seconds(seconds));
}

Program Script() {
  Program program;
  program.script = "#!/bin/sh\n";
  program.work_dir = "/";
  return program;
}

Program TrueProgram() {
  Program program;
  program.argv = {"/bin/true"};
  return program;
}

World::World() {
  Take(BeginEpoch{});
}
World::World(const World&) = default;
World::World(World&&) noexcept = default;
World& World::operator=(const World&) = default;
World& World::operator=(World&&) noexcept = default;
World::~World() = default;

Transition World::Take(const Command& command) {
  Transition transition = Handle(state, command, now, config);
  for (const Event& event : transition.events) {
    state.Apply(event);
    events.push_back(event);
    const std::optional<std::string> broken = BrokenInvariant(state);
    EXPECT_EQ(broken, std::nullopt) << *broken;
  }
  if (!transition.status.ok()) {
    EXPECT_TRUE(transition.events.empty() && transition.effects.empty())
        << "refused, yet it has an effect";
  }
  return transition;
}

Registration World::RegistrationOf(const std::string& name, const Shape& shape) {
  Registration registration;
  registration.name = name;
  registration.hostname = "host";
  registration.instance = "first";
  registration.boot_id = "boot1";
  registration.machine = MakeMachine(shape);
  return registration;
}

NodeId World::AddNode(const std::string& name, const Shape& shape) {
  return Take(RegisterAgent{RegistrationOf(name, shape)}).node;
}

JobSpec World::Spec(ResourceRequest request) const {
  JobSpec spec;
  spec.user = ada;
  spec.name = "test";
  spec.request = std::move(request);
  return spec;
}

JobId World::Submit(JobSpec spec) {
  const Program program = spec.kind == JobKind::kRun ? TrueProgram() : Script();
  const Transition transition =
      Take(SubmitJob{absl::StrCat("token", ++tokens_), std::move(spec), program});
  EXPECT_TRUE(transition.status.ok()) << transition.status;
  return transition.job;
}

JobId World::Submit(ResourceRequest request) {
  return Submit(Spec(std::move(request)));
}

Plan World::MakePlanNow() const {
  return MakePlan(*BuildSnapshot(state, now, nullptr, config.network), config);
}

Transition World::Schedule() {
  return Take(TakePlan{MakePlanNow()});
}

Transition World::Tell(NodeId node, JobId job, std::uint64_t index, Fact fact) {
  const Job* live = state.FindJob(job);
  const AttemptNumber attempt =
      live != nullptr && live->attempt.has_value() ? live->attempt->number : AttemptNumber(1);
  return Take(TakeReport{node, Report{job, attempt, index, std::move(fact)}});
}

Transition World::TellStarted(NodeId node, JobId job, std::uint64_t index) {
  RunStarted fact;
  fact.time = now;
  return Tell(node, job, index, fact);
}

Transition World::TellEnded(NodeId node, JobId job, std::uint64_t index, EndCause cause,
                            ExitStatus status) {
  RunEnded fact;
  fact.time = now;
  fact.cause = cause;
  fact.status = status;
  return Tell(node, job, index, fact);
}

JobState World::StateOf(JobId job) const {
  return state.FindJob(job)->state;
}

std::optional<JobEnded> World::EndOf(JobId job) const {
  for (const Event& event : events) {
    if (const auto* end = std::get_if<JobEnded>(&event);
        end != nullptr && end->job <= job && job.value() - end->job.value() <= end->more) {
      return *end;
    }
  }
  return std::nullopt;
}

Reason World::ReasonFor(JobId job) const {
  for (const LeftWaiting& left : MakePlanNow().waiting) {
    if (left.Has(job)) {
      return left.ReasonOf(job);
    }
  }
  return Reason();
}

}  // namespace muster::core::testing
