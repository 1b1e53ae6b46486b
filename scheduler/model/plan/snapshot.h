#pragma once

// A snapshot: an immutable snapshot of the cluster at one version, all that a cycle may look at.
//
// Made by core/plan/snapshot_builder on the controller's thread, read by the planner on another.
// Thread promise: immutable once made. Invariants: (1) `nodes` is sorted by id; (2) `waiting` is
// sorted by core/plan/queue/waiting_jobs, best first; (3) the same state and the same `now` make
// the same snapshot.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/model/job/job.h"
#include "scheduler/model/job/job_spec.h"
#include "scheduler/model/machine/gpu_occupant.h"
#include "scheduler/model/machine/machine.h"
#include "scheduler/model/machine/narrow_link.h"
#include "scheduler/model/machine/network.h"
#include "scheduler/model/machine/node.h"
#include "scheduler/model/plan/plan.h"
#include "scheduler/model/policy/account.h"
#include "scheduler/model/policy/decayed_usage.h"
#include "scheduler/model/policy/policy_snapshot.h"
#include "scheduler/model/value/fields.h"
#include "scheduler/model/value/ids.h"
#include "scheduler/model/value/time.h"

namespace muster {

// What a running job holds of a node, and when it is to give it back. One that is about to be
// suspended has two: its cores, any moment now, and the rest.
struct Holding {
  JobId job;
  Time ends = kNoTime;  // start and limit; kNoTime: it has no limit
  CpuSet cpus;
  Bytes memory;
  std::vector<GpuGrant> gpus;
  CpuSet given_back = {};  // its own, which others may have while it is suspended
  Time back = kNoTime;     // when it can have them again at the latest; kNoTime: unknown
  GresList gres = {};
  static constexpr auto Fields(auto list) {
    return list(Field{"job", &Holding::job}, Field{"ends", &Holding::ends},
                Field{"cpus", &Holding::cpus}, Field{"memory", &Holding::memory},
                Field{"gpus", &Holding::gpus}, Field{"given_back", &Holding::given_back},
                Field{"back", &Holding::back}, Field{"gres", &Holding::gres});
  }
};

struct NodeSnapshot {
  NodeId id;
  std::string name;
  std::shared_ptr<const Machine> machine;
  bool up = false;
  bool drained = false;
  NodeUse taken;
  std::vector<Holding> holdings = {};      // by job
  std::vector<std::string> features = {};  // sorted
  std::uint32_t weight = 0;                // lighter ones are taken first
  // It is switched off, or is being switched off or on: all of it is taken, and can be had from
  // then on. kNoTime: it is on.
  Time ready = kNoTime;
  std::vector<std::uint64_t> kept = {};  // as Node has them
  GpuOccupants gpu_occupants = {};
  bool narrow = false;                      // as Node has it
  std::vector<GpuLayout> gpu_layouts = {};  // the same
  static constexpr auto Fields(auto list) {
    return list(Field{"id", &NodeSnapshot::id}, Field{"name", &NodeSnapshot::name},
                Field{"up", &NodeSnapshot::up}, Field{"drained", &NodeSnapshot::drained},
                Field{"taken", &NodeSnapshot::taken}, Field{"holdings", &NodeSnapshot::holdings},
                Field{"features", &NodeSnapshot::features}, Field{"weight", &NodeSnapshot::weight},
                Field{"ready", &NodeSnapshot::ready}, Field{"kept", &NodeSnapshot::kept},
                Field{"gpu_occupants", &NodeSnapshot::gpu_occupants},
                Field{"narrow", &NodeSnapshot::narrow},
                Field{"gpu_layouts", &NodeSnapshot::gpu_layouts});
  }
};

// A waiting job, or a run of elements of one array that differ in id and index alone: the values
// are those of the first.
struct WaitingJob {
  JobId id;
  JobId submission;
  std::optional<std::uint32_t> array_index;
  std::shared_ptr<const JobSpec> spec;
  bool held = false;
  bool quarantined = false;  // an attempt of it that this controller did not start still runs
  Time submitted = kNoTime;
  AttemptNumber last_attempt;
  HoldBy held_by = HoldBy::kUser;
  std::shared_ptr<const OpenDependency> dependency = {};  // null: none, or met
  std::uint32_t count = 1;                                // of elements, with ids in a row
  std::uint32_t het_size = 0;  // components of its heterogeneous job, which start together; 0: none
  bool resizing = false;       // it ran, and goes on at once with another number of nodes
  Duration estimate{0};        // how long it is thought to run; zero: nobody said
  Time promised = kNoTime;     // the latest start that it was promised; kNoTime: none
  static constexpr auto Fields(auto list) {
    return list(Field{"id", &WaitingJob::id}, Field{"submission", &WaitingJob::submission},
                Field{"array_index", &WaitingJob::array_index}, Field{"spec", &WaitingJob::spec},
                Field{"held", &WaitingJob::held}, Field{"quarantined", &WaitingJob::quarantined},
                Field{"submitted", &WaitingJob::submitted},
                Field{"last_attempt", &WaitingJob::last_attempt},
                Field{"held_by", &WaitingJob::held_by},
                Field{"dependency", &WaitingJob::dependency}, Field{"count", &WaitingJob::count},
                Field{"het_size", &WaitingJob::het_size}, Field{"resizing", &WaitingJob::resizing},
                Field{"estimate", &WaitingJob::estimate}, Field{"promised", &WaitingJob::promised});
  }
};

// How many elements of an array with a throttle hold resources.
struct ArrayRunning {
  JobId submission;
  std::uint32_t running = 0;
  static constexpr auto Fields(auto list) {
    return list(Field{"submission", &ArrayRunning::submission},
                Field{"running", &ArrayRunning::running});
  }
};

// A licence that running jobs hold.
struct LicenseUse {
  std::string name;
  std::uint64_t used = 0;
  std::vector<JobId> holders;
  static constexpr auto Fields(auto list) {
    return list(Field{"name", &LicenseUse::name}, Field{"used", &LicenseUse::used},
                Field{"holders", &LicenseUse::holders});
  }
};

struct RunningJob {
  JobId id;
  std::shared_ptr<const JobSpec> spec;
  AttemptNumber attempt;
  Time started = kNoTime;
  BillingRate billing;
  std::string partition;  // empty: the implied one
  bool ending = false;    // ordered to end
  std::uint32_t cpus = 0;
  Bytes memory;
  std::uint32_t gpus = 0;
  std::vector<NodeId> nodes;
  JobState state = JobState::kRunning;
  SuspendedBy suspended_by = SuspendedBy::kNobody;
  Duration suspended{0};   // for so long of its time, up to now, its cores were given back
  bool component = false;  // of a heterogeneous job
  // Of an elastic one: when its number of nodes last changed, or kNoTime, and what a change costs
  // as measured, or 0.
  Time resized = kNoTime;
  Duration change_cost{0};
  bool resizing = false;  // ordered to end for that
  Duration estimate{0};   // how long it is thought to run; zero: nobody said
  static constexpr auto Fields(auto list) {
    return list(Field{"id", &RunningJob::id}, Field{"spec", &RunningJob::spec},
                Field{"attempt", &RunningJob::attempt}, Field{"started", &RunningJob::started},
                Field{"billing", &RunningJob::billing}, Field{"partition", &RunningJob::partition},
                Field{"ending", &RunningJob::ending}, Field{"cpus", &RunningJob::cpus},
                Field{"memory", &RunningJob::memory}, Field{"gpus", &RunningJob::gpus},
                Field{"nodes", &RunningJob::nodes}, Field{"state", &RunningJob::state},
                Field{"suspended_by", &RunningJob::suspended_by},
                Field{"suspended", &RunningJob::suspended},
                Field{"component", &RunningJob::component}, Field{"resized", &RunningJob::resized},
                Field{"change_cost", &RunningJob::change_cost},
                Field{"resizing", &RunningJob::resizing}, Field{"estimate", &RunningJob::estimate});
  }
};

// The usage of all users, as it is kept.
struct UsageSnapshot {
  std::vector<AccountUsage> used;  // by account, user
  Duration half_life{0};
  static constexpr auto Fields(auto list) {
    return list(Field{"used", &UsageSnapshot::used}, Field{"half_life", &UsageSnapshot::half_life});
  }
};

// Which nodes differ from those of an earlier snapshot, for a reader that has that.
struct SnapshotDelta {
  const void* from = nullptr;        // that snapshot; never looked into
  Version since;                     // its version
  std::vector<std::uint32_t> nodes;  // positions, ascending; the same in both
};

struct Snapshot {
  Version version;
  Time now = kNoTime;
  std::vector<NodeSnapshot> nodes;
  std::vector<WaitingJob> waiting;
  std::vector<ArrayRunning> arrays;
  std::vector<PlannedReservation> promised;      // by the last plan, sorted by job
  std::vector<LicenseUse> licenses;              // sorted by name
  std::shared_ptr<const PolicySnapshot> policy;  // null: no rules
  std::vector<RunningJob> running;               // sorted by id
  UsageSnapshot usage;
  std::shared_ptr<const Network> network = {};  // null: not known
  std::vector<PlannedResize> growing = {};      // by the last plan, sorted by job
  std::vector<NarrowLink> narrow_links = {};    // of the network, by name
  bool by_user = false;  // some job may ask that its nodes have jobs of its user alone
  // No part of the snapshot, and not sent: a plan is the same without them. Nothing: any may
  // differ.
  std::optional<SnapshotDelta> delta = {};
  bool none_elastic = false;    // of the running jobs, as far as is known
  bool none_suspended = false;  // the same
  static constexpr auto Fields(auto list) {
    return list(Field{"version", &Snapshot::version}, Field{"now", &Snapshot::now},
                Field{"nodes", &Snapshot::nodes}, Field{"waiting", &Snapshot::waiting},
                Field{"arrays", &Snapshot::arrays}, Field{"promised", &Snapshot::promised},
                Field{"licenses", &Snapshot::licenses}, Field{"policy", &Snapshot::policy},
                Field{"running", &Snapshot::running}, Field{"usage", &Snapshot::usage},
                Field{"network", &Snapshot::network}, Field{"growing", &Snapshot::growing},
                Field{"by_user", &Snapshot::by_user},
                Field{"narrow_links", &Snapshot::narrow_links});
  }
};

}  // namespace muster
