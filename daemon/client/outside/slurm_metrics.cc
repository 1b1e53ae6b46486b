#include "daemon/client/outside/slurm_metrics.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace muster::daemon {
namespace {

struct SlurmJobs {
  double jobs = 0;
  double pending = 0;
  double configuring = 0;
  double running = 0;
  double suspended = 0;
  double completing = 0;
  double hold = 0;
  double cpus = 0;
  double gpus = 0;
  double memory = 0;
  double nodes = 0;

  void Add(const MeteredJobs& row) {
    jobs += row.count;
    pending += IsWaiting(row.state) ? row.count : 0;
    configuring += IsStarting(row.state) ? row.count : 0;
    running += IsRunning(row.state) ? row.count : 0;
    suspended += IsSuspended(row.state) ? row.count : 0;
    completing += IsCompleting(row.state) ? row.count : 0;
    hold += row.held ? row.count : 0;
    cpus += static_cast<double>(row.cpus);
    gpus += row.gpus;
    memory += static_cast<double>(row.memory.value());
    nodes += row.nodes;
  }
};

struct SlurmNodes {
  double nodes = 0;
  double alloc = 0;
  double down = 0;
  double drain = 0;
  double drained = 0;
  double draining = 0;
  double idle = 0;
  double mixed = 0;
  double powered_down = 0;
  double cpus = 0;
  double cpus_alloc = 0;
  double memory = 0;
  double memory_alloc = 0;
  double gpus = 0;

  void Add(const MeteredNode& node) {
    const std::uint32_t all = AllCpus(*node.machine).Count();
    const bool away = !node.connected && !node.away;  // Slurm counts one that is off as idle
    const bool busy = node.cpus_taken > 0;
    nodes += 1;
    down += away ? 1 : 0;
    idle += !away && !busy ? 1 : 0;
    mixed += !away && busy && node.cpus_taken < all ? 1 : 0;
    alloc += !away && busy && node.cpus_taken >= all ? 1 : 0;
    drain += node.drained ? 1 : 0;
    drained += node.drained && !busy ? 1 : 0;
    draining += node.drained && busy ? 1 : 0;
    powered_down += node.away ? 1 : 0;
    cpus += all;
    cpus_alloc += node.cpus_taken;
    memory += static_cast<double>(node.machine->memory.value());
    memory_alloc += static_cast<double>(node.memory_taken.value());
    gpus += static_cast<double>(node.machine->gpus.size());
  }
};

template <class Sums>
struct Column {
  const char* name;
  const char* help;
  double Sums::*value;
};
constexpr std::array<Column<SlurmJobs>, 11> kJobColumns = {{
    {"jobs", "Total number of jobs", &SlurmJobs::jobs},
    {"jobs_pending", "Number of jobs in Pending state", &SlurmJobs::pending},
    {"jobs_configuring", "Number of jobs in Configuring state", &SlurmJobs::configuring},
    {"jobs_running", "Number of jobs in Running state", &SlurmJobs::running},
    {"jobs_suspended", "Number of jobs in Suspended state", &SlurmJobs::suspended},
    {"jobs_completing", "Number of jobs in Completing state", &SlurmJobs::completing},
    {"jobs_hold", "Number of jobs in Hold state", &SlurmJobs::hold},
    {"jobs_cpus_alloc", "Total number of Cpus allocated by jobs", &SlurmJobs::cpus},
    {"jobs_gpus_alloc", "Total number of GPUs allocated by jobs", &SlurmJobs::gpus},
    {"jobs_memory_alloc", "Total memory bytes allocated by jobs", &SlurmJobs::memory},
    {"jobs_nodes_alloc", "Total number of nodes allocated by jobs", &SlurmJobs::nodes},
}};
constexpr std::array<Column<SlurmNodes>, 9> kNodeColumns = {{
    {"nodes", "Total number of nodes", &SlurmNodes::nodes},
    {"nodes_alloc", "Number of nodes in Allocated state", &SlurmNodes::alloc},
    {"nodes_down", "Number of nodes in Down state", &SlurmNodes::down},
    {"nodes_drain", "Number of nodes with Drain flag", &SlurmNodes::drain},
    {"nodes_drained", "Number of drained nodes without a job", &SlurmNodes::drained},
    {"nodes_draining", "Number of drained nodes with jobs", &SlurmNodes::draining},
    {"nodes_idle", "Number of nodes in Idle state", &SlurmNodes::idle},
    {"nodes_mixed", "Number of nodes in Mixed state", &SlurmNodes::mixed},
    {"nodes_powered_down", "Number of nodes that are off", &SlurmNodes::powered_down},
}};
constexpr std::array<Column<SlurmNodes>, 6> kPartitionColumns = {{
    {"cpus", "Number of Cpus in the partition", &SlurmNodes::cpus},
    {"gpus", "Number of GPUs in the partition", &SlurmNodes::gpus},
    {"nodes_cpus_alloc", "Number of allocated Cpus in the partition", &SlurmNodes::cpus_alloc},
    {"nodes_cpus_efctv", "Number of Cpus that jobs may have", &SlurmNodes::cpus},
    {"nodes_mem_alloc", "Memory bytes allocated to jobs", &SlurmNodes::memory_alloc},
    {"nodes_mem_tot", "Memory bytes of the nodes", &SlurmNodes::memory},
}};
// Jobs that have ended are kept by the accounting, not in the state: we count them as they end.
struct Ended {
  const char* name;
  const char* help;
  JobState state;
};
constexpr std::array<Ended, 8> kEnded = {{
    {"slurm_jobs_cancelled", "Number of jobs in Cancelled state, since the controller's start",
     JobState::kCancelled},
    {"slurm_jobs_completed", "Number of jobs in Completed state, since the controller's start",
     JobState::kCompleted},
    {"slurm_jobs_deadline", "Number of jobs in Deadline state, since the controller's start",
     JobState::kDeadline},
    {"slurm_jobs_failed", "Number of jobs in Failed state, since the controller's start",
     JobState::kFailed},
    {"slurm_jobs_node_failed", "Number of jobs in Node Failed state, since the controller's start",
     JobState::kNodeFail},
    {"slurm_jobs_outofmemory",
     "Number of jobs in Out of Memory state, since the controller's start", JobState::kOutOfMemory},
    {"slurm_jobs_preempted", "Number of jobs in Preempted state, since the controller's start",
     JobState::kPreempted},
    {"slurm_jobs_timeout", "Number of jobs in Timeout state, since the controller's start",
     JobState::kTimeout},
}};

template <class Sums, std::size_t kColumns>
void AddColumns(const std::array<Column<Sums>, kColumns>& columns, const Sums& sums,
                MetricPage& page) {
  for (const Column<Sums>& column : columns) {
    page.Gauge(absl::StrCat("slurm_", column.name), column.help, sums.*(column.value));
  }
}

// `prefix` and `label`: what the groups are.
template <class Sums, std::size_t kColumns>
void AddGroups(const std::array<Column<Sums>, kColumns>& columns,
               const std::map<std::string, Sums>& groups, const std::string& prefix,
               const std::string& label, MetricPage& page) {
  for (const Column<Sums>& column : columns) {
    MetricSeries series;
    for (const auto& [name, sums] : groups) {
      series[{name}] = sums.*(column.value);
    }
    page.Gauges(prefix + column.name, column.help, {label}, std::move(series));
  }
}

struct JobSums {
  SlurmJobs all;
  std::map<std::string, SlurmJobs> partitions;
  std::map<std::string, SlurmJobs> users;
  std::map<std::string, SlurmJobs> accounts;

  explicit JobSums(const MeteredCluster& cluster) {
    for (const auto& [id, row] : cluster.jobs) {
      all.Add(row);
      partitions[row.partition].Add(row);
      users[row.spec->user.name].Add(row);
      accounts[row.spec->account].Add(row);
    }
  }
};

double EndedAs(const Meters& meters, JobState state) {
  return static_cast<double>(meters.ended[static_cast<std::size_t>(state)]);
}

void AddEnded(const Meters& meters, MetricPage& page) {
  double finished = 0;
  for (const Ended& row : kEnded) {
    const double count = EndedAs(meters, row.state);
    finished += count;
    page.Gauge(row.name, row.help, count);
  }
  page.Gauge("slurm_jobs_finished", "Number of finished jobs, since the controller's start",
             finished);
  page.Gauge("slurm_jobs_started", "Number of started jobs, since the controller's start",
             static_cast<double>(meters.started));
  page.Gauge("slurm_jobs_requeued", "Number of requeued jobs, since the controller's start",
             static_cast<double>(meters.requeued));
}

void AddUsersAndAccounts(const JobSums& jobs, MetricPage& page) {
  AddGroups(kJobColumns, jobs.users, "slurm_user_", "username", page);
  AddGroups(kJobColumns, jobs.accounts, "slurm_account_", "account", page);
}

// What sdiag tells of scheduling; Slurm counts in microseconds.
void AddScheduling(const SlurmJobs& all, const Meters& meters, MetricPage& page) {
  constexpr double kMicrosecond = 1e-6;
  const Timings::Reading cycles = meters.cycle.Read();
  double count = 0;
  for (const std::uint64_t each : cycles.counts) {
    count += static_cast<double>(each);
  }
  page.Gauge("slurm_schedule_cycle_cnt", "Scheduling cycles", count);
  page.Gauge("slurm_schedule_cycle_last", "Time of the last scheduling cycle, in microseconds",
             cycles.last / kMicrosecond);
  page.Gauge("slurm_schedule_cycle_max", "Time of the longest scheduling cycle, in microseconds",
             cycles.most / kMicrosecond);
  page.Gauge("slurm_schedule_cycle_tot", "Time of all scheduling cycles, in microseconds",
             cycles.seconds / kMicrosecond);
  page.Gauge("slurm_sched_mean_cycle", "Mean time of a scheduling cycle, in microseconds",
             count > 0 ? cycles.seconds / count / kMicrosecond : 0);
  page.Gauge("slurm_schedule_queue_len", "Jobs that wait", all.pending);
  page.Gauge("slurm_sdiag_jobs_submitted", "Jobs submitted since the controller's start",
             static_cast<double>(meters.submitted));
  page.Gauge("slurm_sdiag_jobs_started", "Jobs started since the controller's start",
             static_cast<double>(meters.started));
  page.Gauge("slurm_sdiag_jobs_completed", "Jobs completed since the controller's start",
             EndedAs(meters, JobState::kCompleted));
  page.Gauge("slurm_sdiag_jobs_canceled", "Jobs cancelled since the controller's start",
             EndedAs(meters, JobState::kCancelled));
  page.Gauge("slurm_sdiag_jobs_failed", "Jobs failed since the controller's start",
             EndedAs(meters, JobState::kFailed));
  page.Gauge("slurm_sdiag_jobs_pending", "Jobs that wait", all.pending);
  page.Gauge("slurm_sdiag_jobs_running", "Jobs that run", all.running);
}

SlurmNodes AllNodes(const MeteredCluster& cluster) {
  SlurmNodes all;
  for (const auto& [id, node] : cluster.nodes) {
    all.Add(node);
  }
  return all;
}

double GpusTaken(const MeteredNode& node) {
  double taken = 0;
  for (const GpuShare& share : node.gpus_taken) {
    taken += static_cast<double>(share.value()) / kWholeGpu.value();
  }
  return taken;
}

void AddEachNode(const MeteredCluster& cluster, MetricPage& page) {
  MetricSeries cpus;
  MetricSeries cpus_alloc;
  MetricSeries cpus_idle;
  MetricSeries gpus;
  MetricSeries gpus_alloc;
  MetricSeries memory;
  MetricSeries memory_alloc;
  for (const auto& [id, node] : cluster.nodes) {
    const MetricLabels name = {node.name};
    const double all = AllCpus(*node.machine).Count();
    cpus[name] = all;
    cpus_alloc[name] = node.cpus_taken;
    cpus_idle[name] = all - node.cpus_taken;
    gpus[name] = static_cast<double>(node.machine->gpus.size());
    gpus_alloc[name] = GpusTaken(node);
    memory[name] = static_cast<double>(node.machine->memory.value());
    memory_alloc[name] = static_cast<double>(node.memory_taken.value());
  }
  const MetricLabels label = {"node"};
  page.Gauges("slurm_node_cpus_effective", "Cpus that jobs may have", label, cpus);
  page.Gauges("slurm_node_cpus", "Total number of cpus in the node", label, std::move(cpus));
  page.Gauges("slurm_node_cpus_alloc", "Allocated cpus in the node", label, std::move(cpus_alloc));
  page.Gauges("slurm_node_cpus_idle", "Idle cpus in the node", label, std::move(cpus_idle));
  page.Gauges("slurm_node_gpus", "Total number of GPUs in the node", label, std::move(gpus));
  page.Gauges("slurm_node_gpus_alloc",
              "GPUs allocated to jobs in the node; a share counts as its part", label,
              std::move(gpus_alloc));
  page.Gauges("slurm_node_memory_effective_bytes", "Memory that jobs may have", label, memory);
  page.Gauges("slurm_node_memory_bytes", "Total memory in bytes of the node", label,
              std::move(memory));
  page.Gauges("slurm_node_memory_alloc_bytes", "Bytes allocated to jobs in the node", label,
              std::move(memory_alloc));
}

void AddPartitions(const MeteredCluster& cluster, const JobSums& jobs, MetricPage& page) {
  std::map<std::string, SlurmNodes> nodes;
  std::map<std::string, SlurmJobs> running = jobs.partitions;
  for (const auto& [name, group] : cluster.groups->partitions) {
    SlurmNodes& sums = nodes[name];
    running.try_emplace(name);
    for (const auto& [id, node] : cluster.nodes) {
      if (group.Has(id)) {
        sums.Add(node);
      }
    }
  }
  page.Gauge("slurm_partitions", "Total number of partitions", static_cast<double>(nodes.size()));
  AddGroups(kJobColumns, running, "slurm_partition_", "partition", page);
  AddGroups(kNodeColumns, nodes, "slurm_partition_", "partition", page);
  AddGroups(kPartitionColumns, nodes, "slurm_partition_", "partition", page);
}

struct PageRow {
  const char* name;
  void (*add)(const MeteredCluster& cluster, const Meters& meters, MetricPage& page);
};
constexpr std::array<PageRow, 5> kPages = {{
    {"jobs",
     [](const MeteredCluster& cluster, const Meters& meters, MetricPage& page) {
       AddColumns(kJobColumns, JobSums(cluster).all, page);
       AddEnded(meters, page);
     }},
    {"jobs-users-accts", [](const MeteredCluster& cluster, const Meters& /*meters*/,
                            MetricPage& page) { AddUsersAndAccounts(JobSums(cluster), page); }},
    {"nodes",
     [](const MeteredCluster& cluster, const Meters& /*meters*/, MetricPage& page) {
       AddEachNode(cluster, page);
       AddColumns(kNodeColumns, AllNodes(cluster), page);
     }},
    {"partitions", [](const MeteredCluster& cluster, const Meters& /*meters*/,
                      MetricPage& page) { AddPartitions(cluster, JobSums(cluster), page); }},
    {"scheduler", [](const MeteredCluster& cluster, const Meters& meters,
                     MetricPage& page) { AddScheduling(JobSums(cluster).all, meters, page); }},
}};

const PageRow* FindPage(std::string_view name) {
  const auto* const found = std::find_if(kPages.begin(), kPages.end(),
                                         [&](const PageRow& row) { return name == row.name; });
  return found == kPages.end() ? nullptr : found;
}

}  // namespace

void AddSlurmNames(const MeteredCluster& cluster, const Meters& meters, MetricPage& page) {
  const JobSums jobs(cluster);
  AddColumns(kJobColumns, jobs.all, page);
  AddScheduling(jobs.all, meters, page);
  AddGroups(kJobColumns, jobs.partitions, "slurm_partition_", "partition", page);
  AddUsersAndAccounts(jobs, page);
  AddColumns(kNodeColumns, AllNodes(cluster), page);
}

bool HasSlurmPage(std::string_view name) {
  return FindPage(name) != nullptr;
}

std::string SlurmPageNames() {
  return absl::StrJoin(
      kPages, ", ", [](std::string* out, const PageRow& row) { absl::StrAppend(out, row.name); });
}

wire::ReadMetricsReply SlurmPage(std::string_view name, const MeteredCluster& cluster,
                                 const Meters& meters) {
  MetricPage page;
  if (const PageRow* const row = FindPage(name)) {
    row->add(cluster, meters, page);
  }
  return page.Take(cluster.time);
}

}  // namespace muster::daemon
