#pragma once

// How a process, a step or an attempt ended, and what it used.
//
// Invariants: at most one of `code` and `signal` is non-zero.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/model/value/fields.h"
#include "scheduler/model/value/file_system_use.h"
#include "scheduler/model/value/time.h"
#include "scheduler/model/value/units.h"

namespace muster {

struct ExitStatus {
  std::int32_t code = 0;    // what it passed to exit(), 0-255
  std::int32_t signal = 0;  // the signal that ended it, or 0
  static constexpr auto Fields(auto list) {
    return list(Field{"code", &ExitStatus::code}, Field{"signal", &ExitStatus::signal});
  }
  [[nodiscard]] bool success() const { return code == 0 && signal == 0; }
  friend bool operator==(const ExitStatus&, const ExitStatus&) = default;
};

// Why an attempt's part on a node ended.
enum class EndCause : std::uint8_t {
  kNone = 0,
  kExited = 1,               // its processes ended by themselves
  kCancelled = 2,            // a user asked
  kTimeLimit = 3,            // it reached its time limit
  kLaunchFailed = 4,         // it could not be started: see the text
  kLostSupervisor = 5,       // its supervisor died; what was left was killed
  kNodeRebooted = 6,         // the node came back with another boot id
  kNodeLostRecord = 7,       // the agent came back without its record of it
  kNeverStarted = 8,         // its order to end came before it had begun
  kOutOfMemory = 9,          // the kernel's out-of-memory killer ended it
  kJobEnding = 10,           // the job ended on its other nodes
  kPrologFailed = 11,        // the site's prolog failed there; nothing of the job ran
  kHung = 12,                // it made no progress for as long as it may
  kRequeued = 20,            // a user asked that it run again
  kPreempted = 21,           // a job preempts it, and it ends
  kPreemptedToRequeue = 22,  // a job preempts it, and it runs again
  kResized = 23,             // it runs again at once, with another number of nodes
};

// True when the node failed the attempt, and not the attempt itself.
constexpr bool IsNodeFailure(EndCause cause) {
  return cause == EndCause::kNodeRebooted || cause == EndCause::kNodeLostRecord ||
         cause == EndCause::kLostSupervisor;
}

// How an amount of a whole follows from its parts': those on several nodes, those of several runs.
enum class AddedUp : std::uint8_t { kSum, kMost };
// Who measures an amount.
enum class SeenBy : std::uint8_t {
  kSupervisor,  // by what the kernel says of a process that ended
  kAgent,       // from outside, while it runs: nobody else can
  kBoth,        // the larger counts: each may miss the most
};

struct Usage;
template <class Member>
struct UsageAmount {
  const char* name;
  Member Usage::*member;
  AddedUp added_up;
  SeenBy seen_by;
  std::size_t
      place;  // in the line that hands samples over (agent/supervisor/attempt/sampled_usage)
};
template <class Member>
UsageAmount(const char*, Member Usage::*, AddedUp, SeenBy, std::size_t) -> UsageAmount<Member>;

struct Usage {
  Duration user_cpu{0};    // CPU time in user mode
  Duration system_cpu{0};  // CPU time in the kernel
  Bytes peak_memory;       // the largest resident set of any one process
  // Sampled while it ran, where the node can tell; 0 where it cannot.
  Bytes group_memory;               // the most that all its processes on one node held at once
  Duration gpu_busy{0};             // time in which its GPUs worked, of all of them together
  Bytes gpu_memory;                 // the most that was taken of one of its GPUs
  std::uint64_t gpu_energy_mj = 0;  // what its GPUs took, millijoules
  std::uint64_t cpu_energy_mj = 0;  // its share of what the node's processors took, by CPU time
  // Nothing where no node could tell; a node that cannot tell adds nothing to those that can.
  std::optional<Bytes> read_bytes;     // fetched from storage; what the page cache had is not
  std::optional<Bytes> written_bytes;  // handed to storage, by the page cache or past it
  std::optional<Duration> io_blocked;  // node time in which at least one of its threads waited for
                                       // storage; at least so much
  // GPU time, of all its GPUs together: that over which looks told how busy they were, and that
  // over which performance counters were read. What they said is a part of that time, as energy is
  // of time: half of the SMs at work for a second is half a second.
  Duration gpu_watched{0};
  std::optional<Duration> gpu_memory_busy;  // of gpu_watched: device memory was read or written
  Duration gpu_counted{0};
  std::optional<Duration> sm_active;      // of gpu_counted: streaming multiprocessors had work
  std::optional<Duration> tensor_active;  // of gpu_counted: tensor cores
  std::optional<Duration> dram_active;    // of gpu_counted: the device memory's bandwidth
  std::optional<Bytes> nvlink_bytes;      // to and from other GPUs, during gpu_counted
  std::optional<Bytes> pcie_bytes;        // to and from the host, during gpu_counted
  // By TCP to and from other machines, as far as the connections were seen: at least so much.
  std::optional<Bytes> net_sent;  // and acknowledged by the other end
  std::optional<Bytes> net_received;
  std::optional<Bytes> net_resent;      // sent again, because it was lost or late
  std::optional<Duration> net_blocked;  // node time in which one connection at least had sent what
                                        // the other end had not acknowledged, or had it to send
  // By ports of InfiniBand and RoCE, which count for the node: so it is the job's while no other
  // runs there. Node time in which that was so, and in which it was not; none where no ports are.
  Duration fabric_counted{0};
  Duration fabric_shared{0};
  std::optional<Bytes> fabric_sent;  // of fabric_counted, as what follows
  std::optional<Bytes> fabric_received;
  std::optional<Duration> fabric_busy;  // that its busiest port would take for it at its rate
  std::optional<std::uint64_t> fabric_errors;   // of ports: damaged, dropped, links that went down
  std::optional<std::uint64_t> fabric_retries;  // what was late, out of order or sent again
  // What processes read by calls (files, pipes, sockets), of which read_bytes came from storage.
  std::optional<Bytes> called_bytes;
  std::optional<std::uint64_t> major_faults;  // pages that a process waited for, from storage
  // Of read_bytes and written_bytes, as far as it is known of which file systems they are.
  std::vector<FileSystemUse> file_systems;
  // What the processors' own counters say, where a machine shows them.
  std::optional<std::uint64_t> instructions;
  std::optional<std::uint64_t> cache_misses;  // accesses that went to memory

  // Every amount, once: what adds up, samples, converts and prints usage walks this list. A place
  // is never used again, a new amount takes the next.
  static constexpr auto Amounts(auto list) {
    using enum AddedUp;
    using enum SeenBy;
    return list(UsageAmount{"user_cpu", &Usage::user_cpu, kSum, kSupervisor, 4},
                UsageAmount{"system_cpu", &Usage::system_cpu, kSum, kSupervisor, 5},
                UsageAmount{"peak_memory", &Usage::peak_memory, kMost, kSupervisor, 7},
                UsageAmount{"group_memory", &Usage::group_memory, kSum, kBoth, 6},
                UsageAmount{"gpu_busy", &Usage::gpu_busy, kSum, kAgent, 0},
                UsageAmount{"gpu_memory", &Usage::gpu_memory, kMost, kAgent, 1},
                UsageAmount{"gpu_energy_mj", &Usage::gpu_energy_mj, kSum, kAgent, 2},
                UsageAmount{"cpu_energy_mj", &Usage::cpu_energy_mj, kSum, kAgent, 3},
                UsageAmount{"read_bytes", &Usage::read_bytes, kSum, kBoth, 8},
                UsageAmount{"written_bytes", &Usage::written_bytes, kSum, kBoth, 9},
                UsageAmount{"io_blocked", &Usage::io_blocked, kSum, kBoth, 10},
                UsageAmount{"gpu_watched", &Usage::gpu_watched, kSum, kAgent, 11},
                UsageAmount{"gpu_memory_busy", &Usage::gpu_memory_busy, kSum, kAgent, 12},
                UsageAmount{"gpu_counted", &Usage::gpu_counted, kSum, kAgent, 13},
                UsageAmount{"sm_active", &Usage::sm_active, kSum, kAgent, 14},
                UsageAmount{"tensor_active", &Usage::tensor_active, kSum, kAgent, 15},
                UsageAmount{"dram_active", &Usage::dram_active, kSum, kAgent, 16},
                UsageAmount{"nvlink_bytes", &Usage::nvlink_bytes, kSum, kAgent, 17},
                UsageAmount{"pcie_bytes", &Usage::pcie_bytes, kSum, kAgent, 18},
                UsageAmount{"net_sent", &Usage::net_sent, kSum, kAgent, 19},
                UsageAmount{"net_received", &Usage::net_received, kSum, kAgent, 20},
                UsageAmount{"net_resent", &Usage::net_resent, kSum, kAgent, 21},
                UsageAmount{"net_blocked", &Usage::net_blocked, kSum, kAgent, 22},
                UsageAmount{"fabric_counted", &Usage::fabric_counted, kSum, kAgent, 23},
                UsageAmount{"fabric_shared", &Usage::fabric_shared, kSum, kAgent, 24},
                UsageAmount{"fabric_sent", &Usage::fabric_sent, kSum, kAgent, 25},
                UsageAmount{"fabric_received", &Usage::fabric_received, kSum, kAgent, 26},
                UsageAmount{"fabric_busy", &Usage::fabric_busy, kSum, kAgent, 27},
                UsageAmount{"fabric_errors", &Usage::fabric_errors, kSum, kAgent, 28},
                UsageAmount{"fabric_retries", &Usage::fabric_retries, kSum, kAgent, 29},
                UsageAmount{"called_bytes", &Usage::called_bytes, kSum, kAgent, 30},
                UsageAmount{"major_faults", &Usage::major_faults, kSum, kBoth, 31},
                UsageAmount{"instructions", &Usage::instructions, kSum, kAgent, 32},
                UsageAmount{"cache_misses", &Usage::cache_misses, kSum, kAgent, 33});
  }
  static constexpr auto Fields(auto list) {
    return Amounts([&](auto... amount) {
      return list(Field{amount.name, amount.member}...,
                  Field{"file_systems", &Usage::file_systems});
    });
  }
  // Adds what a part used.
  void Add(const Usage& part) {
    Amounts([&](auto... amount) { (AddAmount(amount, part), ...); });
    AddFileSystems(part.file_systems, file_systems);
  }
  friend bool operator==(const Usage&, const Usage&) = default;

 private:
  template <class Amount>
  static void AddPart(AddedUp how, const Amount& part, Amount& whole) {
    if (how == AddedUp::kSum) {
      whole += part;
    } else {
      whole = std::max(whole, part);
    }
  }
  template <class Amount>
  static void AddPart(AddedUp how, const std::optional<Amount>& part,
                      std::optional<Amount>& whole) {
    if (part.has_value() && whole.has_value()) {
      AddPart(how, *part, *whole);
    } else if (part.has_value()) {
      whole = part;
    }
  }
  template <class Member>
  void AddAmount(const UsageAmount<Member>& amount, const Usage& part) {
    AddPart(amount.added_up, part.*amount.member, this->*amount.member);
  }
};

}  // namespace muster
