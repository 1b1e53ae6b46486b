#include "daemon/client/job_list.h"

#include <algorithm>
#include <cstdint>
#include <utility>

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

}  // namespace

WantedJobs::WantedJobs(const ListJobs& asked, Sight shown)
    : states(asked.states.begin(), asked.states.end()),
      user(asked.user),
      jobs(asked.jobs.begin(), asked.jobs.end()),
      fold(asked.fold),
      limit(asked.limit == 0 ? SIZE_MAX : asked.limit),
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
  std::vector<ListedJobs> listed;
  std::size_t views = 0;
  const core::JobTable& jobs = state_view.state().jobs();
  const auto add = [&](const Job& job, std::uint32_t run) {
    if (!filter.Wants(job) || views >= filter.limit) {
      return;
    }
    const bool folds = filter.fold && filter.jobs.empty();
    const auto count =
        folds ? run : static_cast<std::uint32_t>(std::min<std::size_t>(run, filter.limit - views));
    views += folds ? 1 : count;
    if (jobs.IsUntouched(job.id) && (count > 1 || filter.fold)) {
      AddElements(state_view, job, count, folds, listed);
    } else {
      listed.push_back(Listed(state_view, job));
    }
  };
  if (filter.jobs.empty()) {
    const auto add_some = [&](const Job& job, std::uint32_t run) {
      add(job, run);
      return views < filter.limit;
    };
    if (filter.OnlyWaiting()) {
      core::ForEachPendingWhile(state_view.state(), add_some);
    } else {
      jobs.ForEachRunWhile(add_some);
    }
    return listed;
  }
  for (const JobId id : filter.jobs) {
    jobs.ForEachOf(id, add);
  }
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
