#pragma once

// Partitions and QOS: the two kinds of queue that a job names, with Slurm's meanings.
//
// A partition is a set of nodes with rules of its own; a QOS is a class of service with limits and
// a priority. Invariants of those in a cluster state (core/policy/policy_check): min_nodes <=
// max_nodes and default_time <= max_time where both are set; every QOS that is named exists; at
// most one partition is the default.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/model/policy/limits.h"
#include "scheduler/model/value/fields.h"
#include "scheduler/model/value/time.h"

namespace muster {

enum class PartitionState : std::uint8_t {
  kUp = 0,
  kDown = 1,      // takes submissions, starts nothing
  kDrain = 2,     // takes no submission, starts what it has
  kInactive = 3,  // neither
};

// How running jobs are preempted.
enum class PreemptMode : std::uint8_t {
  kOff = 0,
  kCancel = 1,
  kRequeue = 2,
  kSuspend = 3,
  kCheckpoint = 4,
};

struct Partition {
  std::string name;
  std::string nodes;  // a host list, "n[1-8],big"; empty: all nodes
  bool is_default = false;
  std::optional<Duration> default_time;  // for jobs that say none
  std::optional<Duration> max_time;
  std::uint32_t min_nodes = 0;
  std::optional<std::uint32_t> max_nodes;
  std::vector<std::string> allow_accounts;  // empty: all
  std::vector<std::string> deny_accounts;
  std::vector<std::string> allow_qos;  // empty: all
  std::vector<std::string> deny_qos;
  std::uint32_t priority_job_factor = 1;
  std::uint32_t priority_tier = 1;
  PartitionState state = PartitionState::kUp;
  PreemptMode preempt_mode = PreemptMode::kOff;
  std::string qos;          // whose limits hold for all jobs here together
  bool exclusive = false;   // jobs get whole nodes
  bool configured = false;  // from the configuration, which has the last word at each reading
  static constexpr auto Fields(auto list) {
    return list(
        Field{"name", &Partition::name}, Field{"nodes", &Partition::nodes},
        Field{"is_default", &Partition::is_default},
        Field{"default_time", &Partition::default_time}, Field{"max_time", &Partition::max_time},
        Field{"min_nodes", &Partition::min_nodes}, Field{"max_nodes", &Partition::max_nodes},
        Field{"allow_accounts", &Partition::allow_accounts},
        Field{"deny_accounts", &Partition::deny_accounts},
        Field{"allow_qos", &Partition::allow_qos}, Field{"deny_qos", &Partition::deny_qos},
        Field{"priority_job_factor", &Partition::priority_job_factor},
        Field{"priority_tier", &Partition::priority_tier}, Field{"state", &Partition::state},
        Field{"preempt_mode", &Partition::preempt_mode}, Field{"qos", &Partition::qos},
        Field{"exclusive", &Partition::exclusive}, Field{"configured", &Partition::configured});
  }
  friend bool operator==(const Partition&, const Partition&) = default;
};

// Flags of a QOS, as bits; Slurm's names.
enum QosFlag : std::uint32_t {
  kDenyOnLimit = 1,         // a job that breaks a limit of one job is refused, not left waiting
  kPartitionTimeLimit = 2,  // its jobs may exceed the partition's MaxTime
  kPartitionMaxNodes = 4,
  kPartitionMinNodes = 8,
};

struct Qos {
  std::string name;
  std::uint32_t priority = 0;
  std::uint32_t flags = 0;  // of QosFlag
  Limits limits;
  std::vector<std::string> preempt;  // the QOS whose jobs its jobs may preempt
  PreemptMode preempt_mode = PreemptMode::kOff;
  Duration grace_time{0};             // between the first signal and the end of a preempted job
  Duration preempt_exempt_time{0};    // a job is left alone for so long after its start
  std::uint32_t usage_factor = 1000;  // thousandths: what is charged of what is used
  bool configured = false;
  static constexpr auto Fields(auto list) {
    return list(Field{"name", &Qos::name}, Field{"priority", &Qos::priority},
                Field{"flags", &Qos::flags}, Field{"limits", &Qos::limits},
                Field{"preempt", &Qos::preempt}, Field{"preempt_mode", &Qos::preempt_mode},
                Field{"grace_time", &Qos::grace_time},
                Field{"preempt_exempt_time", &Qos::preempt_exempt_time},
                Field{"usage_factor", &Qos::usage_factor}, Field{"configured", &Qos::configured});
  }
  friend bool operator==(const Qos&, const Qos&) = default;
};

}  // namespace muster
