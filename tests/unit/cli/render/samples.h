#pragma once

// Views made by hand for the rendering tests, and the pages that they must give.
//
// Header-only; values only. Invariant: everything hangs on kNow.

#include <chrono>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "scheduler/model/view/view.h"

namespace muster::cli::samples {

// 2026-03-14 09:26:53 UTC.
inline constexpr Time kNow = Time(Duration(1'773'480'413'000));

// The text of tests/fixtures/cli/NAME; "" when it cannot be read.
inline std::string Golden(const std::string& name) {
  std::ifstream file(std::string(MUSTER_FIXTURES) + "/cli/" + name);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline JobView Waiting(std::uint64_t id, const std::string& name, const ReasonView& reason) {
  JobView job;
  job.id = JobId(id);
  job.array_job_id = JobId(id);
  job.label = std::to_string(id);
  job.name = name;
  job.user = "alice";
  job.state = "PENDING";
  job.reason = reason;
  job.tasks = 2;
  job.cpus = 8;
  job.submit_time = kNow - std::chrono::hours(2);
  return job;
}

inline JobView Running(std::uint64_t id, const std::string& name,
                       const std::vector<std::string>& nodes, Duration since) {
  JobView job = Waiting(id, name, {});
  job.state = "RUNNING";
  job.nodes = nodes;
  job.memory = kGibibyte * 4;
  job.start_time = kNow - since;
  return job;
}

inline JobView Ended(std::uint64_t id, const std::string& name, const std::string& state,
                     std::int32_t code, std::int32_t signal) {
  JobView job = Running(id, name, {"node1", "node2"}, std::chrono::hours(1));
  job.state = state;
  job.end_time = job.start_time + std::chrono::milliseconds(62'345);
  job.exit_code = code;
  job.exit_signal = signal;
  job.binding = "verified 2/2";
  job.usage.user_cpu = Duration(400'000);
  job.usage.system_cpu = Duration(20'500);
  job.usage.peak_memory = kMebibyte * 312;
  return job;
}

// Element `index` of `job`, which stands for the array.
inline JobView Element(JobView job, std::uint32_t index) {
  job.array_job_id = job.id;
  job.id = JobId(job.id.value() + index);
  job.array_task_id = std::to_string(index);
  job.label = std::to_string(job.array_job_id.value()) + "_" + job.array_task_id;
  return job;
}

inline std::vector<JobView> QueueJobs() {
  std::vector<JobView> jobs = {
      Running(7, "heat2d", {"node1", "node2"}, std::chrono::seconds(83)),
      Running(9, "train", {"gpu08", "gpu09", "gpu10", "login"}, std::chrono::hours(51))};
  const JobView array =
      Waiting(12, "sweep", {"Resources", "2 nodes: 1 short of 3 cores (has 1), 1 drained", false});
  JobView third = Element(Running(12, "sweep", {"node1"}, std::chrono::seconds(5)), 3);
  jobs.push_back(third);
  for (const std::uint32_t index : {4U, 5U, 6U, 9U}) {
    jobs.push_back(Element(array, index));
  }
  JobView held = Element(array, 7);
  held.reason = {"JobHeldUser", "held; muster release starts it on its way", false};
  jobs.push_back(held);
  jobs.push_back(Waiting(
      30, "far-too-large-for-this",
      {"BadConstraints", "never on this cluster: 2 nodes: needs 64 nodes, only 2 fit", true}));
  return jobs;
}

inline std::vector<JobView> HistoryJobs() {
  JobView dropped = Waiting(5, "dropped", {});
  dropped.state = "CANCELLED";
  dropped.end_time = kNow;
  JobView differs = Ended(4, "pinned", "COMPLETED", 0, 0);
  differs.binding = "verified 1/2; rank 1 on node2 differs: cpus 0-7";
  return {Ended(1, "heat2d", "COMPLETED", 0, 0), Ended(2, "fails", "FAILED", 3, 0),
          Ended(3, "slow", "TIMEOUT", 0, 15), differs, dropped};
}

inline RankView Rank(std::uint32_t rank, const std::string& node, const std::string& cpus,
                     const std::string& verdict) {
  RankView view;
  view.step = StepId(1);
  view.rank = rank;
  view.node = node;
  view.cpus = cpus;
  view.mem_nodes = "0";
  view.gpus = {"GPU-1a2b3c4d-0000-1111-2222-333344445555"};
  view.found_cpus = cpus;
  view.found_mem_policy = "bind:0";
  view.found_gpus = view.gpus;
  view.verdict = verdict;
  return view;
}

inline JobDetail EndedDetail() {
  JobDetail detail;
  detail.job = Ended(7, "heat2d", "FAILED", 3, 0);
  detail.job.account = "physics";
  detail.job.gpus = 2;
  detail.job.restarts = 1;
  detail.job.binding = "verified 1/2; rank 1 on node2 differs: cpus 0-7";
  detail.job.time_limit = std::chrono::minutes(90);
  detail.request.min_nodes = 2;
  detail.request.max_nodes = 2;
  detail.request.tasks = 2;
  detail.request.cpus_per_task = 4;
  detail.request.memory_per_node = kGibibyte * 2;
  detail.request.gpus_per_task = {.type = "h200", .count = 1};
  detail.work_dir = "/home/alice/heat";
  detail.stdout_path = "/home/alice/heat/muster-7.out";
  detail.stderr_path = "/home/alice/heat/muster-7.err";
  detail.command = {"./heat2d", "--title", "two plates"};
  AttemptView attempt;
  attempt.number = AttemptNumber(2);
  attempt.nodes = detail.job.nodes;
  attempt.start_time = detail.job.start_time;
  attempt.end_time = detail.job.end_time;
  attempt.cpus = 8;
  attempt.memory = kGibibyte * 4;
  attempt.gpus = 2;
  attempt.exit = {.code = 3, .signal = 0};
  attempt.cause = "exited";
  attempt.limits = "memory by watching";
  attempt.usage = detail.job.usage;
  attempt.ranks = {Rank(0, "node1", "0-3", "verified"), Rank(1, "node2", "4-7", "differs")};
  attempt.ranks[1].found_cpus = "0-7";
  attempt.ranks[1].text = "cpus 0-7";
  detail.attempts = {attempt};
  return detail;
}

// Two packages of `cores` cores with two threads each, one NUMA node, L3, GPU and NIC in each.
inline Machine TwoPackages(std::uint32_t cores) {
  Machine machine;
  machine.memory = kGibibyte * 128;
  machine.source = "live";
  for (std::uint32_t package = 0; package < 2; ++package) {
    CpuSet all;
    for (std::uint32_t i = 0; i < cores; ++i) {
      const std::uint32_t number = package * cores + i;
      Core core{.os_index = number, .cpus = CpuSet::Of({number, number + 2 * cores})};
      core.numa = core.l3 = core.package = package;
      all |= core.cpus;
      machine.cores.push_back(core);
    }
    machine.packages.push_back({.os_index = package, .model = "EPYC"});
    machine.numa_nodes.push_back({.os_index = package, .cpus = all, .memory = kGibibyte * 64});
    machine.l3_caches.push_back({.cpus = all, .size = kMebibyte * 32, .package = package});
    Gpu gpu;
    gpu.os_index = package;
    gpu.model = "NVIDIA H200";
    gpu.pci_address = package == 0 ? "0000:1b:00.0" : "0000:9b:00.0";
    gpu.memory = kGibibyte * 141;
    gpu.numa = package;
    machine.gpus.push_back(gpu);
    machine.nics.push_back(
        {.name = "mlx5_" + std::to_string(package), .pci_address = "", .numa = package});
  }
  return machine;
}

inline NodeView SampleNode(std::uint32_t cores) {
  NodeView node;
  node.id = NodeId(1);
  node.name = "node1";
  node.hostname = "rack3-07";
  node.state = "MIXED";
  node.machine = TwoPackages(cores);
  node.cores = 2 * cores;
  node.cpus = 4 * cores;
  node.memory = kGibibyte * 128;
  node.memory_taken = kGibibyte * 24;
  node.gpus = 2;
  node.gpus_taken = 1;
  node.binding = "enforced";
  CpuSet seven;
  for (std::uint32_t core = 1; core < cores; ++core) {
    seven |= node.machine.cores[core].cpus;
  }
  node.cpus_taken = seven.Count() + 2;
  node.holders = {{.job = JobId(7),
                   .label = "7",
                   .user = "alice",
                   .cpus = seven.ToList(),
                   .memory = kGibibyte * 16,
                   .gpus = {0},
                   .quarantined = false},
                  {.job = JobId(99),
                   .label = "99",
                   .user = "unknown",
                   .cpus = node.machine.cores[cores].cpus.ToList(),
                   .memory = kGibibyte * 8,
                   .gpus = {},
                   .quarantined = true}};
  return node;
}

}  // namespace muster::cli::samples
