#include "topology/captured/slice.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/model/machine/machine_check.h"
#include "topology/captured/captured.h"

namespace muster::topology {
namespace {

Machine Read(const std::string& source) {
  absl::StatusOr<Machine> machine = ReadCapturedMachine(source);
  EXPECT_TRUE(machine.ok()) << machine.status();
  return machine.ok() ? *std::move(machine) : Machine();
}

Machine Fixture(const std::string& name) {
  return Read(absl::StrCat(MUSTER_FIXTURES, "/topology/", name));
}

std::vector<Machine> AllSlices(const Machine& machine, std::uint32_t count) {
  std::vector<Machine> slices;
  for (std::uint32_t i = 0; i < count; ++i) {
    absl::StatusOr<Machine> slice = SliceMachine(machine, i, count);
    EXPECT_TRUE(slice.ok()) << slice.status();
    slices.push_back(slice.ok() ? *std::move(slice) : Machine());
  }
  return slices;
}

// Why `slices` are no partition of `machine`; empty when they are.
std::string Flaw(const Machine& machine, const std::vector<Machine>& slices) {
  CpuSet seen;
  Bytes memory;
  std::multiset<std::string> gpus;
  std::size_t least = machine.cores.size();
  std::size_t most = 0;
  for (const Machine& slice : slices) {
    if (!CheckMachine(slice).ok()) {
      return std::string(CheckMachine(slice).message());
    }
    const CpuSet cpus = AllCpus(slice);
    if (cpus.Meets(seen)) {
      return "two slices share a thread";
    }
    seen |= cpus;
    memory += slice.memory;
    least = std::min(least, slice.cores.size());
    most = std::max(most, slice.cores.size());
    for (const Gpu& gpu : slice.gpus) {
      gpus.insert(gpu.uuid);
    }
  }
  if (seen != AllCpus(machine)) {
    return "a thread is in no slice";
  }
  if (memory != machine.memory) {
    return absl::StrCat("memory ", memory.value(), " is not ", machine.memory.value());
  }
  if (most > least + 1) {
    return "slices are uneven";
  }
  const std::set<std::string> distinct(gpus.begin(), gpus.end());
  return gpus.size() == machine.gpus.size() && distinct.size() == gpus.size()
             ? ""
             : "GPUs are lost or given twice";
}

struct Shape {
  std::string text;
  std::uint32_t threads;
};

// Any small synthetic machine whose cores have at least `threads_least` threads.
Shape AnyShape(std::uint32_t threads_least) {
  const auto level = [](const char* name, std::uint32_t most, std::uint32_t least = 1) {
    return std::pair{std::string(name), *rc::gen::inRange(least, most + 1)};
  };
  Shape shape{"", 1};
  std::vector<std::pair<std::string, std::uint32_t>> levels = {
      level("pack", 3), level("die", 3),  level("numa", 3),
      level("l3", 3),   level("core", 5), level("pu", 4, threads_least)};
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const bool kept =
        levels[i].first == "pu" || levels[i].first == "core" || *rc::gen::arbitrary<bool>();
    if (kept) {
      absl::StrAppend(&shape.text, shape.text.empty() ? "" : " ", levels[i].first, ":",
                      levels[i].second);
      shape.threads *= levels[i].second;
    }
  }
  return shape;
}

TEST(Slice, TheSlicesOfAnyMachineAreAPartition) {
  EXPECT_TRUE(rc::check("slices partition cores, memory and GPUs", [] {
    const Shape shape = AnyShape(1);
    Machine machine = Read(shape.text);
    RC_ASSERT(AllCpus(machine).Count() == shape.threads);
    const auto gpus = *rc::gen::inRange(0U, 9U);
    for (std::uint32_t i = 0; i < gpus; ++i) {
      const auto numa =
          *rc::gen::inRange(0U, static_cast<std::uint32_t>(machine.numa_nodes.size()) + 1);
      machine.gpus.push_back({i, absl::StrCat("GPU-", i), "any", "", kGibibyte,
                              numa < machine.numa_nodes.size() ? numa : kNowhere,
                              GpuVendor::kNvidia, "", ""});
    }
    machine.memory += Bytes(*rc::gen::inRange<std::uint64_t>(0, 1 << 20));
    const auto count = *rc::gen::inRange(1U, static_cast<std::uint32_t>(machine.cores.size()) + 1);
    RC_ASSERT(Flaw(machine, AllSlices(machine, count)) == "");
  }));
}

TEST(Slice, FewerCoresThanSlicesDivideThreads) {
  EXPECT_TRUE(rc::check("threads are dealt when cores do not suffice", [] {
    const Shape shape = AnyShape(2);
    const Machine machine = Read(shape.text);
    const auto cores = static_cast<std::uint32_t>(machine.cores.size());
    const auto count = *rc::gen::inRange(cores + 1, shape.threads + 1);
    const std::vector<Machine> slices = AllSlices(machine, count);
    std::uint32_t threads = 0;
    for (const Machine& slice : slices) {
      RC_ASSERT(CheckMachine(slice).ok());
      const std::uint32_t mine = AllCpus(slice).Count();
      RC_ASSERT(mine == shape.threads / count || mine == shape.threads / count + 1);
      threads += mine;
      RC_ASSERT(slice.remarks.back().find("nodes share a core") != std::string::npos);
    }
    RC_ASSERT(threads == shape.threads);
  }));
}

TEST(Slice, EveryFixtureCanBeDivided) {
  for (const char* name :
       {"h200x4.xml", "nvidiaDGX2.xml", "power8gpudistances.xml", "nvidia-dgx-gb10.xml",
        "40intel64-2g2n4c+pcilocality.xml", "64intel64-heteromem.xml", "16amd64-8n2c-cpusets.xml",
        "16em64t-4s2c2t-offlines.xml"}) {
    const Machine machine = Fixture(name);
    for (std::uint32_t count = 1; count <= machine.cores.size(); ++count) {
      EXPECT_EQ(Flaw(machine, AllSlices(machine, count)), "") << name << " in " << count;
    }
  }
}

TEST(Slice, TheOnlySliceIsTheMachine) {
  const Machine machine = Fixture("power8gpudistances.xml");
  const absl::StatusOr<Machine> slice = SliceMachine(machine, 0, 1);
  ASSERT_TRUE(slice.ok());
  EXPECT_EQ(*slice, machine);
}

TEST(Slice, ThreadsNumberedRoundRobinStillStayOnTheirNumaNode) {
  const Machine machine = Fixture("40intel64-2g2n4c+pcilocality.xml");
  for (const Machine& slice : AllSlices(machine, 4)) {
    EXPECT_EQ(slice.cores.size(), 10U);
    ASSERT_EQ(slice.numa_nodes.size(), 1U);
    EXPECT_EQ(slice.packages.size(), 1U);
    EXPECT_EQ(slice.l3_caches.size(), 1U);
    EXPECT_EQ(slice.numa_nodes[0].memory, slice.memory);
  }
}

TEST(Slice, GpusGoWithTheCoresNearThem) {
  const Machine machine = Fixture("nvidiaDGX2.xml");
  for (const Machine& slice : AllSlices(machine, 4)) {
    EXPECT_EQ(slice.gpus.size(), 4U);
    ASSERT_EQ(slice.numa_nodes.size(), 1U);
    for (const Gpu& gpu : slice.gpus) {
      EXPECT_EQ(gpu.numa, 0U);
    }
  }
  const absl::StatusOr<Machine> last = SliceMachine(machine, 3, 4);
  ASSERT_TRUE(last.ok());
  EXPECT_EQ(last->numa_nodes[0].os_index, 1U);
  EXPECT_EQ(last->gpus[0].os_index, 12U);
}

TEST(Slice, ASliceHasItsPartOfEachDie) {
  const Machine machine = Read("pack:2 die:2 core:2");
  const Machine slice = *SliceMachine(machine, 1, 2);
  ASSERT_EQ(slice.dies.size(), 2U);
  EXPECT_EQ(slice.dies[0].os_index, machine.dies[2].os_index);
  EXPECT_EQ(slice.dies[0].package, 0U);
  EXPECT_EQ(slice.dies[0].cpus.ToList(), "4-5");
  const Machine eighth = *SliceMachine(machine, 3, 8);
  ASSERT_EQ(eighth.dies.size(), 1U);
  EXPECT_EQ(eighth.dies[0].cpus.ToList(), "3");
}

TEST(Slice, InstancesOfOneGpuAreDealtOutOneByOne) {
  Machine machine = Read("pack:1 core:4");
  for (std::uint32_t i = 0; i < 4; ++i) {
    machine.gpus.push_back(
        {0, absl::StrCat("MIG-", i), "A", "", kGibibyte, 0, GpuVendor::kNvidia, "1g.5gb", "GPU-a"});
  }
  machine.gpus.push_back({1, "GPU-b", "A", "", kGibibyte, kNowhere, GpuVendor::kNvidia, "", ""});
  machine.gpus.push_back({0, "GPU-c", "B", "", kGibibyte, kNowhere, GpuVendor::kAmd, "", ""});
  machine.gpu_links = {{4, 5, LinkKind::kNode, 0, 0}};
  machine.mps = "/tmp/nvidia-mps";
  const std::vector<Machine> slices = AllSlices(machine, 2);
  EXPECT_EQ(Flaw(machine, slices), "");
  EXPECT_EQ(slices[0].gpus[0].uuid, "MIG-0");
  EXPECT_EQ(slices[0].gpus[1].uuid, "MIG-1");
  EXPECT_EQ(slices[1].gpus[0].uuid, "MIG-2");
  EXPECT_EQ(slices[1].mps, "/tmp/nvidia-mps");
  const std::vector<Machine> whole = AllSlices(machine, 1);
  EXPECT_EQ(whole[0].gpu_links, machine.gpu_links) << "a link is between GPUs, not their numbers";
}

TEST(Slice, AGpuFarFromEverySliceTakesItsNumaNodeAlong) {
  Machine machine = Read("numa:2 core:2 pu:1");
  machine.numa_nodes.push_back({2, {}, Bytes(0)});
  machine.gpus.push_back({0, "GPU-a", "any", "", kGibibyte, 2, GpuVendor::kNvidia, "", ""});
  const std::vector<Machine> slices = AllSlices(machine, 2);
  ASSERT_EQ(slices[0].gpus.size(), 1U);
  ASSERT_EQ(slices[0].numa_nodes.size(), 2U);
  EXPECT_EQ(slices[0].gpus[0].numa, 1U);
  EXPECT_EQ(slices[0].numa_nodes[1].os_index, 2U);
  EXPECT_EQ(slices[1].numa_nodes.size(), 1U);
}

TEST(Slice, EverySliceSeesANic) {
  Machine machine = Read("numa:2 core:2 pu:1");
  machine.nics.push_back({"mlx5_0", "0000:01:00.0", 0});
  const std::vector<Machine> slices = AllSlices(machine, 2);
  ASSERT_EQ(slices[0].nics.size(), 1U);
  EXPECT_EQ(slices[0].nics[0].numa, 0U);
  ASSERT_EQ(slices[1].nics.size(), 1U);
  EXPECT_EQ(slices[1].numa_nodes[slices[1].nics[0].numa].os_index, 0U);
}

TEST(Slice, MoreSlicesThanThreadsAreRefused) {
  const Machine machine = Read("core:2 pu:2");
  EXPECT_TRUE(SliceMachine(machine, 3, 4).ok());
  const absl::StatusOr<Machine> five = SliceMachine(machine, 0, 5);
  ASSERT_TRUE(absl::IsInvalidArgument(five.status()));
  EXPECT_NE(five.status().message().find("ask for at most 4"), std::string::npos);
  EXPECT_FALSE(SliceMachine(machine, 2, 2).ok());
  EXPECT_FALSE(SliceMachine(machine, 0, 0).ok());
}

}  // namespace
}  // namespace muster::topology
