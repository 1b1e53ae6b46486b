#pragma once

// The states of a job and the one table of every transition between them.
//
// Names and codes are Slurm's. Invariants (checked at compile time): (1) no way leads out of a
// terminal state; (2) every state but PENDING can be reached; (3) every state leads to a terminal
// one.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace muster {

enum class JobState : std::uint8_t {
  kPending = 0,
  kConfiguring = 1,  // resources are given; not all nodes have reported that they started
  kRunning = 2,
  kCompleting = 3,  // ending: some node still has processes of it
  kCompleted = 4,
  kFailed = 5,
  kCancelled = 6,
  kTimeout = 7,
  kNodeFail = 8,
  kOutOfMemory = 9,
  kDeadline = 10,   // it could not end by its deadline, or had not
  kPreempted = 11,  // a job preempted it
  kSuspended = 12,  // its processes are frozen, or about to be, and its cores given back
};

inline constexpr std::array kAllJobStates = {
    JobState::kPending,   JobState::kConfiguring, JobState::kRunning,   JobState::kCompleting,
    JobState::kCompleted, JobState::kFailed,      JobState::kCancelled, JobState::kTimeout,
    JobState::kNodeFail,  JobState::kOutOfMemory, JobState::kDeadline,  JobState::kPreempted,
    JobState::kSuspended,
};

struct JobStateName {
  JobState state;
  const char* name;  // RUNNING
  const char* code;  // R
};

inline constexpr std::array<JobStateName, 13> kJobStateNames = {{
    {JobState::kPending, "PENDING", "PD"},
    {JobState::kConfiguring, "CONFIGURING", "CF"},
    {JobState::kRunning, "RUNNING", "R"},
    {JobState::kCompleting, "COMPLETING", "CG"},
    {JobState::kCompleted, "COMPLETED", "CD"},
    {JobState::kFailed, "FAILED", "F"},
    {JobState::kCancelled, "CANCELLED", "CA"},
    {JobState::kTimeout, "TIMEOUT", "TO"},
    {JobState::kNodeFail, "NODE_FAIL", "NF"},
    {JobState::kOutOfMemory, "OUT_OF_MEMORY", "OOM"},
    {JobState::kDeadline, "DEADLINE", "DL"},
    {JobState::kPreempted, "PREEMPTED", "PR"},
    {JobState::kSuspended, "SUSPENDED", "S"},
}};

constexpr const char* Name(JobState state) {
  return kJobStateNames[static_cast<std::size_t>(state)].name;
}
constexpr const char* Code(JobState state) {
  return kJobStateNames[static_cast<std::size_t>(state)].code;
}
constexpr bool IsTerminal(JobState state) {
  return state >= JobState::kCompleted && state != JobState::kSuspended;
}
// What code asks of one state, so that a new state that is like another is added here alone.
constexpr bool IsWaiting(JobState state) {
  return state == JobState::kPending;
}
constexpr bool IsStarting(JobState state) {
  return state == JobState::kConfiguring;
}
constexpr bool IsRunning(JobState state) {
  return state == JobState::kRunning;
}
constexpr bool IsSuspended(JobState state) {
  return state == JobState::kSuspended;
}
constexpr bool IsCompleting(JobState state) {
  return state == JobState::kCompleting;
}
constexpr bool IsSuccess(JobState state) {
  return state == JobState::kCompleted;
}
constexpr bool IsFailure(JobState state) {
  return state == JobState::kFailed;
}
constexpr bool IsCancelled(JobState state) {
  return state == JobState::kCancelled;
}
constexpr bool IsTimedOut(JobState state) {
  return state == JobState::kTimeout;
}
constexpr bool IsNodeFailure(JobState state) {
  return state == JobState::kNodeFail;
}
constexpr bool IsOutOfMemory(JobState state) {
  return state == JobState::kOutOfMemory;
}
constexpr bool IsPastDeadline(JobState state) {
  return state == JobState::kDeadline;
}
// True while the job holds resources: suspended, all but its cores.
constexpr bool IsAllocated(JobState state) {
  return state == JobState::kConfiguring || state == JobState::kRunning ||
         state == JobState::kSuspended || state == JobState::kCompleting;
}
// True when the job's own work decided when it ended, so that its run time tells of the next one's.
constexpr bool HasRunItsCourse(JobState state) {
  return IsSuccess(state) || IsFailure(state) || IsTimedOut(state) || IsOutOfMemory(state);
}

// The state of that name ("RUNNING"); nothing for any other text.
constexpr std::optional<JobState> StateNamed(std::string_view name) {
  for (const JobStateName& known : kJobStateNames) {
    if (name == known.name) {
      return known.state;
    }
  }
  return std::nullopt;
}

// The same questions of a state by its name, as views and events have it. No state, no yes.
constexpr bool IsStateThat(bool (*question)(JobState), std::string_view name) {
  const std::optional<JobState> state = StateNamed(name);
  return state.has_value() && question(*state);
}
constexpr bool IsTerminal(std::string_view name) {
  return IsStateThat(IsTerminal, name);
}
constexpr bool IsWaiting(std::string_view name) {
  return IsStateThat(IsWaiting, name);
}
constexpr bool IsStarting(std::string_view name) {
  return IsStateThat(IsStarting, name);
}
constexpr bool IsRunning(std::string_view name) {
  return IsStateThat(IsRunning, name);
}
constexpr bool IsSuspended(std::string_view name) {
  return IsStateThat(IsSuspended, name);
}
constexpr bool IsCompleting(std::string_view name) {
  return IsStateThat(IsCompleting, name);
}
constexpr bool IsSuccess(std::string_view name) {
  return IsStateThat(IsSuccess, name);
}
constexpr bool IsFailure(std::string_view name) {
  return IsStateThat(IsFailure, name);
}
constexpr bool IsCancelled(std::string_view name) {
  return IsStateThat(IsCancelled, name);
}
constexpr bool IsTimedOut(std::string_view name) {
  return IsStateThat(IsTimedOut, name);
}
constexpr bool IsNodeFailure(std::string_view name) {
  return IsStateThat(IsNodeFailure, name);
}
constexpr bool IsOutOfMemory(std::string_view name) {
  return IsStateThat(IsOutOfMemory, name);
}
constexpr bool IsPastDeadline(std::string_view name) {
  return IsStateThat(IsPastDeadline, name);
}

// What happens to a job.
enum class JobChange : std::uint8_t {
  kStart,      // a verified plan gave it resources
  kRun,        // every node of it has started
  kTerminate,  // it is ordered to end
  kEnd,        // every node of it has ended
  kDrop,       // it ends without having started
  kRequeue,    // every node of it has ended, and it shall run again
  kSuspend,    // it is ordered to give its cores back
  kResume,     // it has its cores again
};

struct JobTransition {
  JobState from;
  JobChange change;
  JobState to;
};

inline constexpr auto kJobTransitions = std::to_array<JobTransition>({
    {JobState::kPending, JobChange::kStart, JobState::kConfiguring},
    {JobState::kPending, JobChange::kDrop, JobState::kCancelled},
    {JobState::kPending, JobChange::kDrop, JobState::kDeadline},
    {JobState::kConfiguring, JobChange::kRun, JobState::kRunning},
    {JobState::kConfiguring, JobChange::kTerminate, JobState::kCompleting},
    {JobState::kRunning, JobChange::kTerminate, JobState::kCompleting},
    {JobState::kCompleting, JobChange::kTerminate, JobState::kCompleting},  // for another cause
    {JobState::kConfiguring, JobChange::kRequeue, JobState::kPending},
    {JobState::kRunning, JobChange::kRequeue, JobState::kPending},
    {JobState::kCompleting, JobChange::kRequeue, JobState::kPending},
    {JobState::kConfiguring, JobChange::kEnd, JobState::kDeadline},
    {JobState::kRunning, JobChange::kEnd, JobState::kDeadline},
    {JobState::kCompleting, JobChange::kEnd, JobState::kDeadline},
    {JobState::kConfiguring, JobChange::kEnd, JobState::kPreempted},
    {JobState::kRunning, JobChange::kEnd, JobState::kPreempted},
    {JobState::kCompleting, JobChange::kEnd, JobState::kPreempted},
    {JobState::kConfiguring, JobChange::kEnd, JobState::kCompleted},
    {JobState::kConfiguring, JobChange::kEnd, JobState::kFailed},
    {JobState::kConfiguring, JobChange::kEnd, JobState::kCancelled},
    {JobState::kConfiguring, JobChange::kEnd, JobState::kTimeout},
    {JobState::kConfiguring, JobChange::kEnd, JobState::kNodeFail},
    {JobState::kConfiguring, JobChange::kEnd, JobState::kOutOfMemory},
    {JobState::kRunning, JobChange::kEnd, JobState::kCompleted},
    {JobState::kRunning, JobChange::kEnd, JobState::kFailed},
    {JobState::kRunning, JobChange::kEnd, JobState::kCancelled},
    {JobState::kRunning, JobChange::kEnd, JobState::kTimeout},
    {JobState::kRunning, JobChange::kEnd, JobState::kNodeFail},
    {JobState::kRunning, JobChange::kEnd, JobState::kOutOfMemory},
    {JobState::kCompleting, JobChange::kEnd, JobState::kCompleted},
    {JobState::kCompleting, JobChange::kEnd, JobState::kFailed},
    {JobState::kCompleting, JobChange::kEnd, JobState::kCancelled},
    {JobState::kCompleting, JobChange::kEnd, JobState::kTimeout},
    {JobState::kCompleting, JobChange::kEnd, JobState::kNodeFail},
    {JobState::kCompleting, JobChange::kEnd, JobState::kOutOfMemory},
    {JobState::kRunning, JobChange::kSuspend, JobState::kSuspended},
    {JobState::kSuspended, JobChange::kResume, JobState::kRunning},
    {JobState::kSuspended, JobChange::kTerminate, JobState::kCompleting},
    {JobState::kSuspended, JobChange::kRequeue, JobState::kPending},
    {JobState::kSuspended, JobChange::kEnd, JobState::kCompleted},
    {JobState::kSuspended, JobChange::kEnd, JobState::kFailed},
    {JobState::kSuspended, JobChange::kEnd, JobState::kCancelled},
    {JobState::kSuspended, JobChange::kEnd, JobState::kTimeout},
    {JobState::kSuspended, JobChange::kEnd, JobState::kNodeFail},
    {JobState::kSuspended, JobChange::kEnd, JobState::kOutOfMemory},
    {JobState::kSuspended, JobChange::kEnd, JobState::kDeadline},
    {JobState::kSuspended, JobChange::kEnd, JobState::kPreempted},
});

// True when the table has the row (from, change, to).
constexpr bool IsAllowed(JobState from, JobChange change, JobState to) {
  for (const JobTransition& row : kJobTransitions) {
    if (row.from == from && row.change == change && row.to == to) {
      return true;
    }
  }
  return false;
}

namespace internal {

constexpr bool TerminalStatesAreFinal() {
  for (const JobTransition& row : kJobTransitions) {
    if (IsTerminal(row.from)) {
      return false;
    }
  }
  return true;
}

constexpr bool EveryStateIsReachable() {
  for (JobState state : kAllJobStates) {
    bool reached = state == JobState::kPending;
    for (const JobTransition& row : kJobTransitions) {
      reached = reached || row.to == state;
    }
    if (!reached) {
      return false;
    }
  }
  return true;
}

constexpr bool EveryStateCanEnd() {
  for (JobState state : kAllJobStates) {
    bool ends = IsTerminal(state);
    for (const JobTransition& row : kJobTransitions) {
      ends = ends || (row.from == state && IsTerminal(row.to));
    }
    if (!ends) {
      return false;
    }
  }
  return true;
}

constexpr bool NamesAreInOrder() {
  for (std::size_t i = 0; i < kJobStateNames.size(); ++i) {
    if (kJobStateNames[i].state != kAllJobStates[i] ||
        static_cast<std::size_t>(kAllJobStates[i]) != i) {
      return false;
    }
  }
  return true;
}

static_assert(TerminalStatesAreFinal());
static_assert(EveryStateIsReachable());
static_assert(EveryStateCanEnd());
static_assert(NamesAreInOrder());
static_assert(!IsAllowed(JobState::kPending, JobChange::kRun, JobState::kRunning));
static_assert(!IsAllowed(JobState::kCompleting, JobChange::kSuspend, JobState::kSuspended));
static_assert(!IsTerminal(JobState::kSuspended));
static_assert(IsTerminal("COMPLETED") && !IsTerminal("SUSPENDED") && !IsTerminal("NONE"));

}  // namespace internal

}  // namespace muster
