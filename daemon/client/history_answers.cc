// The questions about jobs that have ended, and what jobs held and used (client_methods.h).
#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "daemon/client/client_methods.h"
#include "daemon/client/job_list.h"
#include "daemon/client/views/job_costs.h"
#include "daemon/client/views/sight.h"
#include "daemon/controller/views.h"
#include "scheduler/base/status.h"

namespace muster::daemon {
namespace {

// Of either question about jobs that have ended.
template <class Question>
HistoryFilter FilterOf(const Question& asked, const Sight& sight, Private what) {
  HistoryFilter filter;
  if (sight.Hides(what)) {
    filter.shown = HistoryFilter::Shown{sight.user(), sight.accounts()};
  }
  filter.user = asked.user;
  filter.states = asked.states;
  filter.since = asked.since;
  filter.limit = asked.limit == 0 ? filter.limit : asked.limit;
  filter.jobs = asked.jobs;
  return filter;
}

// Those that run or have run, with the attempt under way.
std::vector<JobView> LiveUse(const Backend& backend, const StateView& state_view,
                             const Sight& sight, const ListUse& asked) {
  ListJobs live;
  const JobFilter& which = asked;
  static_cast<JobFilter&>(live) = which;
  std::vector<JobView> jobs;
  for (ListedJobs& each : ListOf(state_view, WantedJobs(live))) {
    const Job* const job = state_view.state().FindJob(each.view.id);
    if (job == nullptr || (!job->attempt.has_value() && each.view.restarts == 0) ||
        !sight.Shows(Private::kUsage, job->spec->user.name, job->spec->account)) {
      continue;
    }
    if (job->attempt.has_value()) {
      AttemptUse& use = each.view.attempts.emplace_back(UseOf(*job->attempt, state_view.now()));
      for (const NodeUsage& told : backend.usage.Of(*job, state_view.state())) {
        use.usage.Add(told.usage);
      }
    }
    jobs.push_back(std::move(each.view));
  }
  return jobs;
}

// Puts what the accounting knows before what each job has, and prices it.
absl::Status AddEnded(const Backend& backend, Time now, std::vector<JobView>& jobs) {
  std::vector<JobId> ids;
  ids.reserve(jobs.size());
  for (const JobView& job : jobs) {
    ids.push_back(job.id);
  }
  ASSIGN_OR_RETURN(auto ended, backend.accounting.Attempts(ids));
  const std::shared_ptr<const Prices> prices = backend.PricesNow();
  for (JobView& job : jobs) {
    std::vector<AttemptUse> attempts;
    for (const AttemptView& attempt : ended[job.id]) {
      attempts.push_back(UseOf(attempt));
    }
    // One that ended between the two readings is among the ended ones.
    for (const AttemptUse& live : job.attempts) {
      if (attempts.empty() || attempts.back().start_time < live.start_time) {
        attempts.push_back(live);
      }
    }
    AddCost(*prices, now, attempts, job);
    job.attempts = std::move(attempts);
  }
  return absl::OkStatus();
}

// A job that ended between the two readings is among the ended ones.
absl::StatusOr<std::vector<JobView>> AllUse(const Backend& backend, const HistoryFilter& filter,
                                            Time now, const std::vector<JobView>& live) {
  ASSIGN_OR_RETURN(std::vector<JobView> jobs, backend.accounting.List(filter));
  std::set<JobId> seen;
  for (const JobView& job : jobs) {
    seen.insert(job.id);
  }
  for (const JobView& job : live) {
    if (!seen.contains(job.id)) {
      jobs.push_back(job);
    }
  }
  RETURN_IF_ERROR(AddEnded(backend, now, jobs));
  return jobs;
}

void AnswerListUse(const Backend& backend, const Call<ListUse>& call, const ListUse& asked) {
  backend.controller.Look([backend, call, asked](const StateView& state_view) -> Controller::Reply {
    const Sight sight(call.caller, state_view.state());
    const auto live =
        std::make_shared<const std::vector<JobView>>(LiveUse(backend, state_view, sight, asked));
    const HistoryFilter ended = FilterOf(asked, sight, Private::kUsage);
    return [backend, call, ended, live, now = state_view.now()](const absl::Status&) {
      call.Aside(backend.reader, [backend, call, ended, live, now] {
        const absl::StatusOr<std::vector<JobView>> jobs = AllUse(backend, ended, now, *live);
        call.Finish(jobs.status(), jobs.ok() ? *jobs : std::vector<JobView>());
      });
    };
  });
}

// What the jobs of a list cost, where there are prices.
absl::Status PriceAll(const Backend& backend, Time now, std::vector<JobView>& jobs) {
  if (backend.PricesNow()->currency.empty()) {
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(AddEnded(backend, now, jobs));
  for (JobView& job : jobs) {
    job.attempts.clear();
  }
  return absl::OkStatus();
}

// A comment that was made by hand later takes the place of the one at submission.
absl::Status TakeComments(JobStore& store, std::vector<JobView>& jobs) {
  if (jobs.empty()) {
    return absl::OkStatus();
  }
  const auto [first, last] = std::minmax_element(
      jobs.begin(), jobs.end(), [](const JobView& a, const JobView& b) { return a.id < b.id; });
  ASSIGN_OR_RETURN(const NotesByJob notes, store.ReadNotes(first->id, last->id, kCommentNote));
  for (JobView& job : jobs) {
    const auto found = notes.find(job.id);
    job.comment = found == notes.end() ? job.comment : found->second.front().text;
  }
  return absl::OkStatus();
}

void AnswerListHistory(const Backend& backend, const Call<ListHistory>& call,
                       const ListHistory& asked) {
  const auto answer = [backend, call](const HistoryFilter& filter) {
    call.Aside(backend.reader, [backend, call, filter] {
      absl::StatusOr<std::vector<JobView>> views = backend.accounting.List(filter);
      absl::Status read = views.ok() ? TakeComments(backend.store, *views) : views.status();
      read = read.ok() ? PriceAll(backend, kNoTime, *views) : read;
      call.Finish(read, read.ok() ? *views : std::vector<JobView>());
    });
  };
  if (!Hides(call.caller, Private::kHistory)) {
    answer(FilterOf(asked, Sight(), Private::kHistory));  // what is in the state says nothing of it
    return;
  }
  backend.controller.Look([answer, call, asked](const StateView& state_view) -> Controller::Reply {
    const Sight sight(call.caller, state_view.state());
    return [answer, filter = FilterOf(asked, sight, Private::kHistory)](const absl::Status&) {
      answer(filter);
    };
  });
}

}  // namespace

void ServeHistory(Methods& methods, const Backend& backend) {
  AnswerInTurn<ListHistory>(methods, backend, AnswerListHistory);
  AnswerInTurn<ListUse>(methods, backend, AnswerListUse);
}

}  // namespace muster::daemon
