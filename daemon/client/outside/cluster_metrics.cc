#include "daemon/client/outside/cluster_metrics.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "daemon/client/outside/metric_page.h"
#include "daemon/client/outside/slurm_metrics.h"

namespace muster::daemon {
namespace {

double Seconds(std::int64_t milliseconds) {
  return static_cast<double>(milliseconds) / 1e3;
}

void AddJobs(const MeteredCluster& cluster, MetricPage& page) {
  MetricSeries jobs;
  MetricSeries users;
  MetricSeries cpus;
  MetricSeries gpus;
  double oldest = 0;
  for (const auto& [id, row] : cluster.jobs) {
    const char* const state = row.held ? "HELD" : Name(row.state);
    jobs[{state, row.partition, row.spec->account}] += row.count;
    users[{state, row.spec->user.name}] += row.count;
    if (row.cpus > 0) {
      cpus[{row.partition, row.spec->account}] += static_cast<double>(row.cpus);
    }
    if (row.gpus > 0) {
      gpus[{row.partition, row.spec->account}] += row.gpus;
    }
    if (IsWaiting(row.state) && !row.held) {
      oldest = std::max(oldest, Seconds((cluster.time - row.submitted).count()));
    }
  }
  page.Gauges("muster_jobs", "Jobs that have not ended; HELD are those that wait for their release",
              {"state", "partition", "account"}, std::move(jobs));
  page.Gauges("muster_user_jobs", "The same by user", {"state", "user"}, std::move(users));
  page.Gauges("muster_jobs_cpus", "Hardware threads that jobs have", {"partition", "account"},
              std::move(cpus));
  page.Gauges("muster_jobs_gpus", "GPUs that jobs have, whole or in part", {"partition", "account"},
              std::move(gpus));
  page.Gauge("muster_queue_oldest_seconds", "How long the job waits that waits longest", oldest);
}

const char* StateOf(const MeteredNode& node, std::uint32_t cpus) {
  return node.away                ? "POWERED_DOWN"
         : !node.connected        ? "DOWN"
         : node.cpus_taken == 0   ? "IDLE"
         : node.cpus_taken < cpus ? "MIXED"
                                  : "ALLOCATED";
}

void AddNodes(const MeteredCluster& cluster, MetricPage& page) {
  MetricSeries nodes{
      {{"DOWN", "no"}, 0}, {{"IDLE", "no"}, 0}, {{"MIXED", "no"}, 0}, {{"ALLOCATED", "no"}, 0}};
  MetricSeries health;
  MetricSeries gpus;
  MetricSeries gpus_taken;
  double cpus = 0;
  double cpus_taken = 0;
  double memory = 0;
  double memory_taken = 0;
  for (const auto& [id, node] : cluster.nodes) {
    const std::uint32_t all = AllCpus(*node.machine).Count();
    nodes[{StateOf(node, all), node.drained ? "yes" : "no"}] += 1;
    health[{node.health.substr(0, node.health.find(':'))}] += 1;
    cpus += all;
    cpus_taken += node.cpus_taken;
    memory += static_cast<double>(node.machine->memory.value());
    memory_taken += static_cast<double>(node.memory_taken.value());
    for (std::size_t i = 0; i < node.machine->gpus.size(); ++i) {
      const MetricLabels model = {node.machine->gpus[i].model};
      gpus[model] += 1;
      gpus_taken[model] += i < node.gpus_taken.size()
                               ? static_cast<double>(node.gpus_taken[i].value()) / kWholeGpu.value()
                               : 0;
    }
  }
  page.Gauges("muster_nodes", "Registered nodes", {"state", "drained"}, std::move(nodes));
  page.Gauges("muster_nodes_health", "Nodes by what their newest check said; empty: none was made",
              {"health"}, std::move(health));
  page.Gauge("muster_cpus", "Hardware threads of all nodes", cpus);
  page.Gauge("muster_cpus_taken", "Hardware threads that are taken", cpus_taken);
  page.Gauge("muster_memory_bytes", "Memory of all nodes", memory);
  page.Gauge("muster_memory_taken_bytes", "Memory that is taken", memory_taken);
  page.Gauges("muster_gpus", "GPUs of all nodes", {"model"}, std::move(gpus));
  page.Gauges("muster_gpus_taken", "GPUs that are taken; a share counts as its part", {"model"},
              std::move(gpus_taken));
}

// Sums over the GPUs of a node. GPU by GPU would be eight times as many, and dcgm-exporter has
// them.
struct GpuColumn {
  bool counter;
  const char* name;
  const char* help;
  std::optional<std::uint64_t> GpuSums::*value;
  double unit;
};
constexpr std::array<GpuColumn, 7> kGpuColumns = {{
    {false, "muster_gpus_busy", "GPUs of the node that work: each counts as busy as it is",
     &GpuSums::busy_percent, 0.01},
    {false, "muster_gpu_memory_used_bytes", "Memory of the node's GPUs that is in use",
     &GpuSums::memory_used, 1},
    {false, "muster_gpu_power_watts", "What the node's GPUs take now", &GpuSums::power_mw, 0.001},
    {true, "muster_gpu_node_energy_joules",
     "What the node's GPUs took since their driver was loaded", &GpuSums::energy_mj, 0.001},
    {true, "muster_gpu_ecc_corrected_errors",
     "Errors that ECC corrected on the node's GPUs, since their driver was loaded",
     &GpuSums::corrected_ecc, 1},
    {true, "muster_gpu_ecc_uncorrected_errors",
     "Errors that ECC could not correct on the node's GPUs, since their driver was loaded",
     &GpuSums::uncorrected_ecc, 1},
    {true, "muster_gpu_xid_errors",
     "XID errors of the node's GPUs that their driver reported since the agent's start",
     &GpuSums::xids, 1},
}};

void AddGpus(const MeteredCluster& cluster, MetricPage& page) {
  MetricSeries memory;
  for (const auto& [id, node] : cluster.nodes) {
    for (const Gpu& gpu : node.machine->gpus) {
      memory[{node.name}] += static_cast<double>(gpu.memory.value());
    }
  }
  page.Gauges("muster_gpu_memory_bytes", "Memory of the node's GPUs", {"node"}, std::move(memory));
  MetricSeries hottest;
  std::array<MetricSeries, kGpuColumns.size()> columns;
  for (const auto& [id, sums] : cluster.gpus) {
    const auto node = cluster.nodes.find(id);
    if (node == cluster.nodes.end()) {
      continue;
    }
    for (std::size_t i = 0; i < kGpuColumns.size(); ++i) {
      if (const std::optional<std::uint64_t>& value = sums.*(kGpuColumns[i].value)) {
        columns[i][{node->second.name}] = static_cast<double>(*value) * kGpuColumns[i].unit;
      }
    }
    if (sums.hottest.has_value()) {
      hottest[{node->second.name}] = *sums.hottest;
    }
  }
  for (std::size_t i = 0; i < kGpuColumns.size(); ++i) {
    const GpuColumn& column = kGpuColumns[i];
    if (column.counter) {
      page.Counters(column.name, column.help, {"node"}, std::move(columns[i]));
    } else {
      page.Gauges(column.name, column.help, {"node"}, std::move(columns[i]));
    }
  }
  page.Gauges("muster_gpu_temperature_celsius", "Of the hottest of the node's GPUs", {"node"},
              std::move(hottest), MetricPage::Others::kMost);
}

void AddWork(const Meters& meters, const std::map<std::string, Timings>& calls, MetricPage& page) {
  MetricPage::Add(page.Family(wire::METRIC_KIND_HISTOGRAM, "muster_job_wait_seconds",
                              "From a job's submission to its first start"),
                  meters.wait);
  MetricPage::Add(
      page.Family(wire::METRIC_KIND_HISTOGRAM, "muster_cycle_seconds", "One cycle of the planner"),
      meters.cycle);
  const Timings::Reading cycles = meters.cycle.Read();
  page.Gauge("muster_cycle_last_seconds", "The newest cycle of the planner", cycles.last);
  page.Gauge("muster_cycle_longest_seconds", "The longest cycle of the planner", cycles.most);
  page.Gauge("muster_cycle_newest_seconds",
             "When the newest cycle of the planner began, since 1970", Seconds(meters.cycle_ms));
  page.Gauge("muster_controller_start_seconds", "When the controller began, since 1970",
             Seconds(meters.since_ms));
  MetricPage::Add(page.Family(wire::METRIC_KIND_HISTOGRAM, "muster_commit_seconds",
                              "One group of changes, until it is on the disk"),
                  meters.commit);
  wire::MetricFamily& family =
      page.Family(wire::METRIC_KIND_HISTOGRAM, "muster_call_seconds",
                  "One call of a client, until its answer has left", {"method"});
  for (const auto& [method, timings] : calls) {
    MetricPage::Add(family, timings, {method});
  }
  page.Counter("muster_jobs_submitted", "Jobs that were accepted",
               static_cast<double>(meters.submitted));
  page.Counter("muster_attempts_started", "Attempts that were given their resources",
               static_cast<double>(meters.started));
  page.Counter("muster_jobs_requeued", "Attempts after which their job waited again",
               static_cast<double>(meters.requeued));
  page.Counters(
      "muster_start_promises",
      "Starts of jobs that had been promised one, by an earlier plan's reservation or, in "
      "the order called prompt, as a latest start: kept are those no more than a second "
      "after the first promise; a job that was held or changed has none until the next",
      {"kept"},
      {{{"true"}, static_cast<double>(meters.promises_kept)},
       {{"false"}, static_cast<double>(meters.promises_missed)}});
  MetricSeries ended;
  for (const JobStateName& row : kJobStateNames) {
    if (IsTerminal(row.state)) {
      ended[{row.name}] = static_cast<double>(meters.ended[static_cast<std::size_t>(row.state)]);
    }
  }
  page.Counters("muster_jobs_ended", "Jobs that ended", {"state"}, std::move(ended));
  page.Counter("muster_checkpoints", "Checkpoints of ended attempts",
               static_cast<double>(meters.checkpoints));
  page.Counter("muster_held_seconds", "In which ended attempts had their resources",
               Seconds(meters.held_ms));
  page.Counter("muster_lost_seconds", "Work of ended attempts that had to be done again",
               Seconds(meters.lost_ms));
  page.Counter("muster_checkpoint_stall_seconds", "In which ended attempts stood still for them",
               Seconds(meters.stall_ms));
  page.Counter("muster_gpu_busy_seconds", "In which GPUs of ended attempts worked",
               Seconds(meters.gpu_busy_ms));
  page.Counter("muster_gpu_energy_joules", "What GPUs of ended attempts took",
               static_cast<double>(meters.gpu_energy_mj) / 1e3);
  page.Counter("muster_cpu_energy_joules", "What ended attempts took of processors",
               static_cast<double>(meters.cpu_energy_mj) / 1e3);
}

}  // namespace

wire::ReadMetricsReply MetricsOf(const MeteredCluster& cluster, const Meters& meters,
                                 const std::map<std::string, Timings>& calls,
                                 const std::string& name, const std::string& version) {
  MetricPage page;
  wire::MetricSample& info = *page.Family(wire::METRIC_KIND_INFO, "muster_controller",
                                          "Whose numbers these are", {"cluster", "version"})
                                  .add_samples();
  info.add_labels(name);
  info.add_labels(version);
  info.set_value(1);
  page.Gauge("muster_controller_epoch", "The term of the controller",
             static_cast<double>(cluster.epoch));
  page.Gauge("muster_metrics_look_seconds",
             "How long the controller's thread looked for these numbers",
             std::chrono::duration<double>(cluster.took).count());
  AddJobs(cluster, page);
  AddNodes(cluster, page);
  AddGpus(cluster, page);
  AddWork(meters, calls, page);
  AddSlurmNames(cluster, meters, page);
  return page.Take(cluster.time);
}

}  // namespace muster::daemon
