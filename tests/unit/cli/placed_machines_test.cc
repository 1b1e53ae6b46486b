// On every captured machine, what can be local is, and its GPUs are a best-joined set.

#include <gtest/gtest.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "scheduler/core/handle/submit/validate.h"
#include "scheduler/core/place/locality.h"
#include "scheduler/core/place/placement.h"
#include "topology/captured/captured.h"

namespace muster::cli {
namespace {

// GPUs and whole cores of each NUMA node.
struct Supply {
  std::uint32_t cores = 0;
  std::vector<std::uint32_t> gpus;
};

std::vector<Supply> SuppliesOf(const Machine& machine) {
  std::vector<Supply> supplies(std::max<std::size_t>(machine.numa_nodes.size(), 1));
  for (const Core& core : machine.cores) {
    if (core.numa != kNowhere) {
      ++supplies[core.numa].cores;
    }
  }
  for (std::uint32_t gpu = 0; gpu < machine.gpus.size(); ++gpu) {
    if (machine.gpus[gpu].numa != kNowhere) {
      supplies[machine.gpus[gpu].numa].gpus.push_back(gpu);
    }
  }
  return supplies;
}

class PlacedMachine : public ::testing::TestWithParam<std::string> {};

TEST_P(PlacedMachine, EveryRequestThatCanBeLocalIs) {
  const std::string folder = absl::StrCat(MUSTER_FIXTURES, "/topology/");
  const std::size_t plus = GetParam().find("+h200");
  const absl::StatusOr<Machine> machine = topology::ReadCapturedMachine(
      plus == std::string::npos ? folder + GetParam()
                                : absl::StrCat(folder, GetParam().substr(0, plus), "+", folder,
                                               GetParam().substr(plus + 1)));
  ASSERT_TRUE(machine.ok()) << machine.status();
  NodeSnapshot node;
  node.id = NodeId(1);
  node.machine = std::make_shared<const Machine>(*machine);
  node.up = true;
  node.taken.gpus.resize(machine->gpus.size());
  const std::vector<Supply> supplies = SuppliesOf(*machine);
  const auto most_gpus = static_cast<std::uint32_t>(machine->gpus.size());
  int local_requests = 0;
  for (std::uint32_t each = 0; each <= most_gpus; ++each) {
    for (const std::uint32_t width : {1U, 2U, 3U, 4U, 8U, 12U}) {
      std::uint32_t can = 0;  // tasks that have all of theirs on one NUMA node
      const std::uint32_t threads = machine->cores.front().cpus.Count();
      for (const Supply& supply : supplies) {
        const std::uint32_t by_cores = supply.cores / ((width + threads - 1) / threads);
        const auto gpus = static_cast<std::uint32_t>(supply.gpus.size());
        can += each == 0 ? by_cores : std::min(by_cores, gpus / each);
      }
      for (std::uint32_t tasks = 1; tasks <= std::min(can, 64U); ++tasks) {
        JobSpec spec;
        spec.request.tasks = tasks;
        spec.request.max_nodes = 1;
        spec.request.cpus_per_task = width;
        spec.request.gpus_per_task.count = each;
        const absl::StatusOr<JobSpec> normal = core::Normalise(spec, SchedulerConfig());
        ASSERT_TRUE(normal.ok()) << normal.status();
        const core::Placed placed = core::PlaceOnNode(node, normal->request, tasks);
        ASSERT_EQ(placed.tasks, tasks) << each << " GPUs, " << width << " CPUs";
        core::Locality locality;
        core::AddLocality(*machine, placed.allocation, locality);
        EXPECT_EQ(locality.local, tasks) << each << " GPUs, " << width << " CPUs a task";
        ++local_requests;
      }
    }
  }
  EXPECT_GT(local_requests, 5);
}

INSTANTIATE_TEST_SUITE_P(Fixtures, PlacedMachine,
                         ::testing::Values("h200x4.xml+h200x4.topo_m.txt", "h200x4.xml",
                                           "nvidiaDGX2.xml", "power8gpudistances.xml",
                                           "nvidia-dgx-gb10.xml", "ndv2-topo.xml", "ndv4-topo.xml",
                                           "ndv5-topo.xml", "ncv4-topo.xml", "2gpu-phb.topo-m.txt",
                                           "8x4090-dual-socket.topo-m.txt",
                                           "40intel64-2g2n4c+pcilocality.xml"));

}  // namespace
}  // namespace muster::cli
