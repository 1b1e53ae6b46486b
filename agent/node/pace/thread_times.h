#pragma once

// For how long the threads of processes ran and waited for a CPU, by /proc (proc(5)): what the
// kernel's scheduler keeps of each thread (Documentation/scheduler/sched-stats.rst), the clock of a
// CPU, and the time that a machine's host took from its CPUs.
//
// Invariant: what cannot be read is not there, and never 0. All of it is read without waiting for
// the processes that it is about.

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/model/value/index_set.h"

namespace muster::agent {

struct ThreadTime {
  std::int64_t ran_ns = 0;
  std::int64_t waited_ns = 0;  // able to run, while others ran
  pid_t process = 0;
};
using ThreadTimes = std::map<pid_t, ThreadTime>;  // by thread

inline constexpr std::size_t kThreadsMost = 4096;

// Of all threads of the processes; nothing where the kernel keeps none, or there are more than
// kThreadsMost. A process that has ended has none.
std::optional<ThreadTimes> ReadThreadTimes(const std::vector<pid_t>& processes,
                                           const std::string& proc);

// What was between two looks.
struct ThreadChange {
  std::int64_t ran_ns = 0;  // of threads that have ended meanwhile nothing is known
  std::int64_t waited_ns = 0;
  pid_t busiest = 0;  // of those that ran; 0: none did
  pid_t process = 0;  // to which that belongs
};
ThreadChange ChangeOf(const ThreadTimes& before, const ThreadTimes& now);

// The clock of the CPU on which the thread ran last, in MHz.
std::optional<std::uint32_t> CpuClockOf(pid_t process, pid_t thread, const std::string& proc,
                                        const std::string& cpus);

// Time of a CPU since the machine's start, in ticks, and what of it its host took.
struct CpuTicks {
  std::int64_t all = 0;
  std::int64_t stolen = 0;
};
// By the CPU's number; empty where the kernel does not tell what is stolen.
std::map<std::uint32_t, CpuTicks> ReadCpuTicks(const std::string& proc);
// Of the time of those CPUs between two looks, what was stolen, in thousandths.
std::optional<std::uint32_t> StolenOf(const CpuSet& cpus,
                                      const std::map<std::uint32_t, CpuTicks>& before,
                                      const std::map<std::uint32_t, CpuTicks>& now);

}  // namespace muster::agent
