// What a UsageSampler makes of /proc, of control groups and of the counters of a machine.
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
#include <vector>

#include "agent/node/usage_sampler.h"
#include "tests/unit/agent/node/usage_sampler_fixture.h"

namespace muster::agent {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::IsEmpty;

// A machine of which the test writes /proc and the powercap tree.
class ProcessSampleTest : public UsageSamplerFixture {
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

}  // namespace
}  // namespace muster::agent
