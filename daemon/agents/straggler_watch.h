#pragma once

// Which ranks of running jobs are slower than their peers, judged again now and then.
//
// In memory alone: a restarted controller judges again once nodes have told. Thread promise: one
// owner, LiveUsage, which locks. Invariants: (1) a job is judged at most once in kLookEvery, and a
// large one the less often, so that judging costs little; (2) a verdict is of the attempt that it
// was made for; (3) a rank is slower since the begin of the minute in which it was first found so,
// and was found so at each look since.

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "scheduler/model/job/job.h"
#include "scheduler/model/value/ids.h"
#include "scheduler/model/value/time.h"
#include "scheduler/model/view/stragglers.h"

namespace muster::daemon {

class StragglerWatch {
 public:
  static constexpr std::chrono::seconds kLookEvery{10};
  static constexpr std::chrono::milliseconds kMoreOfEachRank{1};
  static constexpr std::chrono::minutes kKept{10};  // a verdict that is not renewed

  // Whether to judge the attempt now.
  [[nodiscard]] bool IsDue(JobId job, AttemptNumber attempt, Time now) const;
  // What was found of it now; nothing: none of its ranks has peers.
  void Take(JobId job, AttemptNumber attempt, Time now, std::optional<StragglersView> found);
  // Of the attempt under way; nothing: it was not judged, or has none to judge.
  [[nodiscard]] std::optional<StragglersView> Of(const Job& job) const;

 private:
  using Name = std::tuple<StepId, std::uint32_t, std::string>;  // step, rank, measure
  struct Verdict {
    AttemptNumber attempt;
    Time looked = kNoTime;
    std::optional<StragglersView> found;
    std::map<Name, Time> since;
  };
  std::map<JobId, Verdict> verdicts_;
  Time swept_ = kNoTime;
};

}  // namespace muster::daemon
