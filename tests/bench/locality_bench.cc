// Locality under load, and how long one decision takes: the planner alone, on captured machines.
//
//   locality_bench MACHINE [NODES]
//
// First: 1,024 jobs of 1, 2 and 4 GPUs, one rank a GPU, in random order come to 16 nodes of that
// machine; whatever fits starts, then one running job leaves at random, and so on until all have
// run. Printed is the share of ranks that were local, and how many GPUs were busy while jobs
// waited. Then: grids and groups (--grid, --parallel) on 1, 2 and 4 such nodes, each beside block
// order and, up to 8 ranks, beside all numberings. Then: MakePlan with one waiting job on 1,024
// nodes and more, half of their GPUs taken.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/core/handle/submit/validate.h"
#include "scheduler/core/place/locality.h"
#include "scheduler/core/plan/planner.h"
#include "tests/bench/layout_judge.h"
#include "topology/captured/captured.h"

namespace muster::bench {
namespace {

constexpr std::size_t kJobs = 1024;
constexpr std::size_t kWindow = 32;  // waiting jobs that are looked at

// SplitMix64: the same order on every machine.
std::uint64_t Random(std::uint64_t& state) {
  std::uint64_t z = state += 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31U);
}

std::vector<NodeSnapshot> Nodes(const std::shared_ptr<const Machine>& machine,
                                std::uint32_t count) {
  std::vector<NodeSnapshot> nodes(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    nodes[i].id = NodeId(i + 1);
    nodes[i].name = absl::StrCat("node", i + 1);
    nodes[i].machine = machine;
    nodes[i].up = true;
    nodes[i].taken.gpus.resize(machine->gpus.size());
  }
  return nodes;
}

WaitingJob Waiting(std::uint64_t id, std::uint32_t gpus) {
  JobSpec spec;
  spec.request.tasks = gpus;
  spec.request.max_nodes = 1;
  spec.request.cpus_per_task = 4;
  spec.request.gpus_per_task.count = 1;
  WaitingJob job;
  job.id = job.submission = JobId(id);
  job.spec = std::make_shared<const JobSpec>(*core::Normalise(spec, SchedulerConfig()));
  return job;
}

void Take(std::vector<NodeSnapshot>& nodes, JobId job, const Allocation& allocation) {
  for (const NodeAllocation& part : allocation.nodes) {
    NodeSnapshot& node = nodes[part.node.value() - 1];
    Holding holding;
    holding.job = job;
    holding.cpus = part.cpus;
    holding.memory = part.memory;
    node.taken.cpus |= part.cpus;
    node.taken.memory += part.memory;
    for (const GpuGrant& grant : part.gpus) {
      node.taken.gpus[grant.gpu] = grant.share;
      holding.gpus.push_back(grant);
    }
    node.holdings.push_back(std::move(holding));
  }
}

void Return(std::vector<NodeSnapshot>& nodes, JobId job, const Allocation& allocation) {
  for (const NodeAllocation& part : allocation.nodes) {
    NodeSnapshot& node = nodes[part.node.value() - 1];
    node.taken.cpus -= part.cpus;
    node.taken.memory = node.taken.memory - part.memory;
    for (const GpuGrant& grant : part.gpus) {
      node.taken.gpus[grant.gpu] = GpuShare();
    }
    std::erase_if(node.holdings, [job](const Holding& held) { return held.job == job; });
  }
}

void MeasureLocality(const std::shared_ptr<const Machine>& machine) {
  constexpr std::uint32_t kNodes = 16;
  std::uint64_t seed = 1;
  std::vector<WaitingJob> queue;
  for (std::size_t i = 0; i < kJobs; ++i) {
    queue.push_back(Waiting(i + 1, 1U << (Random(seed) % 3)));
  }
  Snapshot snapshot;
  snapshot.nodes = Nodes(machine, kNodes);
  std::vector<std::pair<JobId, Allocation>> running;
  core::Locality locality;
  const std::size_t all = kNodes * machine->gpus.size();
  std::size_t busy = 0;
  double least = 1;
  double sum = 0;
  int looks = 0;
  for (;;) {
    snapshot.version = Version(snapshot.version.value() + 1);
    snapshot.waiting.assign(queue.begin(), queue.begin() + static_cast<std::ptrdiff_t>(
                                                               std::min(queue.size(), kWindow)));
    const Plan plan = core::MakePlan(snapshot, SchedulerConfig());
    for (const PlannedStart& start : plan.starts) {
      for (const NodeAllocation& part : start.allocation.nodes) {
        core::AddLocality(*machine, part, locality);
        busy += part.gpus.size();
      }
      Take(snapshot.nodes, start.job, start.allocation);
      running.emplace_back(start.job, start.allocation);
      std::erase_if(queue, [&start](const WaitingJob& job) { return job.id == start.job; });
    }
    if (queue.size() < kWindow) {
      break;
    }
    if (!plan.starts.empty()) {
      continue;  // until nothing that waits fits
    }
    const double share = static_cast<double>(busy) / static_cast<double>(all);
    least = std::min(least, share);
    sum += share;
    ++looks;
    const std::size_t leaves = Random(seed) % running.size();
    for (const NodeAllocation& part : running[leaves].second.nodes) {
      busy -= part.gpus.size();
    }
    Return(snapshot.nodes, running[leaves].first, running[leaves].second);
    running.erase(running.begin() + static_cast<std::ptrdiff_t>(leaves));
  }
  std::printf(
      "%zu jobs on %u nodes of %zu GPUs: locality %.3f of %u ranks; GPUs busy %.2f %% in "
      "the mean, %.2f %% at least, over %d instants with jobs waiting\n",
      kJobs, kNodes, machine->gpus.size(), locality.share(), locality.ranks,
      100 * sum / std::max(looks, 1), 100 * least, looks);
}

const char* Verdict(const LayoutCost& ours, const LayoutCost& other) {
  return ours < other ? "better" : ours == other ? "equal" : "WORSE";
}

void JudgeLayouts(const std::shared_ptr<const Machine>& machine) {
  std::printf("%-24s %5s %5s  %-11s %s\n", "layout", "nodes", "ranks", "block order",
              "best of all numberings");
  for (const std::uint32_t nodes : {1U, 2U, 4U}) {
    for (std::uint32_t ranks = 4; ranks <= 64; ranks *= 2) {
      for (const JudgedRequest& request : LayoutsOf(ranks)) {
        if (const std::optional<JudgedLayout> layout =
                JudgeLayout(machine, nodes, request, Numberings::kAll)) {
          std::printf("%-24s %5u %5u  %-11s %s\n", request.name.c_str(), nodes, ranks,
                      Verdict(layout->ours, layout->block),
                      layout->best.has_value() ? Verdict(layout->ours, *layout->best) : "-");
        }
      }
    }
  }
}

void MeasureDecisions(const std::shared_ptr<const Machine>& machine, std::uint32_t most) {
  for (std::uint32_t count = 1024; count <= most; count *= 2) {
    Snapshot snapshot;
    snapshot.version = Version(1);
    snapshot.nodes = Nodes(machine, count);
    std::uint64_t seed = 7;
    for (NodeSnapshot& node : snapshot.nodes) {
      for (GpuShare& share : node.taken.gpus) {
        share = Random(seed) % 2 == 0 ? kWholeGpu : GpuShare();
      }
    }
    std::vector<double> times;
    for (int i = 0; i < 200; ++i) {
      snapshot.waiting = {Waiting(1, 1U << (Random(seed) % 4))};
      const auto begin = std::chrono::steady_clock::now();
      const Plan plan = core::MakePlan(snapshot, SchedulerConfig());
      const std::chrono::duration<double, std::milli> took =
          std::chrono::steady_clock::now() - begin;
      if (plan.starts.empty() && plan.waiting.empty()) {
        std::abort();
      }
      times.push_back(took.count());
    }
    std::sort(times.begin(), times.end());
    std::printf("%6u nodes: one job planned in %.3f ms (median), %.3f ms (p99)\n", count,
                times[times.size() / 2], times[times.size() * 99 / 100]);
    std::fflush(stdout);
  }
}

}  // namespace
}  // namespace muster::bench

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    std::fprintf(stderr, "usage: locality_bench MACHINE [NODES]\n");
    return 2;
  }
  absl::StatusOr<muster::Machine> machine = muster::topology::ReadCapturedMachine(argv[1]);
  if (!machine.ok()) {
    std::fprintf(stderr, "locality_bench: %s\n", std::string(machine.status().message()).c_str());
    return 1;
  }
  const auto shared = std::make_shared<const muster::Machine>(*std::move(machine));
  muster::bench::MeasureLocality(shared);
  muster::bench::JudgeLayouts(shared);
  muster::bench::MeasureDecisions(
      shared, argc > 2 ? static_cast<std::uint32_t>(std::strtoul(argv[2], nullptr, 10)) : 16384);
  return 0;
}
