#pragma once

// What metrics count: the jobs and nodes as rows, kept beside the controller's loop and brought up
// to date by what changed there.
//
// Thread promise: LookForMetrics is the controller's thread's, and as long as the changes since the
// look before; a MeteredCluster belongs to one thread. Invariants: (1) after Take of a change, the
// rows are those of a walk over the state that was looked at; (2) a change that does not follow on
// what is there is not taken.

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "daemon/agents/node_gpus.h"
#include "daemon/controller/controller.h"
#include "scheduler/core/plan/touched_jobs.h"

namespace muster::daemon {

// Jobs that differ in nothing that is counted.
struct MeteredJobs {
  std::shared_ptr<const JobSpec> spec;
  JobState state = JobState::kPending;
  bool held = false;
  std::string partition;
  Time submitted = kNoTime;
  std::uint32_t count = 1;
  std::uint64_t cpus = 0;  // allocated
  Bytes memory;
  std::uint32_t gpus = 0;
  std::uint32_t nodes = 0;
  friend bool operator==(const MeteredJobs&, const MeteredJobs&) = default;
};

struct MeteredNode {
  std::shared_ptr<const Machine> machine;
  bool connected = false;
  bool drained = false;
  std::string health;
  std::uint32_t cpus_taken = 0;
  Bytes memory_taken;
  std::vector<GpuShare> gpus_taken;
  bool away = false;  // switched off while nobody needs it, or on its way there or back
  std::string name = {};
  friend bool operator==(const MeteredNode&, const MeteredNode&) = default;
};

// What became of a state since a version of it.
struct MeteredChange {
  bool whole = false;  // the rows are all that there are
  Version since;
  Version version;
  Time time = kNoTime;
  std::uint64_t epoch = 0;
  std::chrono::nanoseconds took{0};     // of the controller's thread
  std::vector<core::JobRange> touched;  // ascending, apart: of these, only `jobs` are there
  std::vector<std::pair<JobId, MeteredJobs>> jobs;
  std::vector<std::pair<NodeId, MeteredNode>> nodes;
  std::shared_ptr<const PolicyNodes> groups = std::make_shared<const PolicyNodes>();
};

// What changed after `since`, or all where that is not known or is as much.
MeteredChange LookForMetrics(const StateView& snapshot, Version since);

struct MeteredCluster {
  Time time = kNoTime;
  std::uint64_t epoch = 0;
  Version version;
  std::chrono::nanoseconds took{0};   // the newest look, of the controller's thread
  std::map<JobId, MeteredJobs> jobs;  // by the first of them
  std::map<NodeId, MeteredNode> nodes;
  std::map<NodeId, GpuSums> gpus = {};  // what nodes told last; not of the state
  std::shared_ptr<const PolicyNodes> groups = std::make_shared<const PolicyNodes>();

  // False, and nothing is changed, when it does not follow on `version`.
  [[nodiscard]] bool Take(MeteredChange change);
};

}  // namespace muster::daemon
