#pragma once

// Builders: machines, requests and small clusters for the tests of the core, in few words.
//
// Thread promise: plain values and one-threaded helpers. Invariants: World applies every event that
// Step gives and checks the state's invariants after each.

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/core/cluster_state.h"
#include "scheduler/core/invariants.h"
#include "scheduler/core/planner.h"
#include "scheduler/core/snapshot_builder.h"
#include "scheduler/core/step.h"
#include "scheduler/core/validate.h"
#include "scheduler/model/fingerprint.h"

namespace muster::testing {

// A regular machine: NUMA nodes of `cores` cores with `threads` threads and `gpus` GPUs each.
struct Shape {
  std::uint32_t numa = 1;
  std::uint32_t cores = 4;
  std::uint32_t threads = 1;
  std::uint32_t gpus = 0;
  Bytes memory = kGibibyte * 8;  // of each NUMA node
  std::string gpu_model = "NVIDIA A100-SXM4-40GB";
};

// Threads are numbered core by core: core c of the machine has threads c*threads ….
inline Machine MakeMachine(const Shape& shape) {
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

inline NodePicture MakeNode(std::uint32_t id, const Shape& shape) {
  NodePicture node;
  node.id = NodeId(id);
  node.name = absl::StrCat("n", id);
  node.machine = std::make_shared<const Machine>(MakeMachine(shape));
  node.up = true;
  node.taken.gpus.resize(node.machine->gpus.size());
  return node;
}

// n1, n2, … below leaf switches of `width` nodes each, every two leaves below a spine, all below one
// root.
inline std::shared_ptr<const Network> MakeNetwork(std::uint32_t nodes, std::uint32_t width) {
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

inline CpuSet Cpus(const std::string& list) {
  return *CpuSet::Parse(list);
}

inline JobSpec Normal(ResourceRequest request) {
  JobSpec spec;
  spec.user = User{1000, 1000, "ada"};
  spec.request = std::move(request);
  return *Normalise(spec, PolicyConfig());
}

// What Normalise makes of a request.
inline ResourceRequest Asks(ResourceRequest request) {
  return Normal(std::move(request)).request;
}

inline ResourceRequest Tasks(std::uint32_t tasks, std::uint32_t cpus_per_task = 1) {
  ResourceRequest request;
  request.tasks = tasks;
  request.cpus_per_task = cpus_per_task;
  return request;
}

inline Time At(std::int64_t seconds) {
  return Time(std::chrono::seconds(seconds));
}

inline Program Script() {
  Program program;
  program.script = "#!/bin/sh\n";
  program.work_dir = "/";
  return program;
}

inline Program Command() {
  Program program;
  program.argv = {"/bin/true"};
  return program;
}

// A cluster that takes inputs one after the other, as the controller's loop does.
class World {
 public:
  ClusterState state;
  std::vector<Event> events;
  PolicyConfig config;
  Time now = At(1000);

  World() { Take(BeginEpoch{}); }

  Turn Take(const Input& input) {
    Turn turn = Step(state, input, now, config);
    for (const Event& event : turn.events) {
      state.Apply(event);
      events.push_back(event);
      const std::optional<std::string> broken = BrokenInvariant(state);
      EXPECT_EQ(broken, std::nullopt) << *broken;
    }
    if (!turn.status.ok()) {
      EXPECT_TRUE(turn.events.empty() && turn.effects.empty()) << "refused, yet it has an effect";
    }
    return turn;
  }

  static Registration RegistrationOf(const std::string& name, const Shape& shape) {
    Registration registration;
    registration.name = name;
    registration.hostname = "host";
    registration.instance = "first";
    registration.boot_id = "boot1";
    registration.machine = MakeMachine(shape);
    return registration;
  }

  NodeId AddNode(const std::string& name, const Shape& shape = Shape()) {
    return Take(RegisterAgent{RegistrationOf(name, shape)}).node;
  }

  JobSpec Spec(ResourceRequest request) const {
    JobSpec spec;
    spec.user = ada;
    spec.name = "test";
    spec.request = std::move(request);
    return spec;
  }

  JobId Submit(JobSpec spec) {
    const Program program = spec.kind == JobKind::kRun ? Command() : Script();
    const Turn turn = Take(SubmitJob{absl::StrCat("token", ++tokens_), std::move(spec), program});
    EXPECT_TRUE(turn.status.ok()) << turn.status;
    return turn.job;
  }
  JobId Submit(ResourceRequest request) { return Submit(Spec(std::move(request))); }

  Plan MakePlanNow() const {
    return MakePlan(*BuildSnapshot(state, now, nullptr, config.network), config);
  }
  // Plans and starts what can start.
  Turn Schedule() { return Take(TakePlan{MakePlanNow()}); }

  Turn Tell(NodeId node, JobId job, std::uint64_t index, Fact fact) {
    const Job* live = state.FindJob(job);
    const AttemptNumber attempt =
        live != nullptr && live->attempt.has_value() ? live->attempt->number : AttemptNumber(1);
    return Take(TakeReport{node, Report{job, attempt, index, std::move(fact)}});
  }
  Turn TellStarted(NodeId node, JobId job, std::uint64_t index = 1) {
    RunStarted fact;
    fact.time = now;
    return Tell(node, job, index, fact);
  }
  Turn TellEnded(NodeId node, JobId job, std::uint64_t index, EndCause cause = EndCause::kExited,
                 ExitStatus status = ExitStatus()) {
    RunEnded fact;
    fact.time = now;
    fact.cause = cause;
    fact.status = status;
    return Tell(node, job, index, fact);
  }

  JobState StateOf(JobId job) const { return state.FindJob(job)->state; }
  // How the job ended; nothing while it has not.
  std::optional<JobEnded> EndOf(JobId job) const {
    for (const Event& event : events) {
      if (const auto* end = std::get_if<JobEnded>(&event); end != nullptr && end->job <= job && job.value() - end->job.value() <= end->more) {
        return *end;
      }
    }
    return std::nullopt;
  }
  Reason ReasonFor(JobId job) const {
    for (const LeftWaiting& left : MakePlanNow().waiting) {
      if (left.Has(job)) {
        return left.ReasonOf(job);
      }
    }
    return Reason();
  }

  User ada{1000, 1000, "ada"};
  User bob{1001, 1001, "bob"};

 private:
  int tokens_ = 0;
};

template <class T>
std::vector<T> Only(const Turn& turn) {
  std::vector<T> found;
  for (const Effect& effect : turn.effects) {
    if (const auto* held = std::get_if<T>(&effect)) {
      found.push_back(*held);
    }
  }
  return found;
}

}  // namespace muster::testing
