#include "agent/node/usage_sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::agent {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

Usage GpuUse(int busy_ms, int memory, int energy_mj, int watched_ms = 0) {
  Usage usage;
  usage.gpu_watched = Duration(watched_ms);
  usage.gpu_busy = Duration(busy_ms);
  usage.gpu_memory = Bytes(static_cast<std::uint64_t>(memory));
  usage.gpu_energy_mj = static_cast<std::uint64_t>(energy_mj);
  return usage;
}

// Says what the test has it say.
class SaidMeter final : public topology::GpuMeter {
 public:
  std::vector<topology::GpuReading> Read() override { return said; }
  std::vector<topology::GpuReading> said;
};

class UsageSamplerTest : public ::testing::Test {
 protected:
  UsageSamplerTest() {
    machine_.gpus.resize(2);
    machine_.gpus[0].uuid = "GPU-a";
    machine_.gpus[1].uuid = "GPU-b";
    meter_.said = {{"GPU-a", 50, Bytes(10), 5000, false}, {"GPU-b", 100, Bytes(20), 9000, false}};
    state_ = std::make_unique<StateDirectory>(StateDirectory::Open(directory_ / "agent").value());
  }
  // A part of this node with those shares of its GPUs.
  static NodeAllocation Part(std::vector<GpuGrant> gpus) {
    NodeAllocation part;
    part.gpus = std::move(gpus);
    return part;
  }
  Usage Sum(const AttemptKey& key) { return ReadSampledUsage(state_->Attempt(key).Sampled()); }
  void Make(const AttemptKey& key) { ASSERT_TRUE(state_->MakeAttempt(key).ok()); }

  TempDirectory directory_;
  Machine machine_;
  SaidMeter meter_;
  std::unique_ptr<StateDirectory> state_;
  const AttemptKey one_{JobId(1), AttemptNumber(1)};
  const AttemptKey two_{JobId(2), AttemptNumber(1)};
  const SteadyTime start_ = SteadyTime(std::chrono::hours(1));
};

TEST_F(UsageSamplerTest, GpusAreToldWithoutAJobAndAsTheyAreNow) {
  UsageSampler sampler(machine_, *state_, {.gpus = &meter_});
  EXPECT_THAT(sampler.gpus(), IsEmpty()) << "nothing was looked at yet";
  sampler.Sample({}, start_);
  meter_.said[1].power_mw = 700;
  sampler.Sample({}, start_ + seconds(10));
  const std::vector<topology::GpuReading> gpus = sampler.gpus();
  ASSERT_EQ(gpus.size(), 2U);
  EXPECT_EQ(gpus[0].uuid, "GPU-a");
  EXPECT_EQ(gpus[0].power_mw, std::nullopt);
  EXPECT_EQ(gpus[1].power_mw, 700U);
  UsageSampler none(machine_, *state_, {});
  none.Sample({}, start_);
  EXPECT_THAT(none.gpus(), IsEmpty()) << "a node without a meter tells nothing";
}

TEST_F(UsageSamplerTest, WhatGpusDoBetweenSamplesIsTheirJobs) {
  UsageSampler sampler(machine_, *state_, {.gpus = &meter_});
  const NodeAllocation part = Part({{0}, {1}});
  Make(one_);
  sampler.Sample({{one_, {&part}}}, start_);
  EXPECT_EQ(Sum(one_), Usage()) << "what was before is nobody's";
  meter_.said[0].energy_mj += 700;
  meter_.said[1].energy_mj += 300;
  sampler.Sample({{one_, {&part}}}, start_ + seconds(10));
  EXPECT_EQ(Sum(one_), GpuUse(0, 20, 1000)) << "one look says not how busy they were";
  meter_.said[1].memory_used = Bytes(5);
  sampler.Sample({{one_, {&part}}}, start_ + seconds(12));
  EXPECT_EQ(Sum(one_), GpuUse(18'000, 20, 1000, 24'000)) << "two GPUs for twelve seconds";
}

TEST_F(UsageSamplerTest, JobsThatShareAGpuShareWhatItDoes) {
  UsageSampler sampler(machine_, *state_, {.gpus = &meter_});
  const NodeAllocation quarter = Part({{1, GpuShare(250)}});
  const NodeAllocation rest = Part({{1, GpuShare(750)}});
  Make(one_);
  Make(two_);
  sampler.Sample({{one_, {&quarter}}, {two_, {&rest}}}, start_);
  meter_.said[1].energy_mj += 1000;
  sampler.Sample({{one_, {&quarter}}, {two_, {&rest}}}, start_ + seconds(2));
  sampler.Sample({{one_, {&quarter}}, {two_, {&rest}}}, start_ + seconds(4));
  EXPECT_EQ(Sum(one_), GpuUse(1000, 20, 250, 1000));
  EXPECT_EQ(Sum(two_), GpuUse(3000, 20, 750, 3000));
}

TEST_F(UsageSamplerTest, AJobThatCameSinceTheLastSampleIsNotChargedForBefore) {
  UsageSampler sampler(machine_, *state_, {.gpus = &meter_});
  sampler.Sample({}, start_);
  const NodeAllocation part = Part({{0}});
  Make(one_);
  sampler.Sample({{one_, {&part}}}, start_ + seconds(10));
  EXPECT_EQ(Sum(one_), Usage());
}

TEST_F(UsageSamplerTest, TheNextAgentGoesOnFromWhatWasSampled) {
  const NodeAllocation part = Part({{0}});
  Make(one_);
  for (int agent = 0; agent < 2; ++agent) {
    UsageSampler sampler(machine_, *state_, {.gpus = &meter_});
    sampler.Sample({{one_, {&part}}}, start_);
    sampler.Sample({{one_, {&part}}}, start_ + seconds(2));
    sampler.Sample({{one_, {&part}}}, start_ + seconds(4));
  }
  EXPECT_EQ(Sum(one_).gpu_busy, seconds(4));
}

TEST_F(UsageSamplerTest, GpusThatWereIdleAtEachLookAreNotThoseOfWhichNobodyKnows) {
  UsageSampler sampler(machine_, *state_, {.gpus = &meter_});
  const NodeAllocation first = Part({{0}});
  const NodeAllocation second = Part({{1}});
  Make(one_);
  Make(two_);
  meter_.said[0].busy_percent = 0;
  meter_.said[1].busy_percent = std::nullopt;
  for (int i = 0; i < 4; ++i) {
    sampler.Sample({{one_, {&first}}, {two_, {&second}}}, start_ + seconds(10 * i));
  }
  EXPECT_EQ(Sum(one_), GpuUse(1, 10, 0, 30'000));
  EXPECT_EQ(Sum(two_), GpuUse(0, 20, 0)) << "memory is known of a GPU that MIG divides";
}

TEST_F(UsageSamplerTest, CountersCountForTheirTimeAndTheJobsPartOfTheGpu) {
  UsageSampler sampler(machine_, *state_, {.gpus = &meter_});
  const NodeAllocation whole = Part({{0}});
  const NodeAllocation half = Part({{1, GpuShare(500)}});
  Make(one_);
  Make(two_);
  const UsageSampler::Running both = {{one_, {&whole}}, {two_, {&half}}};
  sampler.Sample(both, start_);
  meter_.said[0].memory_busy_percent = 20;
  meter_.said[0].counters = {.sm_active = 0.5, .dram_active = 1, .nvlink = 1000, .pcie = {}};
  sampler.Sample(both, start_ + seconds(4));
  meter_.said[0].counters = {.sm_active = 1, .dram_active = 0, .nvlink = 500, .pcie = 10};
  meter_.said[1].counters = {.sm_active = 0.25};
  sampler.Sample(both, start_ + seconds(6));
  const Usage used = Sum(one_);
  EXPECT_EQ(used.gpu_counted, seconds(6));
  EXPECT_EQ(used.sm_active, seconds(4)) << "half of four seconds, and two";
  EXPECT_EQ(used.tensor_active, seconds(0)) << "it was told, and none worked";
  EXPECT_EQ(used.dram_active, seconds(4));
  EXPECT_EQ(used.nvlink_bytes, Bytes(5000));
  EXPECT_EQ(used.pcie_bytes, Bytes(20)) << "for as long as it was told";
  EXPECT_EQ(used.gpu_memory_busy, milliseconds(1200));
  EXPECT_EQ(Sum(two_).gpu_counted, seconds(1));
  EXPECT_EQ(Sum(two_).sm_active, milliseconds(250));
  EXPECT_EQ(Sum(two_).pcie_bytes, std::nullopt);
  EXPECT_EQ(Sum(two_).gpu_memory_busy, std::nullopt);
}

TEST_F(UsageSamplerTest, YoungJobsWithGpusAreLookedAtMoreOftenThanOthers) {
  UsageSampler sampler(machine_, *state_, {.gpus = &meter_});
  const NodeAllocation gpu = Part({{0}});
  const NodeAllocation none = Part({});
  Make(one_);
  Make(two_);
  const Duration every = seconds(10);
  sampler.Sample({{two_, {&none}}}, start_);
  EXPECT_EQ(sampler.NextIn(every, start_), every) << "the kernel counts what processes do";
  const UsageSampler::Running both = {{one_, {&gpu}}, {two_, {&none}}};
  sampler.Sample(both, start_);
  EXPECT_EQ(sampler.NextIn(every, start_), seconds(1));
  EXPECT_EQ(sampler.NextIn(every, start_ + seconds(8)), seconds(1));
  EXPECT_EQ(sampler.NextIn(every, start_ + seconds(40)), seconds(5));
  EXPECT_EQ(sampler.NextIn(every, start_ + seconds(800)), every);
  sampler.Sample({{two_, {&none}}}, start_ + seconds(1));
  EXPECT_EQ(sampler.NextIn(every, start_ + seconds(1)), every) << "it has ended";
}

TEST_F(UsageSamplerTest, AnEightSecondJobIsKnownForMostOfItsTime) {
  UsageSampler sampler(machine_, *state_, {.gpus = &meter_});
  const NodeAllocation part = Part({{1}});
  Make(one_);
  Duration at = milliseconds(700);  // the first look comes within a second of its start
  while (at < seconds(8)) {
    sampler.Sample({{one_, {&part}}}, start_ + at);
    at += sampler.NextIn(seconds(10), start_ + at);
  }
  EXPECT_EQ(Sum(one_).gpu_watched, seconds(7));
  EXPECT_EQ(Sum(one_).gpu_busy, seconds(7));
}

TEST_F(UsageSamplerTest, ADriverThatCountsAnewTakesNothingAway) {
  UsageSampler sampler(machine_, *state_, {.gpus = &meter_});
  const NodeAllocation part = Part({{0}});
  Make(one_);
  sampler.Sample({{one_, {&part}}}, start_);
  meter_.said[0].energy_mj += 100;
  sampler.Sample({{one_, {&part}}}, start_ + seconds(1));
  meter_.said[0].energy_mj = 3;
  sampler.Sample({{one_, {&part}}}, start_ + seconds(2));
  EXPECT_EQ(Sum(one_).gpu_energy_mj, 100U);
}

TEST_F(UsageSamplerTest, AGpuThatFallsOffTheBusIsToldOnce) {
  UsageSampler sampler(machine_, *state_, {.gpus = &meter_});
  EXPECT_THAT(sampler.Sample({}, start_), IsEmpty());
  meter_.said[1].lost = true;
  EXPECT_THAT(sampler.Sample({}, start_ + seconds(1)), ElementsAre("GPU-b"));
  EXPECT_THAT(sampler.Sample({}, start_ + seconds(2)), IsEmpty());
}

// A machine of which the test writes /proc and the powercap tree.
class ProcessSampleTest : public UsageSamplerTest {
 protected:
  ProcessSampleTest() {
    std::filesystem::create_directories(directory_ / "proc");
    Write("power/intel-rapl:0/name", "package-0");
    Write("power/intel-rapl:0/max_energy_range_uj", "100000000");
    SetEnergy(0);
    SetBusy(0);
    meter_.said.clear();
    power_ = topology::CpuEnergyMeter::Open(directory_ / "power");
    Make(one_);
    Make(two_);
  }
  void Write(const std::string& name, const std::string& text) {
    const std::filesystem::path path = directory_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text << "\n";
  }
  void SetEnergy(int microjoules) {
    Write("power/intel-rapl:0/energy_uj", std::to_string(microjoules));
  }
  // Of all the machine.
  void SetBusy(int ticks) {
    Write("proc/stat", "cpu  " + std::to_string(ticks) + " 0 0 99 99 0 0 0 0 0");
  }
  void SetProcess(int pid, int parent, int ticks, int pages) {
    Write("proc/" + std::to_string(pid) + "/stat",
          std::to_string(pid) + " (x) R " + std::to_string(parent) + " 1 1 0 -1 0 1 0 3 4 " +
              std::to_string(ticks) + " 0 0 0 20 0 1 0 7 1 " + std::to_string(pages) + " 1");
  }
  void SetGroup(const std::string& cgroup, int user_usec, int system_usec, int now, int peak) {
    Write(cgroup + "/cpu.stat", "usage_usec 1\nuser_usec " + std::to_string(user_usec) +
                                    "\nsystem_usec " + std::to_string(system_usec));
    Write(cgroup + "/memory.current", std::to_string(now));
    Write(cgroup + "/memory.peak", std::to_string(peak));
  }
  void SetIo(int pid, int read, int written) {
    Write("proc/" + std::to_string(pid) + "/io",
          "rchar: 9999\nwchar: 9999\nsyscr: 1\nsyscw: 1\nread_bytes: " + std::to_string(read) +
              "\nwrite_bytes: " + std::to_string(written) + "\ncancelled_write_bytes: 3");
  }
  UsageSampler Sampler() {
    UsageSampler::Sources sources;
    sources.cpus = power_.get();
    sources.proc = directory_ / "proc";
    sources.tcp = [this] { return std::optional(connections_); };
    sources.fabric = directory_ / "infiniband";
    sources.debug = directory_ / "debug";
    return {machine_, *state_, sources};
  }
  void Link(const std::string& name, const std::string& target) {
    const std::filesystem::path path = directory_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::filesystem::create_symlink(target, path);
  }
  [[nodiscard]] static Duration Ticks(int ticks) {
    return Duration(ticks * 1000 / sysconf(_SC_CLK_TCK));
  }

  std::unique_ptr<topology::CpuEnergyMeter> power_;
  std::vector<TcpConnection> connections_;
};

TEST_F(ProcessSampleTest, AnAttemptWithoutAGroupIsItsProcesses) {
  UsageSampler sampler = Sampler();
  SetProcess(10, 1, 5000, 9);
  SetProcess(11, 10, 200, 3);
  sampler.Sample({{one_, {nullptr, "", 10}}}, start_);
  const Usage first = sampler.used().at(one_);
  EXPECT_EQ(first.user_cpu, Ticks(200));
  EXPECT_EQ(first.group_memory.value(), 3U * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)));
  SetProcess(11, 10, 300, 1);
  sampler.Sample({{one_, {nullptr, "", 10}}}, start_ + seconds(10));
  const Usage second = sampler.used().at(one_);
  EXPECT_EQ(second.user_cpu, Ticks(300));
  EXPECT_EQ(second.group_memory, first.group_memory) << "the most, not the last";
  EXPECT_EQ(Sum(one_), second) << "what the supervisor and the next agent find";
}

TEST_F(ProcessSampleTest, AnAttemptWithAGroupIsWhatTheKernelCounted) {
  UsageSampler sampler = Sampler();
  SetProcess(10, 1, 0, 0);
  SetProcess(11, 10, 200, 3);
  SetGroup("group", 7'000'000, 500'000, 40, 60);
  sampler.Sample({{one_, {nullptr, directory_ / "group", 10}}}, start_);
  const Usage used = sampler.used().at(one_);
  EXPECT_EQ(used.user_cpu, seconds(7));
  EXPECT_EQ(used.system_cpu, milliseconds(500));
  EXPECT_EQ(used.group_memory, Bytes(60));
}

TEST_F(ProcessSampleTest, WhatAGroupDoesNotCountIsReadOfItsProcesses) {
  UsageSampler sampler = Sampler();
  SetProcess(10, 1, 0, 0);
  SetProcess(11, 10, 200, 3);
  Write("group/cpu.stat", "usage_usec 1\nuser_usec 9000000\nsystem_usec 0");
  sampler.Sample({{one_, {nullptr, directory_ / "group", 10}}}, start_);
  EXPECT_EQ(sampler.used().at(one_).user_cpu, seconds(9));
  EXPECT_GT(sampler.used().at(one_).group_memory, Bytes(0));
}

TEST_F(ProcessSampleTest, StorageIsThatOfTheProcessesAndTheWaitForItTheGroups) {
  UsageSampler sampler = Sampler();
  SetProcess(10, 1, 0, 0);
  SetProcess(11, 10, 200, 3);
  SetIo(10, 100, 0);
  SetIo(11, 4096, 512);
  SetGroup("group", 0, 0, 1, 1);
  Write("group/io.pressure",
        "some avg10=0.00 avg60=0.00 avg300=0.00 total=2500000\n"
        "full avg10=0.00 avg60=0.00 avg300=0.00 total=9900000");
  Write("group/io.stat", "8:0 rbytes=7 wbytes=8 rios=1 wios=1 dbytes=0 dios=0");
  const UsageSampler::Running one = {{one_, {nullptr, directory_ / "group", 10}}};
  sampler.Sample(one, start_);
  EXPECT_EQ(sampler.used().at(one_).read_bytes, Bytes(4196));
  EXPECT_EQ(sampler.used().at(one_).written_bytes, Bytes(512));
  EXPECT_EQ(sampler.used().at(one_).io_blocked, milliseconds(2500));
  std::filesystem::remove_all(directory_ / "proc/11");
  sampler.Sample(one, start_ + seconds(10));
  EXPECT_EQ(sampler.used().at(one_).read_bytes, Bytes(4196)) << "a sum never goes down";
}

TEST_F(ProcessSampleTest, WhereNoProcessTellsOfStorageItsGroupsDevicesDoAndElseNobody) {
  UsageSampler sampler = Sampler();
  SetProcess(10, 1, 0, 0);
  SetGroup("one", 0, 0, 1, 1);
  SetGroup("two", 0, 0, 1, 1);
  Write("one/io.stat", "8:0 rbytes=7 wbytes=8 rios=1 wios=1\n8:16 rbytes=1 wbytes=0 rios=1 wios=0");
  sampler.Sample(
      {{one_, {nullptr, directory_ / "one", 10}}, {two_, {nullptr, directory_ / "two", 0}}},
      start_);
  EXPECT_EQ(sampler.used().at(one_).read_bytes, Bytes(8));
  EXPECT_EQ(sampler.used().at(one_).written_bytes, Bytes(8));
  EXPECT_EQ(sampler.used().at(one_).io_blocked, std::nullopt);
  EXPECT_EQ(sampler.used().at(two_).read_bytes, std::nullopt) << "unknown is not nothing";
  EXPECT_EQ(Sum(one_).read_bytes, Bytes(8));
  EXPECT_EQ(Sum(one_).io_blocked, std::nullopt) << "and stays so in the attempt's directory";
}

TEST_F(ProcessSampleTest, WhatAnAttemptSentIsKnownToTheNextAgentAndOfAnotherNamespaceNobodyKnows) {
  SetProcess(10, 1, 0, 0);
  SetProcess(11, 10, 0, 0);
  SetProcess(20, 1, 0, 0);
  SetProcess(21, 20, 0, 0);
  Link("proc/self/ns/net", "net:[1]");
  Link("proc/11/ns/net", "net:[1]");
  Link("proc/11/fd/3", "socket:[7]");
  Link("proc/21/ns/net", "net:[2]");
  const UsageSampler::Running both = {{one_, {nullptr, "", 10}}, {two_, {nullptr, "", 20}}};
  connections_.resize(1);
  connections_[0].cookie = connections_[0].inode = 7;
  for (const int agent : {1, 2}) {
    UsageSampler sampler = Sampler();
    sampler.Sample(both, start_ + seconds(agent * 100));
    connections_[0].counters.sent += kMebibyte;
    connections_[0].counters.resent = Bytes(0);
    connections_[0].counters.busy =
        std::chrono::microseconds(seconds(3)) + connections_[0].counters.busy.value_or(seconds(0));
    sampler.Sample(both, start_ + seconds(agent * 100 + 10));
  }
  EXPECT_EQ(Sum(one_).net_sent, kMebibyte * 2);
  EXPECT_EQ(Sum(one_).net_received, Bytes(0));
  EXPECT_EQ(Sum(one_).net_blocked, seconds(6));
  EXPECT_EQ(Sum(two_).net_sent, std::nullopt);
  EXPECT_EQ(Sum(two_).net_blocked, std::nullopt);
}

TEST_F(ProcessSampleTest, OfAnAttemptThatIsAloneAMountThatCountsKnowsBetterThanOpenFiles) {
  const auto count = [this](int read) {
    Write("proc/self/mountstats",
          "device server:/ mounted on /data with fstype nfs4 statvers=1.1\n\tbytes:\t0 0 0 0 " +
              std::to_string(read) + " 0 0 0");
  };
  const auto data = [](std::uint64_t bytes) {
    return std::vector<FileSystemUse>{{"/data", Bytes(bytes), Bytes(0)}};
  };
  SetProcess(10, 1, 0, 0);
  SetProcess(11, 10, 0, 0);
  Write("proc/11/mountinfo", "40 27 0:40 / /data rw - nfs4 server:/ rw");
  Link("proc/11/fd/3", "/data/set");
  UsageSampler sampler = Sampler();
  sampler.Sample({}, start_);
  const UsageSampler::Running one = {{one_, {nullptr, "", 10}}};
  const UsageSampler::Running both = {{one_, {nullptr, "", 10}}, {two_, {nullptr, "", 20}}};
  count(1'000'000'000);
  SetIo(11, 1'000'000, 0);
  sampler.Sample(one, start_ + seconds(10));
  EXPECT_EQ(Sum(one_).file_systems, data(1'000'000)) << "by its open file";
  count(1'002'000'000);
  SetIo(11, 2'500'000, 0);
  sampler.Sample(one, start_ + seconds(20));
  EXPECT_EQ(Sum(one_).file_systems, data(3'000'000)) << "2 MB as the mount counts";
  count(1'009'000'000);
  SetIo(11, 3'500'000, 0);
  sampler.Sample(both, start_ + seconds(30));
  EXPECT_EQ(Sum(one_).file_systems, data(4'000'000)) << "others use the mount, too";
}

TEST_F(ProcessSampleTest, WhatPortsMovedIsTheAttemptsThatWasAloneOnTheNode) {
  const auto set_sent = [this](int units) {
    Write("infiniband/mlx5_0/ports/1/counters/port_xmit_data", std::to_string(units));
    Write("infiniband/mlx5_0/ports/1/counters/port_rcv_data", "0");
  };
  UsageSampler sampler = Sampler();
  set_sent(1000);
  const UsageSampler::Running one = {{one_, {}}};
  const UsageSampler::Running both = {{one_, {}}, {two_, {}}};
  sampler.Sample(one, start_);
  set_sent(2000);
  sampler.Sample(one, start_ + seconds(10));
  EXPECT_EQ(Sum(one_).fabric_sent, Bytes(4000));
  EXPECT_EQ(Sum(one_).fabric_counted, seconds(10));
  EXPECT_EQ(Sum(one_).fabric_errors, std::nullopt);
  for (const int tens : {2, 3}) {
    set_sent(1000 * (tens + 1));
    sampler.Sample(both, start_ + seconds(10 * tens));
  }
  EXPECT_EQ(Sum(one_).fabric_sent, Bytes(4000));
  EXPECT_EQ(Sum(one_).fabric_shared, seconds(20));
  EXPECT_EQ(Sum(two_).fabric_sent, std::nullopt);
  EXPECT_EQ(Sum(two_).fabric_shared, seconds(10)) << "from its first sample on";
  set_sent(5000);
  sampler.Sample(one, start_ + seconds(40));
  EXPECT_EQ(Sum(one_).fabric_shared, seconds(30)) << "the other ended meanwhile";
  set_sent(6000);
  sampler.Sample(one, start_ + seconds(50));
  EXPECT_EQ(Sum(one_).fabric_sent, Bytes(8000));
}

TEST_F(ProcessSampleTest, OfTheProcessorsEnergyEachHasThePartThatItsCpuTimeIsOfTheMachines) {
  UsageSampler sampler = Sampler();
  const UsageSampler::Running both = {{one_, {nullptr, directory_ / "one", 0}},
                                      {two_, {nullptr, directory_ / "two", 0}}};
  SetGroup("one", 50'000'000, 0, 1, 1);
  SetGroup("two", 0, 0, 1, 1);
  SetEnergy(777);
  sampler.Sample(both, start_);
  EXPECT_EQ(sampler.used().at(one_).cpu_energy_mj, 0U) << "nobody knows in what time that was";
  SetEnergy(777 + 80'000);
  SetBusy(static_cast<int>(8 * sysconf(_SC_CLK_TCK)));
  SetGroup("one", 51'000'000, 1'000'000, 1, 1);
  SetGroup("two", 1'000'000, 0, 1, 1);
  sampler.Sample(both, start_ + seconds(10));
  EXPECT_EQ(sampler.used().at(one_).cpu_energy_mj, 20U);
  EXPECT_EQ(sampler.used().at(two_).cpu_energy_mj, 10U);
  EXPECT_EQ(Sum(one_).cpu_energy_mj, 20U);
}

TEST_F(ProcessSampleTest, JobsAreNeverCountedMoreThanTheProcessorsTook) {
  UsageSampler sampler = Sampler();
  const UsageSampler::Running both = {{one_, {nullptr, directory_ / "one", 0}},
                                      {two_, {nullptr, directory_ / "two", 0}}};
  SetGroup("one", 0, 0, 1, 1);
  SetGroup("two", 0, 0, 1, 1);
  sampler.Sample(both, start_);
  SetEnergy(80'000);
  SetBusy(1);  // read at another moment than the groups
  SetGroup("one", 3'000'000, 0, 1, 1);
  SetGroup("two", 1'000'000, 0, 1, 1);
  sampler.Sample(both, start_ + seconds(10));
  EXPECT_EQ(sampler.used().at(one_).cpu_energy_mj, 60U);
  EXPECT_EQ(sampler.used().at(two_).cpu_energy_mj, 20U);
}

TEST_F(ProcessSampleTest, AnAttemptThatCameSinceTheLastSampleDidAllItsWorkSinceThen) {
  UsageSampler sampler = Sampler();
  sampler.Sample({}, start_);
  SetEnergy(10'000);
  SetBusy(static_cast<int>(2 * sysconf(_SC_CLK_TCK)));
  SetGroup("one", 1'000'000, 0, 1, 1);
  sampler.Sample({{one_, {nullptr, directory_ / "one", 0}}}, start_ + seconds(10));
  EXPECT_EQ(sampler.used().at(one_).cpu_energy_mj, 5U);
}

TEST_F(ProcessSampleTest, TheNextAgentCountsNoWorkTwice) {
  const UsageSampler::Running one = {{one_, {nullptr, directory_ / "one", 0}}};
  SetGroup("one", 10'000'000, 0, 1, 1);
  for (int agent = 1; agent <= 2; ++agent) {
    UsageSampler sampler = Sampler();
    sampler.Sample(one, start_);
    SetEnergy(agent * 10'000);
    SetBusy(static_cast<int>(agent * 2 * sysconf(_SC_CLK_TCK)));
    SetGroup("one", 10'000'000 + agent * 1'000'000, 0, 1, 1);
    sampler.Sample(one, start_ + seconds(10));
  }
  EXPECT_EQ(Sum(one_).cpu_energy_mj, 10U);
}

TEST_F(ProcessSampleTest, AnAttemptThatHasEndedIsForgotten) {
  UsageSampler sampler = Sampler();
  sampler.Sample({{one_, {}}}, start_);
  EXPECT_EQ(sampler.used().size(), 1U);
  sampler.Sample({}, start_ + seconds(10));
  EXPECT_THAT(sampler.used(), IsEmpty());
}

TEST(SampledUsage, AFileThatIsNoSampleIsNothingSampled) {
  const TempDirectory directory;
  const std::string path = directory / "sampled";
  EXPECT_EQ(ReadSampledUsage(path), Usage());
  Usage all = GpuUse(1, 2, 3);
  all.cpu_energy_mj = 4;
  all.user_cpu = Duration(5);
  all.system_cpu = Duration(6);
  all.group_memory = Bytes(7);
  all.peak_memory = Bytes(8);
  all.read_bytes = Bytes(0);
  all.io_blocked = Duration(9);
  all.gpu_counted = Duration(10);
  all.dram_active = Duration(11);
  all.net_sent = Bytes(12);
  all.file_systems = {{"/a b\n", Bytes(1), Bytes(2)}, {"/", Bytes(0), Bytes(3)}};
  WriteSampledUsage(path, all);
  EXPECT_EQ(ReadSampledUsage(path), all);
  std::ofstream(path) << "1 2 3\n";
  EXPECT_EQ(ReadSampledUsage(path), GpuUse(1, 2, 3)) << "an earlier version's";
  std::ofstream(path) << "1 2 3 4 5 6 7 8\n";
  Usage earlier = GpuUse(1, 2, 3);
  earlier.cpu_energy_mj = 4;
  earlier.user_cpu = Duration(5);
  earlier.system_cpu = Duration(6);
  earlier.group_memory = Bytes(7);
  earlier.peak_memory = Bytes(8);
  EXPECT_EQ(ReadSampledUsage(path), earlier) << "the version's before storage was counted";
  std::ofstream(path) << "1 2 3 4 5 6 7 8 9 - - 0 - 10 - - 11 - -\n";
  earlier.read_bytes = Bytes(9);
  earlier.gpu_counted = Duration(10);
  earlier.dram_active = Duration(11);
  EXPECT_EQ(ReadSampledUsage(path), earlier) << "the version's before the network was counted";
  for (const char* text : {"", "1 2", "1 2 x", "1 2 3 4", "-1 2 3", "1 2 3 4 5 6 7 8 9"}) {
    std::ofstream(path) << text;
    EXPECT_EQ(ReadSampledUsage(path), Usage()) << text;
  }
}

TEST(SampledUsage, TheEndOfAnAttemptHasWhatOnlyTheAgentSaw) {
  Usage sampled = GpuUse(1, 2, 3);
  sampled.cpu_energy_mj = 4;
  sampled.user_cpu = seconds(9);
  sampled.group_memory = Bytes(70);
  sampled.read_bytes = Bytes(30);
  sampled.io_blocked = seconds(1);
  sampled.sm_active = seconds(2);
  sampled.net_sent = Bytes(5);
  sampled.file_systems = {{"/data", Bytes(30), Bytes(0)}};
  Usage end;
  end.read_bytes = Bytes(40);
  end.written_bytes = Bytes(50);
  end.user_cpu = seconds(10);
  end.group_memory = Bytes(50);
  AddSampled(sampled, end);
  EXPECT_EQ(end.user_cpu, seconds(10)) << "what the kernel says of children is exact";
  EXPECT_EQ(end.cpu_energy_mj, 4U);
  EXPECT_EQ(end.gpu_energy_mj, 3U);
  EXPECT_EQ(end.group_memory, Bytes(70));
  EXPECT_EQ(end.read_bytes, Bytes(40)) << "the kernel counted it to the end";
  EXPECT_EQ(end.written_bytes, Bytes(50));
  EXPECT_EQ(end.io_blocked, seconds(1)) << "without a group nobody else knows";
  EXPECT_EQ(end.sm_active, seconds(2));
  EXPECT_EQ(end.net_sent, Bytes(5));
  EXPECT_EQ(end.file_systems, sampled.file_systems);
}

}  // namespace
}  // namespace muster::agent
