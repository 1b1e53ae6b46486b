#pragma once

// From what is in the cluster, and what the controller counted, to families of metrics.
//
// Thread promise: pure but for LookForMetrics, which is the controller's thread's and as short as
// it can be. Invariants: a family has at most kSeriesMax samples; every name and label is legal in
// OpenMetrics 1.0; no label is a job.

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "daemon/controller/controller.h"
#include "daemon/controller/meters.h"
#include "proto/metrics.pb.h"

namespace muster::daemon {

inline constexpr std::size_t kSeriesMax = 1000;

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
};

struct MeteredCluster {
  Time time = kNoTime;
  std::uint64_t epoch = 0;
  std::vector<MeteredJobs> jobs;
  std::vector<MeteredNode> nodes;
};

MeteredCluster LookForMetrics(const StateView& snapshot);

// `calls`: of each method, how long its calls took.
wire::ReadMetricsReply MetricsOf(const MeteredCluster& cluster, const Meters& meters,
                                 const std::map<std::string, Timings>& calls,
                                 const std::string& name, const std::string& version);

}  // namespace muster::daemon
