#pragma once

// What bounds a job, in words: compute, memory, communication, input, output or waiting, with the
// figures that say so.
//
// Pure. Invariant: a figure that nobody could tell decides nothing and is named as such. The bounds
// below are judged over the whole time of an attempt, so a job of unlike phases is what it is for
// most of its time.

#include <cstddef>
#include <cstdint>
#include <string>

#include "scheduler/model/job/exit_status.h"
#include "scheduler/model/value/time.h"

namespace muster::cli {

// What an attempt had, and for how long.
struct Had {
  Duration elapsed{0};
  std::size_t nodes = 0;
  std::uint32_t cpus = 0;
  std::uint32_t gpus = 0;
};

// Of streaming multiprocessors: NVIDIA calls less than half "likely ineffective" (DCGM user guide,
// "Profiling Metrics", SM activity).
inline constexpr double kSmsBusy = 0.5;
// Of the device memory's bandwidth: three quarters of the 80 % that NVIDIA calls the practical most
// (ibid., memory bandwidth utilization).
inline constexpr double kDramBusy = 0.6;  // over all the time, or over that in which SMs work
// Of its CPUs' time. Ours, as are those that follow: a rank that polls for messages is busy, too.
inline constexpr double kCpusBusy = 0.7;
// Cache misses in 1,000 instructions. The programs of SPEC CPU2006 that are called memory-intensive
// have more, most others less than one (A. Jaleel, "Memory Characterization of Workloads Using
// Instrumentation-Driven Simulation", 2010).
inline constexpr double kMissesMany = 10;
// Of the time on its nodes: a fifth of it is worth more than most tuning.
inline constexpr double kIoWaits = 0.2;
// The same, in which a connection had something to send that the other end had not acknowledged. It
// is judged also where CPUs are busy, since ranks that wait for messages poll for them.
inline constexpr double kNetworkWaits = 0.2;
// Of the rate of InfiniBand and RoCE ports, over the time in which only this job had them.
inline constexpr double kFabricBusy = 0.2;
// Bytes a second of one GPU, both ways, that idle SMs may be waiting for: about a tenth of a PCIe 4
// link with 16 lanes, and a tenth of an NVLink bridge.
inline constexpr double kPcieBusy = 6e9;
inline constexpr double kNvLinkBusy = 1e10;

// "memory: SMs 97 %, tensor cores 2 %, device memory 84 % of its bandwidth"; "unknown: …" and why.
std::string BoundText(const Usage& usage, const Had& had);

// "1.2 GiB read (12 MiB/s), 3 MiB written (30 KiB/s), waits for storage 31 % of the time"; what of
// it nobody could tell says so.
std::string StorageText(const Usage& usage, const Had& had);

// "/data 1.2 GiB read, 3 MiB written; /scratch 12 MiB read"; "" where nobody could tell.
std::string FileSystemsText(const Usage& usage);

// "at least 1.2 GiB sent (12 MiB/s), 3 MiB received (30 KiB/s), 4 KiB sent again, busy 31 % of the
// time"; what of it nobody could tell says so.
std::string NetworkText(const Usage& usage, const Had& had);

// "1.2 TiB sent (12 GiB/s), 3 GiB received (30 MiB/s), 12 % of the rate, no errors, 3 retries"; for
// how much of the time it is not known says so. "" where no node has such ports.
std::string FabricText(const Usage& usage);

// "12 % of 3 GiB that it read by calls came from storage, 12 major page faults"; "" where nobody
// could tell.
std::string PageCacheText(const Usage& usage);

// "SMs 97 %, tensor cores 2 %, device memory 84 % of its bandwidth, NVLink 3 GiB/s and PCIe 12
// MiB/s a GPU"; "" where no performance counters were read.
std::string GpuWorkText(const Usage& usage);

}  // namespace muster::cli
