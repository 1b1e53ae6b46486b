#pragma once

// Dependencies: which jobs a job waits for, and what they must have done first.
//
// Slurm's words and meanings (sbatch(1), --dependency): terms joined by "," must all hold, by "?"
// one is enough. A term names a job, one element of an array (12_3) or a whole array, of which
// every element must have done it. Invariants: (1) only a term of kind kSingleton names no job; (2)
// only kAfter has a delay.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/model/value/fields.h"
#include "scheduler/model/value/ids.h"
#include "scheduler/model/value/index_ranges.h"
#include "scheduler/model/value/time.h"

namespace muster {

enum class DependencyKind : std::uint8_t {
  kAfter = 0,       // it has started (or ended without starting), and `delay` has passed since
  kAfterAny = 1,    // it has ended
  kAfterOk = 2,     // it has ended as COMPLETED
  kAfterNotOk = 3,  // it has ended as anything else
  kAfterCorr = 4,   // element i of this array: element i of that one has ended as COMPLETED
  kSingleton = 5,   // no earlier job of this user with this name waits or runs
};

struct DependencyTerm {
  DependencyKind kind = DependencyKind::kAfter;
  JobId job;
  std::optional<std::uint32_t> element;
  Duration delay{0};
  static constexpr auto Fields(auto list) {
    return list(Field{"kind", &DependencyTerm::kind}, Field{"job", &DependencyTerm::job},
                Field{"element", &DependencyTerm::element}, Field{"delay", &DependencyTerm::delay});
  }
  friend bool operator==(const DependencyTerm&, const DependencyTerm&) = default;
};

struct Dependency {
  std::vector<DependencyTerm> terms;  // empty: none
  bool any = false;                   // one of them is enough
  static constexpr auto Fields(auto list) {
    return list(Field{"terms", &Dependency::terms}, Field{"any", &Dependency::any});
  }
  friend bool operator==(const Dependency&, const Dependency&) = default;
};

// True when the job asks to be the only one of its name.
inline bool IsSingleton(const Dependency& dependency) {
  return std::any_of(
      dependency.terms.begin(), dependency.terms.end(),
      [](const DependencyTerm& term) { return term.kind == DependencyKind::kSingleton; });
}

// "afterok:12_3", "after:12+5", "singleton": what --dependency reads back.
std::string ToText(const DependencyTerm& term);
std::string ToText(const Dependency& dependency);

// What the accounting knows of a term's job, or of the elements of its array, that have ended.
struct TargetHistory {
  JobId job;
  std::optional<std::uint32_t> element;
  std::uint32_t ended = 0;   // how many
  std::uint32_t failed = 0;  // of them, otherwise than as COMPLETED
  Time started = kNoTime;    // the latest first start among them; kNoTime when none ever started
  IndexRanges completed;     // array indices that ended as COMPLETED
  IndexRanges others;        // and those that ended otherwise
  static constexpr auto Fields(auto list) {
    return list(Field{"job", &TargetHistory::job}, Field{"element", &TargetHistory::element},
                Field{"ended", &TargetHistory::ended}, Field{"failed", &TargetHistory::failed},
                Field{"started", &TargetHistory::started},
                Field{"completed", &TargetHistory::completed},
                Field{"others", &TargetHistory::others});
  }
  friend bool operator==(const TargetHistory&, const TargetHistory&) = default;
};

enum class TermState : std::uint8_t {
  kOpen = 0,
  kMet = 1,
  kNever = 2,  // can never be met any more
};

// How a waiting job's dependency stands at one moment; null pointers to it mean that it is met.
struct OpenDependency {
  TermState state = TermState::kOpen;
  std::string terms;           // those that are not met (for kNever: that never will be)
  std::vector<JobId> holders;  // the jobs waited for, as they were named
  Time until = kNoTime;        // when time alone meets it, or kNoTime
  static constexpr auto Fields(auto list) {
    return list(Field{"state", &OpenDependency::state}, Field{"terms", &OpenDependency::terms},
                Field{"holders", &OpenDependency::holders}, Field{"until", &OpenDependency::until});
  }
  friend bool operator==(const OpenDependency&, const OpenDependency&) = default;
};

}  // namespace muster
