#include "daemon/agents/straggler_watch.h"

#include <utility>

namespace muster::daemon {

bool StragglerWatch::IsDue(JobId job, AttemptNumber attempt, Time now) const {
  const auto known = verdicts_.find(job);
  if (known == verdicts_.end() || known->second.attempt != attempt) {
    return true;
  }
  const std::optional<StragglersView>& found = known->second.found;
  const Duration every =
      kLookEvery + (found.has_value() ? found->ranks : 0) * Duration(kMoreOfEachRank);
  return now - known->second.looked >= every || now < known->second.looked;
}

void StragglerWatch::Take(JobId job, AttemptNumber attempt, Time now,
                          std::optional<StragglersView> found) {
  if (now - swept_ >= kKept || now < swept_) {
    std::erase_if(verdicts_, [now](const auto& one) { return now - one.second.looked >= kKept; });
    swept_ = now;
  }
  Verdict& verdict = verdicts_[job];
  const std::map<Name, Time> before = std::exchange(verdict.since, std::map<Name, Time>());
  if (found.has_value()) {
    for (StragglerView& rank : found->found) {
      const Name name(rank.step, rank.rank, rank.measure);
      const auto known = before.find(name);
      rank.since =
          verdict.attempt == attempt && known != before.end() ? known->second : now - found->span;
      verdict.since.emplace(name, rank.since);
    }
  }
  verdict.attempt = attempt;
  verdict.looked = now;
  verdict.found = std::move(found);
}

std::optional<StragglersView> StragglerWatch::Of(const Job& job) const {
  const auto known = verdicts_.find(job.id);
  return known != verdicts_.end() && job.attempt.has_value() &&
                 job.attempt->number == known->second.attempt
             ? known->second.found
             : std::nullopt;
}

}  // namespace muster::daemon
