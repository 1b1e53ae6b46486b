#include "topology/discover.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "scheduler/model/machine/machine_check.h"
#include "scheduler/runtime/file.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"
#include "topology/hwloc/memory_capacity.h"

namespace muster::topology {
namespace {

CpuSet Affinity() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  EXPECT_EQ(sched_getaffinity(0, sizeof mask, &mask), 0);
  CpuSet cpus;
  for (std::uint32_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &mask)) {
      cpus.Insert(cpu);
    }
  }
  return cpus;
}

// Runs `body` in a child of our own and returns its exit code: what it changes dies with it.
template <class Body>
int InAChild(Body body) {
  const pid_t child = fork();
  if (child == 0) {
    _exit(body());
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Discover, FindsTheThreadsThatTheKernelLetsUsUse) {
  const absl::StatusOr<Machine> machine = DiscoverMachine();
  ASSERT_TRUE(machine.ok()) << machine.status();
  EXPECT_EQ(AllCpus(*machine).ToList(), Affinity().ToList());
  EXPECT_EQ(machine->source, "live");
  EXPECT_TRUE(machine->enforced);
  EXPECT_TRUE(CheckMachine(*machine).ok());
}

TEST(Discover, FindsNoLessMemoryThanIsThere) {
  const absl::StatusOr<Machine> machine = DiscoverMachine();
  ASSERT_TRUE(machine.ok()) << machine.status();
  const MemoryReadings readings = ReadMemory();
  ASSERT_TRUE(readings.total.has_value());
  const std::uint64_t bound =
      std::min(*readings.total, readings.limit.value_or(*readings.total)).value();
  EXPECT_GE(machine->memory.value(), bound - bound / 50);
  EXPECT_LE(machine->memory.value(), bound + bound / 50);
}

TEST(Discover, HonoursARestrictedAffinity) {
  const CpuSet all = Affinity();
  if (all.Count() < 2) {
    GTEST_SKIP() << "one thread cannot be restricted";
  }
  const std::uint32_t chosen = all.Members().back();
  EXPECT_EQ(InAChild([chosen] {
              cpu_set_t mask;
              CPU_ZERO(&mask);
              CPU_SET(chosen, &mask);
              if (sched_setaffinity(0, sizeof mask, &mask) != 0) {
                return 1;
              }
              const absl::StatusOr<Machine> machine = DiscoverMachine();
              if (!machine.ok()) {
                return 2;
              }
              const bool said = std::any_of(
                  machine->remarks.begin(), machine->remarks.end(), [](const std::string& remark) {
                    return remark.find("may run on 1 of") != std::string::npos;
                  });
              return AllCpus(*machine) == CpuSet::Of({chosen}) && said ? 0 : 3;
            }),
            0);
}

TEST(Discover, RefusesToCallAnotherMachineLive) {
  EXPECT_EQ(InAChild([] {
              setenv("HWLOC_SYNTHETIC", "pack:2 core:4 pu:2", 1);
              const absl::StatusOr<Machine> machine = DiscoverMachine();
              return absl::IsFailedPrecondition(machine.status()) ? 0 : 1;
            }),
            0);
}

TEST(Discover, JoinsGpusOfNvmlToTheOnlyNumaNode) {
  const TempDirectory directory;
  std::ofstream(directory / "gpus.json")
      << R"({"devices": [{"uuid": "GPU-1", "name": "NVIDIA H200", "memory": 1024,)"
         R"( "pci": [0, 240, 31]}]})";
  const std::string json = directory / "gpus.json";
  EXPECT_EQ(
      InAChild([&json] {
        setenv("MUSTER_NVML", FAKE_NVML, 1);
        setenv("MUSTER_FAKE_NVML_JSON", json.c_str(), 1);
        const absl::StatusOr<Machine> machine = DiscoverMachine();
        if (!machine.ok() || machine->gpus.size() != 1) {
          return 1;
        }
        const Gpu& gpu = machine->gpus[0];
        const std::uint32_t numa = machine->numa_nodes.size() == 1 ? 0 : kNowhere;
        return gpu.uuid == "GPU-1" && gpu.pci_address == "0000:f0:1f.0" && gpu.numa == numa ? 0 : 2;
      }),
      0);
}

TEST(Discover, FindsGpusOfBothVendorsAndTheMpsDaemon) {
  const TempDirectory directory;
  const std::string json = directory / "gpus.json";
  std::ofstream(json) << R"({"devices": [{"uuid": "GPU-1", "name": "H200", "memory": 1024,)"
                         R"( "unique_id": "ab", "pci": [0, 240, 31, 0]}]})";
  EXPECT_EQ(InAChild([&directory, &json] {
              setenv("MUSTER_NVML", FAKE_NVML, 1);
              setenv("MUSTER_FAKE_NVML_JSON", json.c_str(), 1);
              setenv("MUSTER_ROCM_SMI", FAKE_ROCM_SMI, 1);
              setenv("MUSTER_FAKE_ROCM_SMI_JSON", json.c_str(), 1);
              setenv("CUDA_MPS_PIPE_DIRECTORY", directory.path().c_str(), 1);
              const absl::StatusOr<Machine> alone = DiscoverMachine();
              if (!alone.ok() || !alone->mps.empty()) {
                return 1;
              }
              const int daemon = socket(AF_UNIX, SOCK_SEQPACKET, 0);
              sockaddr_un address{};
              address.sun_family = AF_UNIX;
              const std::string control = directory / "control";
              std::copy(control.begin(), control.end(), std::begin(address.sun_path));
              if (bind(daemon, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
                  listen(daemon, 1) != 0) {
                return 2;
              }
              const absl::StatusOr<Machine> machine = DiscoverMachine();
              if (!machine.ok() || machine->gpus.size() != 2) {
                return 3;
              }
              return machine->mps == directory.path() && machine->gpus[0].uuid == "GPU-1" &&
                             machine->gpus[1].uuid == "GPU-00000000000000ab" &&
                             machine->gpus[1].vendor == GpuVendor::kAmd
                         ? 0
                         : 4;
            }),
            0);
}

}  // namespace
}  // namespace muster::topology
