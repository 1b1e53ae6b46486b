#pragma once

// Why a job waits: a kind with Slurm's name, a class, and its numbers.
//
// Made by the planner's filters, counted per kind over the nodes, shown by queue, show and explain.
// Invariants: (1) a reason of kind kResources or kBadConstraints carries one shortage or more; (2)
// the sentence of a reason is made in one place, ToSentence.

#include <cstdint>
#include <string>
#include <vector>

#include "scheduler/model/value/fields.h"
#include "scheduler/model/value/ids.h"
#include "scheduler/model/value/time.h"

namespace muster {

enum class ReasonKind : std::uint8_t {
  kNone = 0,
  kResources = 1,       // it is first, and what it needs is taken
  kPriority = 2,        // a job before it waits
  kBadConstraints = 3,  // never on this cluster
  kJobHeldUser = 4,
  kBeginTime = 5,
  kJobArrayTaskLimit = 6,
  kReqNodeNotAvail = 7,  // it would fit on nodes that are down or drained
  kNotPlannedYet = 8,    // no cycle has looked at it
  kCleaning = 9,         // an attempt of it that this controller did not start still runs
  kDependency = 20,      // a job that it depends on has not done what it must
  kDependencyNeverSatisfied = 21,
  kJobHeldAdmin = 22,
  kJobHoldMaxRequeue = 23,
  kLicenses = 24,
  kDeadline = 25,          // it can no longer end in time: it is about to end as DEADLINE
  kJobLaunchFailure = 26,  // held: no order could start it, as `name` says
  kSuspended = 30,         // its own cores are not free, or it was not asked back
  kHetJob = 31,            // another component of its heterogeneous job cannot start
  kSwitches = 32,          // it could start now, not on as few leaf switches as it asks for
  // 40-79: what policy says.
  kPartitionDown = 40,
  kPartitionInactive = 41,
  kPartitionNodeLimit = 42,  // it asks more or fewer nodes than the partition gives
  kPartitionTimeLimit = 43,
  kReservation = 44,         // a reservation is in its way, or its own is not there yet
  kReservationDeleted = 45,  // its reservation is gone or over
  kInvalidAccount = 46,      // it may not (any more) use its account, here
  kInvalidQOS = 47,
  kInvalidPartition = 48,  // no partition of that name (any more)
  kAssocGrpJobsLimit = 50,
  kAssocMaxJobsLimit = 51,
  kAssocGrpWallLimit = 52,
  kAssocMaxWallDurationPerJobLimit = 53,
  kAssocGrpCpuLimit = 54,
  kAssocGrpMemLimit = 55,
  kAssocGrpNodeLimit = 56,
  kAssocGrpGRES = 57,
  kAssocMaxCpuPerJobLimit = 58,
  kAssocMaxMemPerJob = 59,
  kAssocMaxNodePerJobLimit = 60,
  kAssocMaxGRESPerJob = 61,
  kAssocGrpTRESMinutes = 62,
  kQOSGrpJobsLimit = 63,
  kQOSMaxJobsPerUserLimit = 64,
  kQOSMaxJobsPerAccountLimit = 65,
  kQOSGrpWallLimit = 66,
  kQOSMaxWallDurationPerJobLimit = 67,
  kQOSGrpCpuLimit = 68,
  kQOSGrpMemLimit = 69,
  kQOSGrpNodeLimit = 70,
  kQOSGrpGRES = 71,
  kQOSMaxCpuPerUserLimit = 72,
  kQOSMaxMemPerUser = 73,
  kQOSMaxNodePerUserLimit = 74,
  kQOSMaxGRESPerUser = 75,
  kQOSMaxTRESPerJob = 76,
  kMaxTRESPerNode = 77,  // of a QOS, an account or an association
  kQOSMaxTRESPerAccount = 78,
  kQOSGrpTRESMinutes = 79,
};

enum class ReasonClass : std::uint8_t {
  kNotNow = 0,
  kNever = 1,  // never on this cluster as it is
};

enum class ShortageKind : std::uint8_t {
  kCores = 0,
  kMemory = 1,  // bytes
  kGpus = 2,    // `name`: who uses some of them outside of jobs, if so
  kDown = 3,
  kDrained = 4,
  kTasks = 5,  // the node as it stands cannot hold one task, or too few of them
  kNodes = 6,  // too few nodes in all
  kGpuType = 7,
  kFeatures = 20,      // the node's features do not match --constraint
  kExcluded = 21,      // the node is in --exclude
  kNotListed = 22,     // the node is not in --nodelist, which names enough
  kListedNodes = 23,   // a node of --nodelist cannot take its share, or does not exist
  kFeatureNodes = 24,  // too few nodes with a feature that is counted
  kReserved = 25,      // a reservation keeps the node for others
  kLayout = 26,        // the node has not what the layout of its ranks names
  kGpuShare = 27,      // thousandths of one GPU; `name` as of kGpus
  kSegments = 28,      // too few segments that lie on one leaf switch; `name`: of how many nodes
  kGres = 29,          // a countable thing; `name`: which
  kOtherUsers = 30,    // the node has jobs of other users
  kUsersOwn = 31,      // another user's job has the node for jobs of that user alone
  kPower = 32,         // the node is switched off, or boots
  kNarrow = 34,        // the node takes only jobs that cannot span nodes
  kNarrowLink = 35,    // `name`: two switches between which the job would have to lie
  kDivided = 36,       // its GPUs are not divided as the job asks; `name`: what becomes of that
  kOnAtOnce = 33,      // `name`: classes of [power] of which too few nodes may be on at once
};

// `nodes` nodes lack something: they need `needed` of it and have at most `available`.
struct Shortage {
  ShortageKind kind = ShortageKind::kCores;
  std::uint32_t nodes = 0;
  std::uint64_t needed = 0;
  std::uint64_t available = 0;  // the most that any of these nodes has
  std::string name = {};        // which features, which nodes, who
  static constexpr auto Fields(auto list) {
    return list(Field{"kind", &Shortage::kind}, Field{"nodes", &Shortage::nodes},
                Field{"needed", &Shortage::needed}, Field{"available", &Shortage::available},
                Field{"name", &Shortage::name});
  }
  friend bool operator==(const Shortage&, const Shortage&) = default;
};

struct Reason {
  ReasonKind kind = ReasonKind::kNone;
  ReasonClass verdict = ReasonClass::kNotNow;
  std::uint32_t nodes = 0;  // how many nodes were looked at
  std::vector<Shortage> shortages;
  JobId behind;             // kPriority: the first job before it
  std::uint32_t ahead = 0;  // kPriority: how many jobs are before it
  Time until = kNoTime;     // kBeginTime; kResources, kPriority: the expected start
  std::uint32_t limit = 0;  // kJobArrayTaskLimit; kSwitches
  std::string
      name;  // of what: a licence, a node, a reservation, a limit ("account physics cpu"), …
  std::uint64_t used = 0;
  std::uint64_t needed = 0;
  std::uint64_t capacity = 0;
  std::vector<JobId> holders;  // the jobs that hold it, or that it waits for
  static constexpr auto Fields(auto list) {
    return list(Field{"kind", &Reason::kind}, Field{"verdict", &Reason::verdict},
                Field{"nodes", &Reason::nodes}, Field{"shortages", &Reason::shortages},
                Field{"behind", &Reason::behind}, Field{"ahead", &Reason::ahead},
                Field{"until", &Reason::until}, Field{"limit", &Reason::limit},
                Field{"name", &Reason::name}, Field{"used", &Reason::used},
                Field{"needed", &Reason::needed}, Field{"capacity", &Reason::capacity},
                Field{"holders", &Reason::holders});
  }
  friend bool operator==(const Reason&, const Reason&) = default;
};

// Slurm's name: "Resources".
const char* Name(ReasonKind kind);
// Thousandths of a GPU as a part of one: "0.25".
std::string GpuShareText(std::uint64_t thousandths);
// What one node lacks: "short of 3 cores (has 1)".
std::string ToSentence(const Shortage& shortage);
// One sentence with the numbers: "2 nodes: 1 short of 3 cores (has 1), 1 drained".
std::string ToSentence(const Reason& reason);

}  // namespace muster
