#include "daemon/client/job_list.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "daemon/controller/views.h"
#include "proto/controller.pb.h"
#include "proto/convert/bytes.h"
#include "proto/convert/wire_format.h"
#include "scheduler/core/state/pending_jobs.h"
#include "scheduler/model/job/array.h"
#include "scheduler/model/job/job_state.h"

namespace muster::daemon {
namespace {

ListedJobs Listed(const StateView& state_view, const Job& job) {
  ListedJobs listed;
  listed.reason = state_view.ReasonOf(job.id);
  listed.view = daemon::ViewOf(job, &listed.reason);
  listed.view.priority = state_view.PriorityOf(job.id);
  listed.view.alert = state_view.AlertOf(job.id);
  return listed;
}

// Adds `count` untouched elements from `job` on, those that wait for the same in one piece.
void AddElements(const StateView& state_view, Job job, std::uint32_t count, bool fold,
                 std::vector<ListedJobs>& jobs) {
  while (count > 0) {
    const std::uint32_t alike = state_view.AlikeFrom(job.id, count);
    const auto ordinal = static_cast<std::uint32_t>(job.id.value() - job.submission.value());
    job.array_index = ElementIndexAt(*job.spec->array, ordinal);
    jobs.push_back(Listed(state_view, job));
    if (fold) {
      jobs.back().view.indices = IndicesFrom(*job.spec->array, ordinal, alike);
    } else {
      jobs.back().alike = alike;
      jobs.back().spec = job.spec;
    }
    job.id = JobId(job.id.value() + alike);
    count -= alike;
  }
}

// The view of the next element: it has another number, and more elements before it.
void MoveOn(const ListedJobs& jobs, std::uint32_t offset, JobView& view) {
  view.id = JobId(jobs.view.id.value() + offset);
  view.array_task_id = absl::StrCat(IndexOfElement(*jobs.spec->array, view.array_job_id, view.id));
  view.label = absl::StrCat(view.array_job_id.value(), "_", view.array_task_id);
  if (jobs.reason.kind == ReasonKind::kPriority) {
    Reason own = jobs.reason;
    own.ahead += offset;
    view.reason.text = ToSentence(own);
  }
}

void AppendView(const JobView& view, std::string* bytes) {
  convert::PutNested(wire::ListJobsReply::kJobsFieldNumber, bytes,
                     [&] { AppendWire(view, bytes); });
}

// Whether what a listing shows of two reasons is the same, but for how many jobs are before each.
bool IsSameWait(const Reason& one, Reason other) {
  if (one.kind == ReasonKind::kPriority) {
    other.ahead = one.ahead;
    other.until = one.until;
  }
  return one == other;
}

// Single jobs that wait alike, their ids in a row. No view is made to find that out.
class AlikeJobs {
 public:
  explicit AlikeJobs(const StateView& state_view) : state_view_(state_view) {}

  [[nodiscard]] bool MayHold(const Job& job) const {
    return IsWaiting(job.state) && !job.array_index.has_value() && !IsComponent(job) &&
           state_view_.AlertOf(job.id).empty();
  }
  // Takes the job in if it is the next one and waits as they do, or if there are none. REQUIRES:
  // MayHold(job); a job that is no element stands in the state by itself, for as long as one looks.
  bool Takes(const Job& job) {
    Reason reason = state_view_.ReasonOf(job.id);
    const std::uint32_t priority = state_view_.PriorityOf(job.id);
    if (count_ == 0) {
      reason_ = std::move(reason);
      priority_ = priority;
    } else if (!IsNext(job) || priority != priority_ || !IsSameWait(reason_, std::move(reason))) {
      return false;
    }
    if (few_.size() < kLeast) {
      few_.push_back(&job);
    }
    ++count_;
    return true;
  }
  // Whether one view stands for all of them.
  [[nodiscard]] bool AreMany() const { return count_ >= kLeast; }
  // All of them, or when they are many the first of them.
  [[nodiscard]] const std::vector<const Job*>& few() const { return few_; }
  [[nodiscard]] std::uint32_t count() const { return count_; }
  void Clear() {
    few_.clear();
    count_ = 0;
  }

 private:
  static constexpr std::uint32_t kLeast = 16;  // fewer are better seen one by one

  [[nodiscard]] bool IsNext(const Job& job) const {
    const Job& first = *few_.front();
    return job.id.value() == first.id.value() + count_ && job.last_attempt == first.last_attempt &&
           job.checkpoints == first.checkpoints &&
           (job.spec == first.spec || *job.spec == *first.spec);
  }

  const StateView& state_view_;
  std::vector<const Job*> few_;
  std::uint32_t count_ = 0;
  Reason reason_;               // of the first
  std::uint32_t priority_ = 0;  // of each
};

// Gathers a listing from the jobs as one comes by them, in the order of ids.
class Lister {
 public:
  Lister(const StateView& state_view, const WantedJobs& filter)
      : state_view_(state_view), filter_(filter), alike_(state_view) {}

  // Takes in a job, or the first of `run` untouched elements; whether more are wanted.
  bool Add(const Job& job, std::uint32_t run) {
    if (!filter_.Wants(job)) {
      return !IsFull();
    }
    const bool single = filter_.fold_jobs && alike_.MayHold(job);
    if (single && alike_.Takes(job)) {
      return true;
    }
    EndAlike();
    if (IsFull()) {
      return false;
    }
    if (single) {
      return alike_.Takes(job);
    }
    AddViews(job, run);
    return !IsFull();
  }
  std::vector<ListedJobs> Take() {
    EndAlike();
    return std::move(listed_);
  }

 private:
  [[nodiscard]] bool IsFull() const { return views_ >= filter_.limit; }
  void AddViews(const Job& job, std::uint32_t run) {
    const bool folds = filter_.fold && filter_.jobs.empty();
    const auto count =
        folds ? run
              : static_cast<std::uint32_t>(std::min<std::size_t>(run, filter_.limit - views_));
    views_ += folds ? 1 : count;
    if (state_view_.state().jobs().IsUntouched(job.id) && (count > 1 || filter_.fold)) {
      AddElements(state_view_, job, count, folds, listed_);
    } else {
      listed_.push_back(Listed(state_view_, job));
    }
  }
  void EndAlike() {
    for (const Job* const job : alike_.few()) {
      if (IsFull()) {
        break;
      }
      AddViews(*job, 1);
      if (alike_.AreMany()) {
        listed_.back().view.alike = alike_.count();
        break;
      }
    }
    alike_.Clear();
  }

  const StateView& state_view_;
  const WantedJobs& filter_;
  AlikeJobs alike_;  // not listed yet
  std::vector<ListedJobs> listed_;
  std::size_t views_ = 0;
};

// Calls add(job, run) for the jobs of higher ids, until it returns false.
template <class Add>
void AddAfter(const core::JobTable& jobs, JobId after, const Add& add) {
  const auto next = [&jobs](JobId last) {  // the highest id has none after it
    return last.Next() > last ? jobs.NextFrom(last.Next()) : std::nullopt;
  };
  for (std::optional<JobId> id = next(after); id.has_value();) {
    const std::uint32_t run = std::max(1U, jobs.UntouchedFrom(*id));
    if (!add(*jobs.Find(*id), run)) {
      return;
    }
    id = next(JobId(id->value() + run - 1));
  }
}

}  // namespace

WantedJobs::WantedJobs(const ListJobs& asked, Sight shown)
    : states(asked.states.begin(), asked.states.end()),
      user(asked.user),
      jobs(asked.jobs.begin(), asked.jobs.end()),
      fold(asked.fold),
      fold_jobs(asked.fold && asked.fold_jobs && asked.jobs.empty()),
      limit(asked.limit == 0 ? SIZE_MAX : asked.limit),
      after(asked.after),
      sight(std::move(shown)) {}

bool WantedJobs::OnlyWaiting() const {
  return !states.empty() && std::all_of(states.begin(), states.end(),
                                        [](const std::string& name) { return IsWaiting(name); });
}

bool WantedJobs::Wants(const Job& job) const {
  return (states.empty() || states.contains(Name(job.state))) &&
         (user.empty() || user == job.spec->user.name) &&
         (jobs.empty() || jobs.contains(job.id) || jobs.contains(job.submission)) &&
         sight.Shows(Private::kJobs, job.spec->user.name, job.spec->account);
}

JobView ViewIn(const StateView& state_view, const Job& job) {
  return Listed(state_view, job).view;
}

std::vector<ListedJobs> ListOf(const StateView& state_view, const WantedJobs& filter) {
  Lister lister(state_view, filter);
  const core::JobTable& jobs = state_view.state().jobs();
  const auto add = [&lister](const Job& job, std::uint32_t run) { return lister.Add(job, run); };
  if (filter.after.valid()) {
    AddAfter(jobs, filter.after, add);
    return lister.Take();
  }
  if (filter.jobs.empty()) {
    if (filter.OnlyWaiting()) {
      core::ForEachPendingWhile(state_view.state(), add);
    } else {
      jobs.ForEachRunWhile(add);
    }
    return lister.Take();
  }
  for (const JobId id : filter.jobs) {
    jobs.ForEachOf(id, add);
  }
  std::vector<ListedJobs> listed = lister.Take();
  // An array and an element of it may both be named.
  std::sort(listed.begin(), listed.end(),
            [](const ListedJobs& a, const ListedJobs& b) { return a.view.id < b.view.id; });
  JobId end(0);
  std::erase_if(listed, [&end](const ListedJobs& each) {
    const bool again = each.view.id < end;
    end = std::max(end, JobId(each.view.id.value() + each.alike));
    return again;
  });
  return listed;
}

std::size_t CountOf(const std::vector<ListedJobs>& jobs) {
  std::size_t count = 0;
  for (const ListedJobs& each : jobs) {
    count += each.alike;
  }
  return count;
}

void AppendJobs(const std::vector<ListedJobs>& jobs, std::string* bytes) {
  for (const ListedJobs& each : jobs) {
    AppendView(each.view, bytes);
    if (each.alike > 1) {
      JobView element = each.view;
      for (std::uint32_t i = 1; i < each.alike; ++i) {
        MoveOn(each, i, element);
        AppendView(element, bytes);
      }
    }
  }
}

}  // namespace muster::daemon
