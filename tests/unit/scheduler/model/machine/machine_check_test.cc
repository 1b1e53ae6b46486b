#include "scheduler/model/machine/machine_check.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "topology/captured/captured.h"

namespace muster {
namespace {

Machine Sound() {
  absl::StatusOr<Machine> machine = topology::ReadCapturedMachine("pack:2 numa:1 l3:2 core:2 pu:2");
  EXPECT_TRUE(machine.ok()) << machine.status();
  machine->gpus.push_back(
      {0, "GPU-a", "model", "0000:01:00.0", kGibibyte, 0, GpuVendor::kNvidia, "", ""});
  machine->gpus.push_back(
      {1, "GPU-b", "model", "0000:02:00.0", kGibibyte, kNowhere, GpuVendor::kNvidia, "", ""});
  machine->nics.push_back({"eth0", "0000:03:00.0", 1});
  return *std::move(machine);
}

// The complaint about a sound machine after `damage`.
std::string ComplaintAfter(const std::function<void(Machine&)>& damage) {
  Machine machine = Sound();
  damage(machine);
  return std::string(CheckMachine(machine).message());
}

TEST(Check, ASoundMachinePasses) {
  EXPECT_TRUE(CheckMachine(Sound()).ok());
}

TEST(Check, InstancesOfAGpuAndGpusOfAnotherVendorShareANumber) {
  Machine machine = Sound();
  for (const char* name : {"MIG-1", "MIG-2"}) {
    machine.gpus.push_back(
        {2, name, "A", "", Bytes(), 0, GpuVendor::kNvidia, "1g.5gb", "GPU-divided"});
  }
  machine.gpus.push_back({0, "GPU-00aa", "B", "", Bytes(), 0, GpuVendor::kAmd, "", ""});
  EXPECT_TRUE(CheckMachine(machine).ok()) << CheckMachine(machine);
}

TEST(Check, EveryBrokenInvariantIsNamed) {
  const auto expect = [](const std::string& piece, const std::function<void(Machine&)>& damage) {
    const std::string complaint = ComplaintAfter(damage);
    EXPECT_NE(complaint.find(piece), std::string::npos) << piece << " / " << complaint;
  };
  expect("no cores", [](Machine& m) { m.cores.clear(); });
  expect("no threads", [](Machine& m) { m.cores[1].cpus = CpuSet(); });
  expect("shares threads", [](Machine& m) { m.cores[1].cpus.Insert(0); });
  expect("order", [](Machine& m) { std::swap(m.cores[0], m.cores[1]); });
  expect("not there", [](Machine& m) { m.cores[0].l3 = 9; });
  expect("not there", [](Machine& m) { m.cores[0].package = 9; });
  expect("not there", [](Machine& m) { m.cores[0].numa = 2; });
  expect("its cores have", [](Machine& m) { m.numa_nodes[0].cpus.Insert(77); });
  expect("its cores have", [](Machine& m) { m.cores[0].numa = 1; });
  expect("two NUMA nodes", [](Machine& m) { m.numa_nodes[1].os_index = 0; });
  expect("below", [](Machine& m) { m.memory = Bytes(m.memory.value() - 1); });
  expect("L3 cache", [](Machine& m) { m.l3_caches[0].cpus = CpuSet(); });
  expect("no package", [](Machine& m) { m.l3_caches[0].package = 9; });
  expect("die at 0 points", [](Machine& m) { m.dies = {{0, 9, m.cores[0].cpus}}; });
  expect("die at 0 has", [](Machine& m) { m.dies = {{0, 0, {}}}; });
  expect("die at 0 has", [](Machine& m) { m.dies = {{0, 1, m.cores[0].cpus}}; });
  expect("die at 1 has", [](Machine& m) {
    m.dies = {{0, 0, m.cores[0].cpus}, {1, 0, m.cores[0].cpus}};
  });
  expect("name of its own", [](Machine& m) { m.gpus[1].uuid = "GPU-a"; });
  expect("name of its own", [](Machine& m) { m.gpus[1].uuid.clear(); });
  expect("name of its own", [](Machine& m) { m.gpus[1].os_index = 0; });
  expect("name of its own", [](Machine& m) {
    m.gpus[1] = {0, "MIG-1", "A", "", Bytes(), 0, GpuVendor::kNvidia, "1g.5gb", "GPU-z"};
  });
  expect("without a profile", [](Machine& m) { m.gpus[1].parent = "GPU-z"; });
  expect("without a profile", [](Machine& m) { m.gpus[1].instance = "1g.5gb"; });
  expect("whole and divided", [](Machine& m) {
    m.gpus[1].instance = "1g.5gb";
    m.gpus[1].parent = "GPU-a";
  });
  expect("GPU 0 points", [](Machine& m) { m.gpus[0].numa = 5; });
  expect("NIC eth0 points", [](Machine& m) { m.nics[0].numa = 5; });
  expect("no pair", [](Machine& m) { m.gpu_links = {{1, 0, LinkKind::kNode, 0, 0}}; });
  expect("no pair", [](Machine& m) { m.gpu_links = {{0, 2, LinkKind::kNode, 0, 0}}; });
  expect("no pair", [](Machine& m) { m.nic_links = {{0, 1, LinkKind::kNode, 0, 0}}; });
  expect("twice", [](Machine& m) { m.nic_links = {DeviceLink(), DeviceLink()}; });
}

}  // namespace
}  // namespace muster
