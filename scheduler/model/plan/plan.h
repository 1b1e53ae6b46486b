#pragma once

// A plan: what a cycle proposes to start and to resume, and why each job left waiting waits, the
// suspended ones that want their cores back among them.
//
// A proposal only: core/handle/verify checks each start against the state as it is by then.
// Thread promise: immutable once made. Invariants: (1) no job is both started and waiting; (2)
// starts are in queue order; (3) `hash` is the fingerprint of all else in it, the
// same on every machine.

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "scheduler/model/job/job_state.h"
#include "scheduler/model/machine/allocation.h"
#include "scheduler/model/machine/mig.h"
#include "scheduler/model/plan/reason.h"
#include "scheduler/model/value/fields.h"
#include "scheduler/model/value/ids.h"
#include "scheduler/model/value/time.h"

namespace muster {

struct PlannedStart {
  JobId job;
  Allocation allocation;
  std::string partition;          // which of the job's it starts in; empty: the implied one
  std::uint32_t alternative = 0;  // which of the job's alternatives; 0: the first or only one
  std::uint32_t tasks = 0;        // of a job that takes as many nodes as it can; 0: as asked
  static constexpr auto Fields(auto list) {
    return list(Field{"job", &PlannedStart::job}, Field{"allocation", &PlannedStart::allocation},
                Field{"partition", &PlannedStart::partition},
                Field{"alternative", &PlannedStart::alternative},
                Field{"tasks", &PlannedStart::tasks});
  }
  friend bool operator==(const PlannedStart&, const PlannedStart&) = default;
};

// A node and how many of the job's tasks it is to take.
struct ReservedNode {
  NodeId node;
  std::uint32_t tasks = 0;
  static constexpr auto Fields(auto list) {
    return list(Field{"node", &ReservedNode::node}, Field{"tasks", &ReservedNode::tasks});
  }
  friend bool operator==(const ReservedNode&, const ReservedNode&) = default;
};

// A later start for which the nodes are kept free: jobs that come after do not delay it. The next
// cycle keeps to the same nodes while nothing earlier is found.
struct PlannedReservation {
  JobId job;
  Time start = kNoTime;
  std::vector<ReservedNode> nodes;
  static constexpr auto Fields(auto list) {
    return list(Field{"job", &PlannedReservation::job}, Field{"start", &PlannedReservation::start},
                Field{"nodes", &PlannedReservation::nodes});
  }
  friend bool operator==(const PlannedReservation&, const PlannedReservation&) = default;
};

// The latest start that the job is promised from now on. Of jobs whose promise is new or changes.
struct PlannedPromise {
  JobId job;
  Time by = kNoTime;
  static constexpr auto Fields(auto list) {
    return list(Field{"job", &PlannedPromise::job}, Field{"by", &PlannedPromise::by});
  }
  friend bool operator==(const PlannedPromise&, const PlannedPromise&) = default;
};

// A job that waits, or elements of one array that do so for the same reasons: of a job after
// others, each comes after one more than the element before it.
struct LeftWaiting {
  JobId job;
  Reason reason;
  std::vector<Reason> also;    // further blockers: each alone keeps it waiting too
  std::uint32_t priority = 0;  // 0: not reckoned
  std::uint32_t count = 1;     // of elements, with ids in a row
  static constexpr auto Fields(auto list) {
    return list(Field{"job", &LeftWaiting::job}, Field{"reason", &LeftWaiting::reason},
                Field{"also", &LeftWaiting::also}, Field{"priority", &LeftWaiting::priority},
                Field{"count", &LeftWaiting::count});
  }
  friend bool operator==(const LeftWaiting&, const LeftWaiting&) = default;

  [[nodiscard]] bool Has(JobId id) const { return id >= job && id.value() - job.value() < count; }
  // Why one of its jobs waits. REQUIRES: Has(id).
  [[nodiscard]] Reason ReasonOf(JobId id) const {
    Reason own = reason;
    if (own.kind == ReasonKind::kPriority) {
      own.ahead += static_cast<std::uint32_t>(id.value() - job.value());
    }
    return own;
  }
};

// A waiting job that is to end without having started.
struct PlannedDrop {
  JobId job;
  JobState state = JobState::kCancelled;
  std::string text;
  static constexpr auto Fields(auto list) {
    return list(Field{"job", &PlannedDrop::job}, Field{"state", &PlannedDrop::state},
                Field{"text", &PlannedDrop::text});
  }
  friend bool operator==(const PlannedDrop&, const PlannedDrop&) = default;
};

// A running job that is to be preempted.
struct PlannedVictim {
  JobId job;
  AttemptNumber attempt;
  bool requeue = false;  // it runs again; else it ends as PREEMPTED
  bool suspend = false;  // neither: it gives its cores only, and has them back later
  static constexpr auto Fields(auto list) {
    return list(Field{"job", &PlannedVictim::job}, Field{"attempt", &PlannedVictim::attempt},
                Field{"requeue", &PlannedVictim::requeue},
                Field{"suspend", &PlannedVictim::suspend});
  }
  friend bool operator==(const PlannedVictim&, const PlannedVictim&) = default;
};

// Jobs that are preempted for one, which then fits where `allocation` says: all of them or none.
struct PlannedPreemption {
  JobId job;  // for which they are preempted
  std::vector<PlannedVictim> victims;
  Allocation allocation;
  static constexpr auto Fields(auto list) {
    return list(Field{"job", &PlannedPreemption::job},
                Field{"victims", &PlannedPreemption::victims},
                Field{"allocation", &PlannedPreemption::allocation});
  }
  friend bool operator==(const PlannedPreemption&, const PlannedPreemption&) = default;
};

// A suspended attempt that is to have its own cores again.
struct PlannedResume {
  JobId job;
  AttemptNumber attempt;
  static constexpr auto Fields(auto list) {
    return list(Field{"job", &PlannedResume::job}, Field{"attempt", &PlannedResume::attempt});
  }
  friend bool operator==(const PlannedResume&, const PlannedResume&) = default;
};

// What becomes of the size of a running elastic job.
enum class ResizeVerdict : std::uint8_t {
  kGrow = 0,       // at `when`, by ending the attempt
  kLargest = 1,    // it has all that it may have
  kNoRoom = 2,     // no further node is free for it, or others wait for those that are
  kTooSoon = 3,    // its last change was too short ago, up to `when`
  kTooLittle = 4,  // what is left of it gains less than the change costs
  kShrink = 5      // at `when`, for a job that waits
};

struct PlannedResize {
  JobId job;
  AttemptNumber attempt;
  ResizeVerdict verdict = ResizeVerdict::kLargest;
  std::uint32_t nodes = 0;  // as it would be
  Time when = kNoTime;
  Duration gain{0};  // time that it would take less; the largest: it has no limit
  Duration cost{0};  // of the change
  JobId for_job;     // kShrink: which waits for its nodes; none otherwise
  static constexpr auto Fields(auto list) {
    return list(Field{"job", &PlannedResize::job}, Field{"attempt", &PlannedResize::attempt},
                Field{"verdict", &PlannedResize::verdict}, Field{"nodes", &PlannedResize::nodes},
                Field{"when", &PlannedResize::when}, Field{"gain", &PlannedResize::gain},
                Field{"cost", &PlannedResize::cost}, Field{"for_job", &PlannedResize::for_job});
  }
  friend bool operator==(const PlannedResize&, const PlannedResize&) = default;
};

// A GPU that is to be divided so that a job which waits could start.
struct GpuWish {
  NodeId node;
  GpuLayout layout;  // kOrdered: at once; kWanted: once its jobs have ended
  friend bool operator==(const GpuWish&, const GpuWish&) = default;
};

struct Plan {
  Version version;  // the snapshot's
  std::vector<PlannedStart> starts;
  std::vector<PlannedReservation> reservations;
  std::vector<LeftWaiting> waiting;
  Time wake = kNoTime;  // when time alone will change the answer (a begin time), or kNoTime
  std::uint64_t hash = 0;
  std::vector<PlannedDrop> drops;
  std::vector<PlannedPreemption> preemptions;
  std::vector<PlannedResume> resumes;
  std::vector<PlannedResize> resizes = {};    // of every running elastic job, by job
  std::vector<PlannedPromise> promises = {};  // by job
  static constexpr auto Fields(auto list) {
    return list(Field{"version", &Plan::version}, Field{"starts", &Plan::starts},
                Field{"reservations", &Plan::reservations}, Field{"waiting", &Plan::waiting},
                Field{"wake", &Plan::wake}, Field{"hash", &Plan::hash},
                Field{"drops", &Plan::drops}, Field{"preemptions", &Plan::preemptions},
                Field{"resumes", &Plan::resumes}, Field{"resizes", &Plan::resizes},
                Field{"promises", &Plan::promises});
  }
  friend bool operator==(const Plan&, const Plan&) = default;
};

// The change is to be made by then.
inline bool IsDue(const PlannedResize& resize, Time now) {
  return (resize.verdict == ResizeVerdict::kGrow || resize.verdict == ResizeVerdict::kShrink) &&
         resize.when <= now;
}

// True when the plan has anything to be taken at that time.
inline bool HasWork(const Plan& plan, Time now) {
  return !plan.starts.empty() || !plan.drops.empty() || !plan.preemptions.empty() ||
         !plan.resumes.empty() || !plan.promises.empty() ||
         std::any_of(plan.resizes.begin(), plan.resizes.end(),
                     [now](const PlannedResize& resize) { return IsDue(resize, now); });
}

}  // namespace muster
