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
#include "scheduler/core/handle/handle.h"
#include "scheduler/core/handle/submit/validate.h"
#include "scheduler/core/plan/planner.h"
#include "scheduler/core/plan/snapshot_builder.h"
#include "scheduler/core/state/cluster_state.h"
#include "scheduler/core/state/invariants.h"
#include "scheduler/model/value/fingerprint.h"

namespace muster::core::testing {

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
Machine MakeMachine(const Shape& shape);
NodeSnapshot MakeNode(std::uint32_t id, const Shape& shape);

// n1, n2, … below leaf switches of `width` nodes each, every two leaves below a spine, all below
// one root.
std::shared_ptr<const Network> MakeNetwork(std::uint32_t nodes, std::uint32_t width);

CpuSet Cpus(const std::string& list);
JobSpec Normal(ResourceRequest request);
// What Normalise makes of a request.
ResourceRequest Asks(ResourceRequest request);
ResourceRequest Tasks(std::uint32_t tasks, std::uint32_t cpus_per_task = 1);
Time At(std::int64_t seconds);
Program Script();
Program TrueProgram();

// A cluster that takes inputs one after the other, as the controller's loop does.
class World {
 public:
  ClusterState state;
  std::vector<Event> events;
  SchedulerConfig config;
  Time now = At(1000);

  World();
  World(const World&);
  World(World&&) noexcept;
  World& operator=(const World&);
  World& operator=(World&&) noexcept;
  ~World();

  Transition Take(const Command& command);

  static Registration RegistrationOf(const std::string& name, const Shape& shape);
  NodeId AddNode(const std::string& name, const Shape& shape = Shape());

  JobSpec Spec(ResourceRequest request) const;
  JobId Submit(JobSpec spec);
  JobId Submit(ResourceRequest request);

  Plan MakePlanNow() const;
  // Plans and starts what can start.
  Transition Schedule();

  Transition Tell(NodeId node, JobId job, std::uint64_t index, Fact fact);
  Transition TellStarted(NodeId node, JobId job, std::uint64_t index = 1);
  Transition TellEnded(NodeId node, JobId job, std::uint64_t index,
                       EndCause cause = EndCause::kExited, ExitStatus status = ExitStatus());

  JobState StateOf(JobId job) const;
  // How the job ended; nothing while it has not.
  std::optional<JobEnded> EndOf(JobId job) const;
  Reason ReasonFor(JobId job) const;

  User ada{1000, 1000, "ada"};
  User bob{1001, 1001, "bob"};

 private:
  int tokens_ = 0;
};

template <class T>
std::vector<T> Only(const Transition& transition) {
  std::vector<T> found;
  for (const Effect& effect : transition.effects) {
    if (const auto* held = std::get_if<T>(&effect)) {
      found.push_back(*held);
    }
  }
  return found;
}

}  // namespace muster::core::testing
