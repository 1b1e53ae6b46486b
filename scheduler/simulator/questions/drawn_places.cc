#include "scheduler/simulator/questions/drawn_places.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/core/handle/submit/validate.h"
#include "scheduler/core/place/nodes/node_selection.h"
#include "scheduler/core/place/worth/largest_gpu_job.h"
#include "scheduler/core/place/worth/placement_quality.h"
#include "scheduler/core/plan/search/feasibility.h"
#include "scheduler/core/state/tables/node_use.h"
#include "scheduler/simulator/workload/draws.h"
#include "scheduler/simulator/workload/machines.h"
#include "scheduler/simulator/workload/rare_wishes.h"
#include "scheduler/simulator/workload/wishes.h"

namespace muster::sim {
namespace {

constexpr Time kNow{Duration(1'767'225'600'000)};
constexpr std::uint32_t kNodesMost = 7;

// Most sites number their nodes; some do so with zeros in front, or by rack.
std::string NameOf(std::uint32_t number, std::uint32_t style) {
  switch (style) {
    case 0:
      return absl::StrCat("node0", number);
    case 1:
      return absl::StrCat("rack", number % 3, "-n", number < 3 ? "" : "0", number);
    case 2:
      return absl::StrCat(number % 2 == 0 ? "n" : "gpu-", 9 + number);
    default:
      return absl::StrCat("node", number);
  }
}

// A machine of which the last cores have one thread, as of processors with two kinds of cores.
void MakeCoresDiffer(Machine* machine) {
  Core& last = machine->cores.back();
  const std::vector<std::uint32_t> threads = last.cpus.Members();
  if (threads.size() < 2) {
    return;
  }
  CpuSet gone;
  gone.Insert(threads.back());
  last.cpus -= gone;
  for (NumaNode& node : machine->numa_nodes) {
    node.cpus -= gone;
  }
  for (L3Cache& cache : machine->l3_caches) {
    cache.cpus -= gone;
  }
  for (Die& die : machine->dies) {
    die.cpus -= gone;
  }
}

void DrawTaken(RandomSequence& random, NodeSnapshot* node) {
  const Machine& machine = *node->machine;
  const std::uint32_t busy = OneOf(random, {0U, 200U, 500U});
  for (const Core& core : machine.cores) {
    if (Chance(random, busy)) {
      node->taken.cpus |= core.cpus;
    }
  }
  if (!node->taken.cpus.Empty()) {
    node->taken.memory = kGibibyte * Draw(random, 16);
  }
  if (Chance(random, 800)) {  // else its table of GPUs was never needed
    for (std::uint32_t i = 0; i < machine.gpus.size(); ++i) {
      node->taken.gpus.push_back(!Chance(random, busy) ? GpuShare()
                                 : Chance(random, 500) ? kWholeGpu
                                                       : GpuShare(100 * (1 + Draw(random, 9))));
    }
  }
  if (!machine.gres.empty() && Chance(random, busy)) {
    node->taken.gres = {machine.gres.front()};
  }
  if (!machine.gpus.empty() && Chance(random, 100)) {
    node->gpu_occupants = {GpuOccupant{0, 4711, "eve", "python", kGibibyte}};
  }
}

std::vector<NodeSnapshot> DrawNodes(std::uint32_t count, RandomSequence& random) {
  const std::uint32_t style = Draw(random, 9);
  const std::uint32_t threads = 1 + Draw(random, 24);
  const std::uint32_t gpus = Draw(random, 9);
  std::shared_ptr<const Machine> machine;
  std::vector<NodeSnapshot> nodes;
  for (std::uint32_t i = 1; i <= count; ++i) {
    if (machine == nullptr || Chance(random, 300)) {
      Machine drawn = DrawMachine(threads, 1 + Draw(random, 2), gpus, random);
      if (Chance(random, 60)) {
        MakeCoresDiffer(&drawn);
      }
      if (Chance(random, 60)) {
        drawn.memory = Bytes();
      }
      machine = std::make_shared<const Machine>(std::move(drawn));
    }
    NodeSnapshot node;
    node.id = NodeId(i);
    node.name = NameOf(i, style);
    node.machine = machine;
    node.up = Chance(random, 930);
    node.drained = Chance(random, 70);
    node.narrow = Chance(random, 50);
    node.weight = Chance(random, 200) ? Draw(random, 3) : 0;
    node.features = DrawFeatures(random);
    DrawTaken(random, &node);
    nodes.push_back(std::move(node));
  }
  return nodes;
}

Network DrawNetworkOf(const std::vector<NodeSnapshot>& nodes, RandomSequence& random) {
  Network network = DrawNetwork(static_cast<std::uint32_t>(nodes.size()), random);
  for (std::size_t i = 0; i < network.nodes.size(); ++i) {
    network.nodes[i].name = nodes[i].name;
  }
  return network;
}

std::vector<NarrowLink> DrawLinks(RandomSequence& random) {
  constexpr const char* kSwitches[] = {"leaf0", "leaf1", "leaf2", "leaf3",
                                       "row0",  "row1",  "top",   "none"};
  std::vector<NarrowLink> links;
  for (std::uint32_t i = Chance(random, 300) ? 1 + Draw(random, 4) : 0; i > 0; --i) {
    links.push_back({OneOf(random, kSwitches), OneOf(random, kSwitches), "a cable", "root", kNow});
  }
  return links;
}

// Nothing where no user could ask for it.
std::optional<ResourceRequest> DrawRequest(std::uint32_t nodes, RandomSequence& random) {
  WishList list;
  list.nodes = nodes;
  list.cpus_per_node = 8;
  list.gpus_per_node = 4;
  list.memory_per_node = kGibibyte * 16;
  JobSpec spec;
  spec.request.cpus_per_task = 1 + Draw(random, 4);
  if (Chance(random, 500)) {
    spec.request.min_nodes = 1 + Draw(random, nodes);
    spec.request.max_nodes = spec.request.min_nodes + Draw(random, 3);
    spec.request.tasks = Chance(random, 300) ? 0 : spec.request.min_nodes * (1 + Draw(random, 4));
  } else {
    spec.request.tasks = 1 + Draw(random, 12);
  }
  if (Chance(random, 500)) {
    AddWishes(list, kNow, random, &spec);
  }
  for (std::uint32_t i = Draw(random, 4); i > 0; --i) {
    AddRareWishes(list, kNow, random, &spec);
  }
  spec.alternatives.clear();
  const absl::StatusOr<JobSpec> normal = core::Normalise(std::move(spec), SchedulerConfig());
  return normal.ok() ? std::optional(normal->request) : std::nullopt;
}

// What is wrong with a node's part, beside what is taken there.
std::optional<std::string> WrongPart(const NodeAllocation& part, const NodeUse& taken,
                                     std::set<std::uint32_t>& numbers) {
  if (part.ranks.empty()) {
    return absl::StrCat("a job is given node ", part.name, ", where it has no rank");
  }
  if (taken.cpus.Meets(part.cpus)) {
    return absl::StrCat("a job is given threads of ", part.name, " that are taken");
  }
  for (const GpuGrant& grant : part.gpus) {
    if (grant.gpu < taken.gpus.size() && taken.gpus[grant.gpu] + grant.share > kWholeGpu) {
      return absl::StrCat("a job is given a GPU of ", part.name, " that is taken");
    }
  }
  for (const RankPlacement& rank : part.ranks) {
    if (!numbers.insert(rank.rank).second || rank.cpus.Empty() || !part.cpus.Includes(rank.cpus)) {
      return absl::StrCat("rank ", rank.rank, " on ", part.name,
                          " is there twice, or holds what its node's part has not");
    }
  }
  return std::nullopt;
}

std::optional<std::string> WrongAllocation(const Allocation& place,
                                           const std::vector<NodeSnapshot>& nodes,
                                           const ResourceRequest& request, bool as_is) {
  std::set<std::uint32_t> numbers;
  for (const NodeAllocation& part : place.nodes) {
    const NodeUse nothing;
    const NodeUse& taken = as_is ? nodes[part.node.value() - 1].taken : nothing;
    if (std::optional<std::string> wrong = WrongPart(part, taken, numbers)) {
      return wrong;
    }
  }
  return numbers.size() != request.tasks || *numbers.rbegin() + 1 != request.tasks
             ? std::optional<std::string>("ranks are not numbered 0 to n-1")
             : std::nullopt;
}

// The nodes with the job on them, or on most of them.
std::vector<NodeSnapshot> Held(std::vector<NodeSnapshot> nodes, const Allocation& place, JobId job,
                               RandomSequence& random) {
  for (const NodeAllocation& part : place.nodes) {
    NodeSnapshot& node = nodes[part.node.value() - 1];
    Holding holding;
    holding.job = Chance(random, 900) ? job : job.Next();
    holding.cpus = part.cpus;
    node.holdings.push_back(std::move(holding));
    node.taken.cpus |= part.cpus;
    if (Chance(random, 700)) {
      core::CoverUse(node.taken, *node.machine, part);
    }
  }
  if (Chance(random, 100)) {
    nodes.pop_back();
  }
  return nodes;
}

}  // namespace

std::optional<std::string> WrongPlace(RandomSequence& random) {
  const std::uint32_t count = 1 + Draw(random, kNodesMost);
  const std::vector<NodeSnapshot> nodes = DrawNodes(count, random);
  const Network network = DrawNetworkOf(nodes, random);
  const std::vector<NarrowLink> links = DrawLinks(random);
  const Network* known = Chance(random, 700) ? &network : nullptr;
  static_cast<void>(core::LargestGpuJobs(nodes, known));
  constexpr int kRequests = 4;
  for (int i = 0; i < kRequests; ++i) {
    const std::optional<ResourceRequest> request = DrawRequest(count, random);
    if (!request.has_value()) {
      continue;
    }
    const auto view = static_cast<core::ClusterView>(random.Below(3));
    const std::optional<Allocation> place = core::PlaceJob(nodes, *request, view, known, links);
    if (!place.has_value()) {
      for (const NodeSnapshot& node : nodes) {
        static_cast<void>(core::ShortagesOf(node, *request));
      }
      static_cast<void>(core::WhyNever(nodes, *request));
      continue;
    }
    if (auto wrong = WrongAllocation(*place, nodes, *request, view == core::ClusterView::kAsIs)) {
      return wrong;
    }
    PlacementQuality worth = core::WorthOf(*place, nodes, known);
    constexpr JobId kJob{1};
    core::Compare(kJob, *place, *request, Held(nodes, *place, kJob, random), known, worth);
    if (worth.local_ranks > worth.ranks) {
      return "more ranks are said to be local than there are";
    }
  }
  return std::nullopt;
}

}  // namespace muster::sim
