// How long the core's decisions take: a cycle, a snapshot, a submission. Run by hand, on an idle
// machine; nodes have 64 cores in 8 NUMA nodes and 4 GPUs.
#include <benchmark/benchmark.h>
#include <malloc.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/core/handle/handle.h"
#include "scheduler/core/plan/planner.h"
#include "scheduler/core/plan/snapshot_builder.h"

namespace muster::bench {
namespace {

constexpr Time kNow{std::chrono::seconds(1'000'000)};

Machine BigMachine() {
  Machine machine;
  for (std::uint32_t n = 0; n < 8; ++n) {
    machine.numa_nodes.push_back(NumaNode{n, CpuSet(), kGibibyte * 64});
    machine.memory += kGibibyte * 64;
    for (std::uint32_t c = 0; c < 8; ++c) {
      Core core;
      core.os_index = n * 8 + c;
      core.cpus.Insert(core.os_index);
      core.numa = n;
      machine.numa_nodes[n].cpus |= core.cpus;
      machine.cores.push_back(std::move(core));
    }
    if (n % 2 == 0) {
      Gpu gpu;
      gpu.os_index = n / 2;
      gpu.uuid = absl::StrCat("GPU-", gpu.os_index);
      gpu.model = "H100";
      gpu.numa = n;
      machine.gpus.push_back(std::move(gpu));
    }
  }
  return machine;
}

void Must(core::ClusterState& state, const Command& command) {
  SchedulerConfig config;
  config.submit_jobs_max = 0;  // with a bound, jobs are counted one by one once it is near
  const core::Transition transition = core::Handle(state, command, kNow, config);
  if (!transition.status.ok()) {
    std::cerr << transition.status << '\n';
    std::abort();
  }
  for (const Event& event : transition.events) {
    state.Apply(event);
  }
}

JobSpec SpecOf(std::uint32_t tasks, std::uint32_t cpus_per_task) {
  JobSpec spec;
  spec.user = User{1000, 1000, "ada"};
  spec.name = "bench";
  spec.request.tasks = tasks;
  spec.request.cpus_per_task = cpus_per_task;
  return spec;
}

Program Script() {
  Program program;
  program.script = "#!/bin/sh\n";
  return program;
}

core::ClusterState Cluster(std::int64_t nodes) {
  core::ClusterState state;
  Must(state, BeginEpoch{});
  Registration registration;
  registration.instance = "i";
  registration.machine = BigMachine();
  for (std::int64_t i = 1; i <= nodes; ++i) {
    registration.name = absl::StrCat("n", i);
    Must(state, RegisterAgent{registration});
  }
  return state;
}

// Jobs of eight shapes, from one core to two nodes.
void SubmitMany(core::ClusterState& state, std::int64_t jobs) {
  for (std::int64_t i = 0; i < jobs; ++i) {
    const auto shape = static_cast<std::uint32_t>(i % 8);
    JobSpec spec = SpecOf(1U << shape, 1);
    spec.request.gpus_per_task.count = shape == 1 ? 1 : 0;
    Must(state, SubmitJob{absl::StrCat("t", i), std::move(spec), Script()});
  }
}

// A cycle that starts what fits: range(0) jobs wait, range(1) nodes are idle.
void PassOnIdleCluster(benchmark::State& bench) {
  core::ClusterState state = Cluster(bench.range(1));
  SubmitMany(state, bench.range(0));
  const auto snapshot = core::BuildSnapshot(state, kNow);
  std::size_t starts = 0;
  for (auto _ : bench) {
    starts = core::MakePlan(*snapshot, SchedulerConfig()).starts.size();
  }
  bench.counters["starts"] = static_cast<double>(starts);
}
BENCHMARK(PassOnIdleCluster)
    ->Unit(benchmark::kMillisecond)
    ->Args({1000, 100})
    ->Args({10000, 100})
    ->Args({1000, 1000})
    ->Args({10000, 1000})
    ->Args({1000, 16384})
    ->Args({10000, 16384});

// A cycle in which nothing fits: every node has one core left, the head wants two on one node.
void PassOnFullCluster(benchmark::State& bench) {
  core::ClusterState state = Cluster(bench.range(1));
  JobSpec filler = SpecOf(static_cast<std::uint32_t>(bench.range(1)), 63);
  Must(state, SubmitJob{"filler", std::move(filler), Script()});
  Must(state, TakePlan{core::MakePlan(*core::BuildSnapshot(state, kNow), SchedulerConfig())});
  for (std::int64_t i = 0; i < bench.range(0); ++i) {
    Must(state, SubmitJob{absl::StrCat("t", i), SpecOf(1, 2), Script()});
  }
  const auto snapshot = core::BuildSnapshot(state, kNow);
  for (auto _ : bench) {
    benchmark::DoNotOptimize(core::MakePlan(*snapshot, SchedulerConfig()));
  }
}
BENCHMARK(PassOnFullCluster)
    ->Unit(benchmark::kMillisecond)
    ->Args({1000, 100})
    ->Args({10000, 1000})
    ->Args({10000, 16384});

// A busy cluster: on every node two jobs of 30 cores, with limits of their own.
core::ClusterState BusyCluster(std::int64_t nodes) {
  core::ClusterState state = Cluster(nodes);
  for (std::int64_t i = 0; i < 2 * nodes; ++i) {
    JobSpec spec = SpecOf(1, 30);
    spec.time_limit = std::chrono::minutes(10 + i * 7919 % 2880);
    spec.request.gpus_per_task.count = i % 3 == 0 ? 2 : 0;
    Must(state, SubmitJob{absl::StrCat("f", i), std::move(spec), Script()});
  }
  Must(state, TakePlan{core::MakePlan(*core::BuildSnapshot(state, kNow), SchedulerConfig())});
  return state;
}

// Jobs of 500 shapes with a time limit: one node in part, whole nodes, GPUs, up to 64 nodes.
void SubmitShapes(core::ClusterState& state, std::int64_t jobs, std::int64_t users = 1) {
  for (std::int64_t i = 0; i < jobs; ++i) {
    const auto shape = static_cast<std::uint32_t>(i * 31 % 500);
    JobSpec spec = SpecOf(1, 8 + shape % 57);
    spec.user.name = absl::StrCat("u", i % users);
    spec.time_limit = std::chrono::minutes(30 + shape * 3);
    if (shape % 5 == 0) {
      spec.request.gpus_per_task.count = 1 + shape % 4;
    }
    if (shape % 7 == 0) {
      spec.request.tasks = spec.request.min_nodes = spec.request.max_nodes = 2U << shape / 7 % 6;
    }
    Must(state, SubmitJob{absl::StrCat("t", i), std::move(spec), Script()});
  }
}

// Cycles on the snapshot that reserve for the first range(2) jobs.
void MeasurePass(benchmark::State& bench, const Snapshot& snapshot) {
  SchedulerConfig config;
  config.backfill = Backfill::kConservative;
  config.reservations_max = static_cast<std::uint32_t>(bench.range(2));
  Plan plan;
  for (auto _ : bench) {
    plan = core::MakePlan(snapshot, config);
  }
  bench.counters["starts"] = static_cast<double>(plan.starts.size());
  bench.counters["reservations"] = static_cast<double>(plan.reservations.size());
}

// A cycle over range(0) jobs of 500 shapes on range(1) busy nodes that reserves for the first
// range(2).
void PassWithReservations(benchmark::State& bench) {
  core::ClusterState state = BusyCluster(bench.range(1));
  SubmitShapes(state, bench.range(0));
  MeasurePass(bench, *core::BuildSnapshot(state, kNow));
}
BENCHMARK(PassWithReservations)
    ->Unit(benchmark::kMillisecond)
    ->Args({1000, 1000, 1000})
    ->Args({10000, 1000, 1000})
    ->Args({10000, 4096, 1000})
    ->Args({10000, 16384, 100})
    ->Args({10000, 16384, 1000})
    ->Args({100000, 16384, 1000});

// Leaf switches of 16 nodes, 16 of them below a spine, all spines below one root.
std::shared_ptr<const Network> TreeOf(const core::ClusterState& state) {
  auto network = std::make_shared<Network>();
  const auto leaves = static_cast<std::uint32_t>(state.nodes().size() + 15) / 16;
  const std::uint32_t spines = (leaves + 15) / 16;
  network->switches.push_back({"root", SwitchKind::kSwitch, kNowhere, 2, {}});
  for (std::uint32_t i = 0; i < spines; ++i) {
    network->switches.push_back({absl::StrCat("s", i), SwitchKind::kSwitch, 0, 1, {}});
  }
  for (std::uint32_t i = 0; i < leaves; ++i) {
    network->switches.push_back({absl::StrCat("l", i), SwitchKind::kSwitch, 1 + i / 16, 0, {}});
  }
  std::uint32_t next = 0;
  for (const auto& [id, node] : state.nodes()) {
    network->nodes.push_back({node.name, 1 + spines + next++ / 16, kNowhere, kNowhere});
  }
  return network;
}

// PassWithReservations where the network is known.
void PassOnATree(benchmark::State& bench) {
  core::ClusterState state = BusyCluster(bench.range(1));
  SubmitShapes(state, bench.range(0));
  MeasurePass(bench, *core::BuildSnapshot(state, kNow, nullptr, TreeOf(state)));
}
BENCHMARK(PassOnATree)
    ->Unit(benchmark::kMillisecond)
    ->Args({10000, 4096, 1000})
    ->Args({10000, 16384, 1000})
    ->Args({100000, 16384, 1000});

double CpuSeconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

// One running job ends.
void EndOne(core::ClusterState& state, std::int64_t i) {
  std::vector<JobId> running;
  for (const auto& [id, job] : state.jobs()) {
    if (job.attempt.has_value()) {
      running.push_back(id);
    }
  }
  const JobId id = running[static_cast<std::size_t>(i) * 37 % running.size()];
  const Attempt attempt = *state.FindJob(id)->attempt;
  for (const NodeAllocation& part : attempt.allocation.nodes) {
    RunStarted started;
    started.time = kNow;
    Must(state, TakeReport{part.node, Report{id, attempt.number, 1, started}});
    RunEnded ended;
    ended.time = kNow;
    Must(state, TakeReport{part.node, Report{id, attempt.number, 2, ended}});
  }
}

std::size_t HeapBytes() {
  return mallinfo2().uordblks + mallinfo2().hblkhd;
}

// The cycle after one job has ended, by way of what the cycles before found: range(0) jobs of 500
// shapes on range(1) busy nodes, the first range(2) with reservations. CPU time of the cycle alone;
// beside it that of a whole pass on the last snapshot, that of a snapshot, brought up to date and
// made from nothing, and what is remembered.
void MeasureAfterOneEnd(benchmark::State& bench, const SchedulerConfig& config) {
  core::ClusterState state = BusyCluster(bench.range(1));
  SubmitShapes(state, bench.range(0));
  core::PlannerMemory memory;
  core::SnapshotBuilder snapshots_kept;
  std::shared_ptr<const Snapshot> snapshot = snapshots_kept.Build(state, kNow, nullptr, nullptr);
  const std::size_t heap = HeapBytes();
  Plan plan = core::MakePlan(snapshot, config, memory);
  bench.counters["memory_mb"] = static_cast<double>(HeapBytes() - heap) / 1e6;
  double snapshots = 0;
  std::int64_t i = 0;
  for (auto _ : bench) {
    EndOne(state, ++i);
    const double before = CpuSeconds();
    snapshot = snapshots_kept.Build(state, kNow + std::chrono::seconds(i), &plan, nullptr);
    const double built = CpuSeconds();
    plan = core::MakePlan(snapshot, config, memory);
    bench.SetIterationTime(CpuSeconds() - built);
    snapshots += built - before;
    Must(state, TakePlan{plan});
  }
  const double before = CpuSeconds();
  const auto anew = core::BuildSnapshot(state, kNow);
  const double built = CpuSeconds();
  if (anew->nodes.size() != snapshot->nodes.size() ||
      core::MakePlan(*snapshot, config).hash != plan.hash) {
    bench.SkipWithError("the plans differ");
  }
  bench.counters["anew_ms"] = (built - before) * 1000;
  bench.counters["whole_ms"] = (CpuSeconds() - built) * 1000;
  bench.counters["reserved"] = static_cast<double>(plan.reservations.size());
  bench.counters["snapshot_ms"] = snapshots * 1000 / static_cast<double>(i);
}

void PassAfterOneEnd(benchmark::State& bench) {
  SchedulerConfig config;
  config.backfill = Backfill::kConservative;
  config.reservations_max = static_cast<std::uint32_t>(bench.range(2));
  MeasureAfterOneEnd(bench, config);
}

// The same in the order called prompt, the first range(2) with promises.
void PassWithPromises(benchmark::State& bench) {
  SchedulerConfig config;
  config.priority.order = QueueRule::kPrompt;
  config.prompt.promises = static_cast<std::uint32_t>(bench.range(2));
  MeasureAfterOneEnd(bench, config);
}
BENCHMARK(PassWithPromises)
    ->Unit(benchmark::kMillisecond)
    ->UseManualTime()
    ->Args({1000, 1024, 1000})
    ->Args({10000, 16384, 100})
    ->Args({10000, 16384, 1000});

BENCHMARK(PassAfterOneEnd)
    ->Unit(benchmark::kMillisecond)
    ->UseManualTime()
    ->Iterations(20)
    ->ArgNames({"jobs", "nodes", "reserve"})
    ->Args({1000, 1000, 100})
    ->Args({10000, 1000, 1000})
    ->Args({100000, 1000, 1000})
    ->Args({1000, 4096, 100})
    ->Args({10000, 4096, 1000})
    ->Args({1000, 16384, 100})
    ->Args({10000, 16384, 100})
    ->Args({10000, 16384, 1000})
    ->Args({100000, 16384, 1000});

// The decision for one more job, of range(1) nodes, on range(0) nodes of which a job keeps half of
// every second; with the network known where range(2) is not 0. As the controller does it:
// snapshots brought up to date in place, one memory. The slowest of 100 is the p99.
void OneJobOnATree(benchmark::State& bench) {
  core::ClusterState state = Cluster(bench.range(0));
  JobSpec filler = SpecOf(static_cast<std::uint32_t>(bench.range(0) / 2), 32);
  filler.request.min_nodes = filler.request.max_nodes = filler.request.tasks;
  filler.time_limit = std::chrono::hours(1);
  Must(state, SubmitJob{"filler", std::move(filler), Script()});
  Must(state, TakePlan{core::MakePlan(*core::BuildSnapshot(state, kNow), SchedulerConfig())});
  const std::shared_ptr<const Network> network = bench.range(2) != 0 ? TreeOf(state) : nullptr;
  core::SnapshotBuilder snapshots;
  core::PlannerMemory memory;
  std::vector<double> times;
  std::vector<double> builds;
  std::int64_t i = 0;
  for (auto _ : bench) {
    JobSpec spec = SpecOf(1, static_cast<std::uint32_t>(33 + i % 31));
    spec.request.tasks = spec.request.min_nodes = spec.request.max_nodes =
        static_cast<std::uint32_t>(bench.range(1) + (bench.range(1) > 1 ? i % 16 : 0));
    spec.time_limit = std::chrono::minutes(10);
    Must(state, SubmitJob{absl::StrCat("t", ++i), std::move(spec), Script()});
    const double build = CpuSeconds();
    const auto snapshot = snapshots.Build(state, kNow + std::chrono::seconds(i), nullptr, network);
    const double before = CpuSeconds();
    builds.push_back(before - build);
    const Plan plan = core::MakePlan(snapshot, SchedulerConfig(), memory);
    times.push_back(CpuSeconds() - before);
    bench.SetIterationTime(times.back());
    if (plan.starts.size() != 1) {
      bench.SkipWithError("the job does not start");
      return;
    }
    Must(state, TakePlan{plan});
  }
  times.erase(times.begin());  // that one reads the whole cluster
  std::sort(times.begin(), times.end());
  std::sort(builds.begin(), builds.end());
  bench.counters["snapshot_p50_ms"] = builds[builds.size() / 2] * 1000;
  bench.counters["p50_ms"] = times[times.size() / 2] * 1000;
  bench.counters["p99_ms"] = times[times.size() * 99 / 100] * 1000;
}
BENCHMARK(OneJobOnATree)
    ->Unit(benchmark::kMillisecond)
    ->UseManualTime()
    ->Iterations(101)
    ->ArgNames({"nodes", "of", "tree"})
    ->Args({1024, 1, 1})
    ->Args({4096, 1, 1})
    ->Args({16384, 1, 1})
    ->Args({4096, 2, 0})
    ->Args({4096, 2, 1})
    ->Args({16384, 2, 0})
    ->Args({16384, 2, 1})
    ->Args({16384, 64, 0})
    ->Args({16384, 64, 1});

// The same with the whole multifactor priority: range(0) jobs of 100 users on range(1) busy nodes.
void PassWithPriorities(benchmark::State& bench) {
  core::ClusterState state = BusyCluster(bench.range(1));
  SubmitShapes(state, bench.range(0), 100);
  const auto snapshot = core::BuildSnapshot(state, kNow);
  SchedulerConfig config;
  PriorityConfig& priority = config.priority;
  priority.weight_age = priority.weight_fairshare = priority.weight_job_size = 1000;
  priority.weight_qos = priority.weight_cpu = priority.weight_gpu = 1000;
  for (auto _ : bench) {
    benchmark::DoNotOptimize(core::MakePlan(*snapshot, config));
  }
}
BENCHMARK(PassWithPriorities)
    ->Unit(benchmark::kMillisecond)
    ->Args({1000, 1000})
    ->Args({10000, 16384})
    ->Args({100000, 16384});

// A cycle in which one job on range(0) full nodes preempts another.
void PassWithPreemption(benchmark::State& bench) {
  core::ClusterState state = Cluster(bench.range(0));
  const User root{0, 0, "root"};
  Must(state, ChangePolicy{PolicyVerb::kAdd, PolicyKind::kQos, "low", {}, root});
  Must(state, ChangePolicy{PolicyVerb::kAdd, PolicyKind::kQos, "high", {{"Preempt", "low"}}, root});
  JobSpec filler = SpecOf(1, 16);
  filler.qos = "low";
  for (std::int64_t i = 0; i < 4 * bench.range(0); ++i) {
    Must(state, SubmitJob{absl::StrCat("f", i), filler, Script()});
  }
  Must(state, TakePlan{core::MakePlan(*core::BuildSnapshot(state, kNow), SchedulerConfig())});
  JobSpec job = SpecOf(1, 32);
  job.qos = "high";
  Must(state, SubmitJob{"t", job, Script()});
  const auto snapshot = core::BuildSnapshot(state, kNow);
  std::size_t victims = 0;
  for (auto _ : bench) {
    const Plan plan = core::MakePlan(*snapshot, SchedulerConfig());
    victims = plan.preemptions.empty() ? 0 : plan.preemptions[0].victims.size();
  }
  bench.counters["victims"] = static_cast<double>(victims);
}
BENCHMARK(PassWithPreemption)->Unit(benchmark::kMillisecond)->Arg(100)->Arg(1000)->Arg(16384);

// A cycle in which range(0) jobs of 20 users wait for whole nodes of range(1) kinds, of which each
// has more cores than a limit leaves them.
void PassAtALimit(benchmark::State& bench) {
  core::ClusterState state = Cluster(0);
  const User root{0, 0, "root"};
  Must(state,
       ChangePolicy{PolicyVerb::kAdd, PolicyKind::kQos, "small", {{"GrpTRES", "cpu=3"}}, root});
  Registration registration;
  registration.instance = "i";
  registration.machine = BigMachine();
  for (std::int64_t i = 0; i < 1000; ++i) {
    registration.name = absl::StrCat("n", i);
    registration.machine.memory = kGibibyte * static_cast<std::uint64_t>(512 + i % bench.range(1));
    Must(state, RegisterAgent{registration});
  }
  for (std::int64_t i = 0; i < bench.range(0); ++i) {
    JobSpec job = SpecOf(1, 1);
    job.user.name = absl::StrCat("u", i % 20);
    job.qos = "small";
    job.request.exclusive = true;
    Must(state, SubmitJob{absl::StrCat("t", i), job, Script()});
  }
  const auto snapshot = core::BuildSnapshot(state, kNow);
  for (auto _ : bench) {
    benchmark::DoNotOptimize(core::MakePlan(*snapshot, SchedulerConfig()));
  }
}
BENCHMARK(PassAtALimit)
    ->Unit(benchmark::kMillisecond)
    ->Args({5000, 1})
    ->Args({5000, 8})
    ->Args({5000, 32});

// For bench/growth: the cycle after one end with range(0) waiting jobs on range(1) busy nodes, a
// hundred with reservations, what MeasureAfterOneEnd counts beside it, and the size of the state.
void Growth(benchmark::State& bench) {
  SchedulerConfig config;
  config.backfill = Backfill::kConservative;
  config.reservations_max = 100;
  const std::size_t heap = HeapBytes();
  {
    core::ClusterState state = BusyCluster(bench.range(1));
    SubmitShapes(state, bench.range(0));
    bench.counters["state_mb"] = static_cast<double>(HeapBytes() - heap) / 1e6;
  }
  MeasureAfterOneEnd(bench, config);
}
BENCHMARK(Growth)
    ->Unit(benchmark::kMillisecond)
    ->UseManualTime()
    ->Iterations(10)
    ->ArgNames({"waiting", "nodes"})
    ->ArgsProduct({{10'000}, {100, 400, 1'600, 6'400, 16'384}})
    ->ArgsProduct({{1'000, 10'000, 100'000, 1'000'000}, {1'024}});

// What the state keeps for each of range(0) waiting jobs, all distinct or elements of one array;
// and what comes to it with a snapshot and a plan, as the controller holds them.
void MemoryOfWaitingJobs(benchmark::State& bench) {
  const bool array = bench.range(1) != 0;
  double bytes = 0;
  double planned = 0;
  for (auto _ : bench) {
    core::ClusterState state = Cluster(1);
    const std::size_t before = HeapBytes();
    if (array) {
      SubmitJob submit{"t", SpecOf(1, 1), Script()};
      submit.spec.array = ArraySpec{{{0, static_cast<std::uint32_t>(bench.range(0)) - 1, 1}}, 0};
      Must(state, submit);
    } else {
      SubmitMany(state, bench.range(0));
    }
    bytes = static_cast<double>(HeapBytes() - before);
    const auto snapshot = core::BuildSnapshot(state, kNow);
    const Plan plan = core::MakePlan(*snapshot, SchedulerConfig());
    planned = static_cast<double>(HeapBytes() - before);
  }
  bench.counters["bytes_each"] = bytes / static_cast<double>(bench.range(0));
  bench.counters["with_plan"] = planned / static_cast<double>(bench.range(0));
}
BENCHMARK(MemoryOfWaitingJobs)
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1)
    ->ArgNames({"jobs", "array"})
    ->Args({10000, 0})
    ->Args({1000000, 1});

void Snapshots(benchmark::State& bench) {
  core::ClusterState state = Cluster(bench.range(1));
  SubmitMany(state, bench.range(0));
  for (auto _ : bench) {
    benchmark::DoNotOptimize(core::BuildSnapshot(state, kNow));
  }
}
BENCHMARK(Snapshots)
    ->Unit(benchmark::kMillisecond)
    ->Args({1000, 100})
    ->Args({10000, 1000})
    ->Args({10000, 16384});

// The whole turn of a 10,000-element array: validation, event, Apply.
void SubmitArray(benchmark::State& bench) {
  const core::ClusterState empty = Cluster(1);
  SubmitJob submit{"t", SpecOf(1, 1), Script()};
  submit.spec.array = ArraySpec{{{0, 9999, 1}}, 0};
  for (auto _ : bench) {
    bench.PauseTiming();
    auto state = std::make_unique<core::ClusterState>(empty);
    bench.ResumeTiming();
    Must(*state, submit);
    bench.PauseTiming();
    state.reset();
    bench.ResumeTiming();
  }
}
BENCHMARK(SubmitArray)->Unit(benchmark::kMillisecond);

// Step and Apply of one plain submission, with as many jobs waiting as it gets to.
void SubmitOne(benchmark::State& bench) {
  core::ClusterState state = Cluster(1);
  SubmitJob submit{"", SpecOf(1, 1), Script()};
  std::uint64_t next = 0;
  for (auto _ : bench) {
    submit.token = absl::StrCat("t", ++next);
    Must(state, submit);
  }
  bench.SetItemsProcessed(static_cast<std::int64_t>(next));
}
BENCHMARK(SubmitOne)->Unit(benchmark::kMicrosecond);

// Verification and Apply of a plan that starts range(0) one-core jobs.
void TakeAPlan(benchmark::State& bench) {
  core::ClusterState waiting = Cluster(256);
  for (std::int64_t i = 0; i < bench.range(0); ++i) {
    Must(waiting, SubmitJob{absl::StrCat("t", i), SpecOf(1, 1), Script()});
  }
  const TakePlan take{core::MakePlan(*core::BuildSnapshot(waiting, kNow), SchedulerConfig())};
  for (auto _ : bench) {
    bench.PauseTiming();
    auto state = std::make_unique<core::ClusterState>(waiting);
    bench.ResumeTiming();
    Must(*state, take);
    bench.PauseTiming();
    state.reset();
    bench.ResumeTiming();
  }
}
BENCHMARK(TakeAPlan)->Unit(benchmark::kMillisecond)->Arg(1000)->Arg(10000);

}  // namespace
}  // namespace muster::bench

BENCHMARK_MAIN();
