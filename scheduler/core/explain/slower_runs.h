#pragma once

// Whether a job has become slower than its own earlier runs, and what was different.
//
// Runs are of one program: one run's rate is one run in the time that it ran. Pure. Invariants: (1)
// fewer than kBaseLeast runs before, or kInARow that are slower, say nothing; (2) what is compared
// with is never among the slower ones.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/model/value/ids.h"
#include "scheduler/model/value/time.h"

namespace muster::core {

struct FinishedRun {
  JobId job;
  Duration ran{0};                  // without suspensions
  std::vector<std::string> record;  // what it was made of: "git.commit=…", each name once
  std::vector<std::string> nodes;
};

struct SlowerRuns {
  std::uint32_t in_a_row = 0;
  JobId first;             // of those in a row
  JobId before;            // the run before them
  Duration ran{0};         // the last run
  Duration median{0};      // of the runs before
  std::uint32_t fall = 0;  // of the rate, in hundredths of the one before
  // What of the record, or of the nodes, differs first between `before` and `first`; empty:
  // nothing.
  std::string name;
  std::string was;
  std::string is;
};

// A run is slower when its rate is that much below the median of the runs before, and it took that
// much longer.
inline constexpr std::int64_t kSlowerPercent = 5;
inline constexpr Duration kSlowerLeast{1'000};
inline constexpr std::size_t kInARow = 3;
inline constexpr std::size_t kBaseLeast = 3;
inline constexpr std::size_t kBaseMost = 20;

// Of the last of `runs`, which are in the order of their ends.
std::optional<SlowerRuns> FindSlowerRuns(const std::vector<FinishedRun>& runs);

// "has a rate 13 % below that of its earlier runs (345 s, median 300 s), 3 times in a row since job
// 12; git.commit was a1, is b2: muster diff 11 12".
std::string ToSentence(const SlowerRuns& slower);

}  // namespace muster::core
