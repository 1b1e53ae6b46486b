#include "scheduler/core/state/tables/dependency.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/model/job/array.h"

namespace muster::core {
namespace {

bool HasStarted(const Job& job) {
  return job.first_started != kNoTime || job.attempt.has_value();
}

// Counts a live job of a term.
void CountLive(const Job& job, DependencyKind kind, TermProgress& progress) {
  const bool done = kind == DependencyKind::kAfter && HasStarted(job);
  progress.left += done ? 0 : 1;
  progress.started = std::max(progress.started, job.first_started);
}

// True when the term names this job.
bool Names(const DependencyTerm& term, const Job& job) {
  if (term.job == job.submission) {
    return !term.element.has_value() || term.element == job.array_index;
  }
  return term.job == job.id && !term.element.has_value();
}

// How many jobs the submission of the job made.
std::size_t JobsOfSubmission(const Job& job) {
  return IsComponent(job) ? job.het_size : ElementCount(*job.spec->array);
}

TermState StateOfElement(const TermProgress& progress, std::uint32_t index) {
  if (progress.completed.Contains(index)) {
    return TermState::kMet;
  }
  return progress.left == 0 || progress.others.Contains(index) ? TermState::kNever
                                                               : TermState::kOpen;
}

// The state of a term but for kSingleton and element by element.
TermState StateOfWhole(DependencyKind kind, const TermProgress& progress) {
  switch (kind) {
    case DependencyKind::kAfter:
    case DependencyKind::kAfterAny:
      return progress.left == 0 ? TermState::kMet : TermState::kOpen;
    case DependencyKind::kAfterNotOk:
      return progress.left > 0     ? TermState::kOpen
             : progress.failed > 0 ? TermState::kMet
                                   : TermState::kNever;
    default:
      return progress.failed > 0  ? TermState::kNever
             : progress.left == 0 ? TermState::kMet
                                  : TermState::kOpen;
  }
}

// Gathers terms into the whole dependency's state.
class Judge {
 public:
  Judge(const Dependency& dependency, Time now) : dependency_(dependency), now_(now) {}

  void Add(const DependencyTerm& term, TermState state, const TermProgress& progress,
           const std::vector<JobId>& holders) {
    Time until = kNoTime;
    if (state == TermState::kMet && term.delay > Duration(0) && progress.started != kNoTime &&
        progress.started + term.delay > now_) {
      state = TermState::kOpen;
      until = progress.started + term.delay;
    }
    if (state == TermState::kMet) {
      ++met_;
      return;
    }
    OpenDependency& side = state == TermState::kNever ? never_ : open_;
    absl::StrAppend(&side.terms,
                    side.terms.empty() ? ""
                    : dependency_.any  ? "?"
                                       : ",",
                    ToText(term));
    side.holders.insert(side.holders.end(), holders.begin(), holders.end());
    if (state == TermState::kOpen) {
      NoteTime(until);
    }
  }

  std::shared_ptr<const OpenDependency> Verdict() {
    const bool met = dependency_.any ? met_ > 0 : met_ == dependency_.terms.size();
    if (met) {
      return nullptr;
    }
    const bool never = dependency_.any ? open_.terms.empty() : !never_.terms.empty();
    OpenDependency& side = never ? never_ : open_;
    side.state = never ? TermState::kNever : TermState::kOpen;
    if (!never && (dependency_.any || !needs_more_than_time_)) {
      side.until = until_;
    }
    return std::make_shared<const OpenDependency>(std::move(side));
  }

 private:
  void NoteTime(Time until) {
    if (until == kNoTime) {
      needs_more_than_time_ = true;
    } else if (until_ == kNoTime) {
      until_ = until;
    } else {
      until_ = dependency_.any ? std::min(until_, until) : std::max(until_, until);
    }
  }

  const Dependency& dependency_;
  const Time now_;
  std::size_t met_ = 0;
  bool needs_more_than_time_ = false;
  Time until_ = kNoTime;
  OpenDependency open_;
  OpenDependency never_;
};

absl::StatusOr<TermProgress> BeginTerm(const JobTable& jobs, const DependencyTerm& term,
                                       bool is_array, const std::vector<TargetHistory>& history) {
  TermProgress progress;
  if (term.kind == DependencyKind::kSingleton) {
    return progress;
  }
  const std::vector<const Job*> live = jobs.FindAll(term.job, term.element);
  for (const Job* job : live) {
    CountLive(*job, term.kind, progress);
  }
  const auto past = std::find_if(history.begin(), history.end(), [&](const TargetHistory& known) {
    return known.job == term.job && known.element == term.element && known.ended > 0;
  });
  if (past != history.end()) {
    progress.failed = past->failed;
    progress.started = std::max(progress.started, past->started);
    progress.completed = past->completed;
    progress.others = past->others;
  } else if (live.empty()) {
    return absl::NotFoundError(absl::StrCat("--dependency: ", ToText(term), ": no such job"));
  }
  // The two must be of one moment: an element that ended in between is in neither.
  const bool many = !live.empty() &&
                    (live.front()->array_index.has_value() || IsComponent(*live.front())) &&
                    !term.element.has_value() && live.front()->submission == term.job;
  const std::size_t ended = past == history.end() ? 0 : past->ended;
  if (many && live.size() + ended != JobsOfSubmission(*live.front())) {
    return absl::AbortedError(
        absl::StrCat("--dependency: ", ToText(term), ": an element ended just now; try again"));
  }
  const bool target_is_array =
      (!live.empty() && live.front()->array_index.has_value()) || !progress.completed.runs.empty();
  progress.by_element = term.kind == DependencyKind::kAfterCorr && is_array &&
                        !term.element.has_value() && target_is_array;
  if (!progress.by_element) {
    progress.completed = IndexRanges();
    progress.others = IndexRanges();
  }
  return progress;
}

}  // namespace

absl::StatusOr<std::vector<TermProgress>> BeginProgress(const JobTable& jobs,
                                                        const Dependency& dependency, bool is_array,
                                                        const std::vector<TargetHistory>& history) {
  std::vector<TermProgress> all;
  for (const DependencyTerm& term : dependency.terms) {
    ASSIGN_OR_RETURN(TermProgress progress, BeginTerm(jobs, term, is_array, history));
    all.push_back(std::move(progress));
  }
  return all;
}

std::shared_ptr<const OpenDependency> LookAhead(const Dependency& dependency,
                                                const std::vector<TermProgress>& progress,
                                                Time now) {
  Judge judge(dependency, now);
  for (std::size_t i = 0; i < dependency.terms.size(); ++i) {
    const DependencyTerm& term = dependency.terms[i];
    const bool later = term.kind == DependencyKind::kSingleton || progress[i].by_element;
    judge.Add(term, later ? TermState::kOpen : StateOfWhole(term.kind, progress[i]), progress[i],
              {term.job});
  }
  return judge.Verdict();
}

void DependencyTable::Join(const JobSpec& spec, JobId submission, std::uint32_t count) {
  namesakes_[NameKey(spec.user.uid, spec.name)].live[submission] += count;
}

void DependencyTable::Wait(Waiter waiter, const Dependency& dependency,
                           std::vector<TermProgress> progress, std::uint32_t count) {
  MUSTER_CHECK(progress.size() == dependency.terms.size());
  records_[waiter] = Record{dependency, std::move(progress), count};
  for (const DependencyTerm& term : dependency.terms) {
    if (term.job.valid()) {
      dependents_[term.job].insert(waiter);
    }
  }
}

void DependencyTable::Leave(const Job& job) {
  const auto group = namesakes_.find(NameKey(job.spec->user.uid, job.spec->name));
  MUSTER_CHECK(group != namesakes_.end());
  const auto drop = [&](std::map<JobId, std::uint32_t>& counts) {
    const auto found = counts.find(job.submission);
    MUSTER_CHECK(found != counts.end());
    if (--found->second == 0) {
      counts.erase(found);
    }
  };
  drop(group->second.live);
  if (job.attempt.has_value()) {
    drop(group->second.allocated);
  }
  if (group->second.live.empty()) {
    namesakes_.erase(group);
  }
  const auto record = records_.find(WaiterOf(job));
  if (record != records_.end() && --record->second.jobs == 0) {
    Forget(record->first);
  }
}

void DependencyTable::Change(const Job& job, const JobSpec& spec,
                             std::vector<TermProgress> progress) {
  Leave(job);
  Join(spec, job.submission, 1);
  if (job.attempt.has_value()) {
    ++namesakes_[NameKey(spec.user.uid, spec.name)].allocated[job.submission];  // the new name's
  }
  if (!spec.dependency.terms.empty()) {
    Wait(Waiter{job.id, true}, spec.dependency, std::move(progress), 1);
  }
}

void DependencyTable::Separate(const Job& job) {
  const auto shared = records_.find(Waiter{job.submission, false});
  if (job.changed_spec != nullptr || shared == records_.end()) {
    return;
  }
  Wait(Waiter{job.id, true}, shared->second.dependency, shared->second.progress, 1);
  if (--shared->second.jobs == 0) {
    Forget(shared->first);
  }
}

std::vector<TermProgress> DependencyTable::ProgressOf(const Job& job) const {
  const auto found = records_.find(WaiterOf(job));
  return found == records_.end() ? std::vector<TermProgress>() : found->second.progress;
}

void DependencyTable::Forget(Waiter waiter) {
  const auto record = records_.find(waiter);
  for (const DependencyTerm& term : record->second.dependency.terms) {
    const auto waiting = dependents_.find(term.job);
    if (waiting != dependents_.end()) {
      waiting->second.erase(waiter);
      if (waiting->second.empty()) {
        dependents_.erase(waiting);
      }
    }
  }
  records_.erase(record);
}

// Calls visit(term, progress) for every term that names the job.
template <class Visitor>
void DependencyTable::ForEachTermOn(const Job& job, Visitor&& visit) {
  std::set<JobId> ids = {job.submission, job.id};
  for (const JobId id : ids) {
    const auto waiting = dependents_.find(id);
    if (waiting == dependents_.end()) {
      continue;
    }
    for (const Waiter& waiter : waiting->second) {
      Record& record = records_.at(waiter);
      for (std::size_t i = 0; i < record.dependency.terms.size(); ++i) {
        const DependencyTerm& term = record.dependency.terms[i];
        if (term.job == id && Names(term, job)) {
          visit(term, record.progress[i]);
        }
      }
    }
  }
}

void DependencyTable::Allocated(const Job& job) {
  ++namesakes_[NameKey(job.spec->user.uid, job.spec->name)].allocated[job.submission];
}

void DependencyTable::Started(const Job& job, Time time) {
  Allocated(job);
  if (HasStarted(job)) {
    return;
  }
  ForEachTermOn(job, [&](const DependencyTerm& term, TermProgress& progress) {
    progress.started = std::max(progress.started, time);
    progress.left -= term.kind == DependencyKind::kAfter ? 1 : 0;
  });
}

void DependencyTable::Requeued(const Job& job) {
  Namesakes& group = namesakes_[NameKey(job.spec->user.uid, job.spec->name)];
  const auto found = group.allocated.find(job.submission);
  MUSTER_CHECK(found != group.allocated.end());
  if (--found->second == 0) {
    group.allocated.erase(found);
  }
}

void DependencyTable::Ended(const Job& job, JobState state) {
  Leave(job);
  const bool failed = !IsSuccess(state);
  ForEachTermOn(job, [&](const DependencyTerm& term, TermProgress& progress) {
    progress.failed += failed ? 1 : 0;
    progress.left -= term.kind == DependencyKind::kAfter && HasStarted(job) ? 0 : 1;
    if (progress.by_element && job.array_index.has_value()) {
      (failed ? progress.others : progress.completed).Insert(*job.array_index);
    }
  });
}

DependencyTable::Waiter DependencyTable::WaiterOf(const Job& job) const {
  return job.changed_spec != nullptr ? Waiter{job.id, true} : Waiter{job.submission, false};
}

// Slurm: one job of this name and user at a time, in the order of submission.
bool DependencyTable::IsAlone(const Job& job, std::vector<JobId>* holders) const {
  const auto group = namesakes_.find(NameKey(job.spec->user.uid, job.spec->name));
  if (group == namesakes_.end()) {
    return true;
  }
  if (!group->second.allocated.empty()) {
    holders->push_back(group->second.allocated.begin()->first);
    return false;
  }
  const auto first = group->second.live.begin();
  if (first != group->second.live.end() && first->first < job.submission) {
    holders->push_back(first->first);
    return false;
  }
  return true;
}

TermState DependencyTable::StateOf(const DependencyTerm& term, const TermProgress& progress,
                                   const Job& job) const {
  return progress.by_element && job.array_index.has_value()
             ? StateOfElement(progress, *job.array_index)
             : StateOfWhole(term.kind, progress);
}

std::shared_ptr<const OpenDependency> DependencyTable::Look(const Job& job, Time now) const {
  if (job.spec->dependency.terms.empty()) {
    return nullptr;
  }
  const auto found = records_.find(WaiterOf(job));
  MUSTER_CHECK(found != records_.end());
  const Record& record = found->second;
  Judge judge(record.dependency, now);
  for (std::size_t i = 0; i < record.dependency.terms.size(); ++i) {
    const DependencyTerm& term = record.dependency.terms[i];
    std::vector<JobId> holders;
    if (term.kind == DependencyKind::kSingleton) {
      const bool alone = IsAlone(job, &holders);
      judge.Add(term, alone ? TermState::kMet : TermState::kOpen, TermProgress(), holders);
      continue;
    }
    judge.Add(term, StateOf(term, record.progress[i], job), record.progress[i], {term.job});
  }
  return judge.Verdict();
}

bool DependencyTable::WaitsFor(const Job& job, JobId submission, const JobTable& jobs) const {
  std::set<JobId> seen;
  std::vector<const Job*> left = {&job};
  while (!left.empty()) {
    const Job& next = *left.back();
    left.pop_back();
    if (next.submission == submission) {
      return true;
    }
    if (!seen.insert(next.id).second) {
      continue;
    }
    for (const DependencyTerm& term : next.spec->dependency.terms) {
      const std::vector<const Job*> targets =
          term.job.valid() ? jobs.FindAll(term.job, term.element) : std::vector<const Job*>();
      left.insert(left.end(), targets.begin(), targets.end());
    }
  }
  return false;
}

}  // namespace muster::core
