#pragma once

// What is held and queued, by every user and account that a limit may count.
//
// Kept by core/state/tables/policy_use_table with each start and end; read by core/policy/limits.
// Invariants: (1) what stands under a key is the sum over the charges that have the key; (2)
// nothing stands under a key that counts nothing.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "scheduler/model/value/fields.h"
#include "scheduler/model/value/ids.h"
#include "scheduler/model/value/time.h"

namespace muster {

// What a job holds (or would hold), in the units of limits.
struct TresUse {
  std::uint64_t cpus = 0;
  std::uint64_t memory = 0;  // bytes; in budgets: MiB times seconds
  std::uint64_t nodes = 0;
  std::map<std::string, std::uint64_t> gpus;       // by model in lower case; thousandths of a GPU
  std::map<std::string, std::uint64_t> gres = {};  // countable things by name; not in budgets
  static constexpr auto Fields(auto list) {
    return list(Field{"cpus", &TresUse::cpus}, Field{"memory", &TresUse::memory},
                Field{"nodes", &TresUse::nodes}, Field{"gpus", &TresUse::gpus},
                Field{"gres", &TresUse::gres});
  }
  friend bool operator==(const TresUse&, const TresUse&) = default;
};

enum class UsageScope : std::uint8_t {
  kAccount = 0,      // all users under it
  kAssociation = 1,  // name: account, user
  kQos = 2,
  kQosUser = 3,
  kQosAccount = 4,  // user: the account
  kPartition = 5,
  kReservation = 6,
};

struct UsageKey {
  UsageScope scope = UsageScope::kAccount;
  std::string name;
  std::string user;
  static constexpr auto Fields(auto list) {
    return list(Field{"scope", &UsageKey::scope}, Field{"name", &UsageKey::name},
                Field{"user", &UsageKey::user});
  }
  friend auto operator<=>(const UsageKey&, const UsageKey&) = default;
};

struct UseCount {
  std::uint64_t submitted = 0;  // waiting and running jobs
  std::uint64_t running = 0;
  TresUse held;                     // by the running ones
  TresUse promised;                 // amounts times seconds to their time limits
  std::uint64_t promised_wall = 0;  // seconds
  static constexpr auto Fields(auto list) {
    return list(Field{"submitted", &UseCount::submitted}, Field{"running", &UseCount::running},
                Field{"held", &UseCount::held}, Field{"promised", &UseCount::promised},
                Field{"promised_wall", &UseCount::promised_wall});
  }
  friend bool operator==(const UseCount&, const UseCount&) = default;
};

// A running job, as it was charged when it started.
struct RunningCharge {
  JobId job;
  std::string account;
  std::string user;
  std::string qos;
  std::string partition;
  std::string reservation;
  TresUse tres;
  Time started = kNoTime;
  Time ends = kNoTime;  // by its time limit; kNoTime: it has none
  static constexpr auto Fields(auto list) {
    return list(Field{"job", &RunningCharge::job}, Field{"account", &RunningCharge::account},
                Field{"user", &RunningCharge::user}, Field{"qos", &RunningCharge::qos},
                Field{"partition", &RunningCharge::partition},
                Field{"reservation", &RunningCharge::reservation},
                Field{"tres", &RunningCharge::tres}, Field{"started", &RunningCharge::started},
                Field{"ends", &RunningCharge::ends});
  }
  friend bool operator==(const RunningCharge&, const RunningCharge&) = default;
};

// What jobs that are over used of a budget since the budget was set.
struct Spent {
  UsageScope scope = UsageScope::kAccount;
  std::string name;
  std::string user;
  std::uint64_t cpu_seconds = 0;
  std::uint64_t memory_mib_seconds = 0;
  std::uint64_t node_seconds = 0;
  std::vector<std::string> gpu_models;          // parallel to the next
  std::vector<std::uint64_t> gpu_milliseconds;  // thousandths of a GPU, times seconds
  std::uint64_t wall_seconds = 0;
  static constexpr auto Fields(auto list) {
    return list(Field{"scope", &Spent::scope}, Field{"name", &Spent::name},
                Field{"user", &Spent::user}, Field{"cpu_seconds", &Spent::cpu_seconds},
                Field{"memory_mib_seconds", &Spent::memory_mib_seconds},
                Field{"node_seconds", &Spent::node_seconds},
                Field{"gpu_models", &Spent::gpu_models},
                Field{"gpu_milliseconds", &Spent::gpu_milliseconds},
                Field{"wall_seconds", &Spent::wall_seconds});
  }
  friend bool operator==(const Spent&, const Spent&) = default;
};

struct SpentAmount {
  TresUse tres;  // seconds
  std::uint64_t wall = 0;
  static constexpr auto Fields(auto list) {
    return list(Field{"tres", &SpentAmount::tres}, Field{"wall", &SpentAmount::wall});
  }
  friend bool operator==(const SpentAmount&, const SpentAmount&) = default;
};

struct PolicyUsage {
  std::map<UsageKey, UseCount> counts;
  std::map<JobId, RunningCharge> running;
  std::map<UsageKey, SpentAmount> spent;  // of keys whose limits hold a budget
  static constexpr auto Fields(auto list) {
    return list(Field{"counts", &PolicyUsage::counts}, Field{"running", &PolicyUsage::running},
                Field{"spent", &PolicyUsage::spent});
  }
  friend bool operator==(const PolicyUsage&, const PolicyUsage&) = default;
};

}  // namespace muster
