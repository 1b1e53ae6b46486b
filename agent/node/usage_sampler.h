#pragma once

// What attempts use of this node, sampled while they run.
//
// CPU time and memory are read of an attempt's control group or, without one, of the processes
// below its supervisor. What it read from and wrote to storage is that of these processes, or of
// the group where they cannot be seen; how long it waited for it the group knows, or else the
// kernel's delay accounting. What it sent and received is that of the sockets of the processes
// below its supervisor. Busy time and energy are what a GPU did between two samples, of which a job
// with a part of it is counted that part. Busy time is reported from the second look on, which
// covers at least half of the attempt; GPUs that were idle at each have a millisecond then, since
// nothing means unknown. Of what the processors took between two samples each attempt is counted E
// x t / max(T, sum of t), with t its CPU time and T the machine's busy time in between: what an
// idle machine takes is counted to the attempts that work, and to none while none works (the rule
// of Scaphandre, "How scaphandre computes per process power consumption"; the sum bounds it where
// the two clocks differ). Instructions and cache misses are counted of a control group from its
// first sample on, where the machine shows its processors' counters. Sums are kept in the attempt's
// directory, so that the next agent goes on from them, and the supervisor puts them into the
// attempt's end. Thread promise: the loop's thread. Invariant: a sum never goes down.

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/attempts/place/attempt_key.h"
#include "agent/attempts/place/state_directory.h"
#include "agent/attempts/running_attempt.h"
#include "agent/node/counters/group_counters.h"
#include "agent/node/files/file_system_meter.h"
#include "agent/node/files/mount_counters.h"
#include "agent/node/gpu_job_files.h"
#include "agent/node/network/fabric_ports.h"
#include "agent/node/network/network_meter.h"
#include "agent/node/network/socket_holders.h"
#include "agent/node/network/tcp_connections.h"
#include "agent/supervisor/attempt/sampled_usage.h"
#include "scheduler/model/machine/machine.h"
#include "scheduler/runtime/clock.h"
#include "topology/cpu_energy_meter.h"
#include "topology/gpu/gpu_meter.h"

namespace muster::agent {

class UsageSampler {
 public:
  // What there is to read; null: none of that.
  struct Sources {
    topology::GpuMeter* gpus = nullptr;
    topology::CpuEnergyMeter* cpus = nullptr;
    std::string proc = "/proc";
    std::string gpu_jobs = {};  // the directory of GpuJobFiles; empty: none
    NetworkMeter::Source tcp = ReadTcpConnections;
    std::string fabric = {};  // as kFabricPorts; empty: none
    std::string debug = {};   // as kKernelDebug; empty: what mounts count is not read
  };
  using Running = std::map<AttemptKey, RunningAttempt>;

  // `machine` says which GPU is which; everything that is referred to outlives the sampler.
  UsageSampler(const Machine& machine, StateDirectory& state, Sources sources)
      : machine_(machine),
        state_(state),
        sources_(std::move(sources)),
        gpu_jobs_(sources_.gpu_jobs, machine),
        files_(sources_.proc),
        mounts_(sources_.proc, sources_.debug),
        network_(sources_.proc, sources_.tcp),
        fabric_(sources_.fabric) {}

  // Takes a sample for the attempts that run here.
  void Sample(const Running& running, SteadyTime now);

  // When the next is due: in `every`, or in an eighth of the age of the youngest attempt with GPUs
  // that are measured, but not within kLeast.
  [[nodiscard]] Duration NextIn(Duration every, SteadyTime now) const;
  static constexpr std::chrono::seconds kLeast{1};

  // What those that ran at the last sample have used so far.
  [[nodiscard]] std::map<AttemptKey, Usage> used() const;
  // The GPUs that are measured, as they were at the last sample.
  [[nodiscard]] std::vector<topology::GpuReading> gpus() const;

 private:
  // What each GPU did since the last sample.
  struct Change {
    double elapsed_ms = 0;
    std::optional<double> busy_ms;  // nothing: it cannot tell
    std::optional<double> memory_busy_ms;
    std::optional<topology::GpuCounters> counters;
    Bytes memory;
    double energy_mj = 0;
  };
  // What looks at how busy GPUs are have told.
  struct Looks {
    double watched_ms = 0;
    double busy_ms = 0;
    std::optional<double> memory_busy_ms;
  };
  struct Sum {
    Usage usage;
    Usage written;         // as it is in the attempt's directory
    Duration cpu{0};       // as it was read last
    Duration cpu_more{0};  // since the sample before that
    bool fresh = true;     // this is its first sample
    bool has_gpus = false;
    SteadyTime since = SteadyTime::min();  // its first sample
    int gpu_looks = 0;                     // at how busy its GPUs are
    Looks untold;
    std::optional<GroupCounters> counters;
    std::array<std::uint64_t, 2> counted{};  // as it was read last
  };
  void Meet(const Running& running, SteadyTime now);
  static Change ChangeSince(const topology::GpuReading& before, const topology::GpuReading& now,
                            double elapsed_ms);
  std::vector<Change> Changes(SteadyTime now);
  void AddGpus(const NodeAllocation& part, const std::vector<Change>& changes, Sum& sum) const;
  static void AddLooks(const Looks& looks, Sum& sum);
  static void AddCounters(const topology::GpuCounters& counters, double milliseconds, Usage& usage);
  static void OpenCounters(const RunningAttempt& attempt, Sum& sum);
  static void TakeCounters(Sum& sum);
  void TakeProcesses(const Running& running, bool alone, SteadyTime now);
  void AddFiles(const Running& running, bool alone, const TreesIo& io);
  void AddNetwork(const Running& running, const ProcessTrees& trees, SteadyTime now);
  void AddFabric(bool alone, SteadyTime now);
  void ShareCpuEnergy();

  const Machine& machine_;
  StateDirectory& state_;
  const Sources sources_;
  GpuJobFiles gpu_jobs_;
  FileSystemMeter files_;
  MountMeter mounts_;
  NetworkMeter network_;
  FabricMeter fabric_;
  SteadyTime last_ = SteadyTime::min();
  std::map<std::string, topology::GpuReading> before_;
  std::uint64_t cpu_energy_uj_ = 0;  // at the last sample
  Duration busy_{0};
  std::map<AttemptKey, Sum> sums_;
};

}  // namespace muster::agent
