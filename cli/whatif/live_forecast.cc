#include "cli/whatif/live_forecast.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "cli/frame/json_output.h"
#include "cli/page/quantity.h"
#include "cli/page/table.h"
#include "scheduler/base/text/duration_text.h"
#include "scheduler/base/text/words.h"
#include "scheduler/model/job/job_state.h"
#include "scheduler/simulator/readers/name_table.h"

namespace muster::cli {
namespace {

using std::chrono::seconds;

sim::Tick TickOf(Time time) {
  return std::chrono::floor<seconds>(time.time_since_epoch()).count();
}

Time TimeOf(sim::Tick tick) {
  return Time(seconds(tick));
}

sim::Tick LimitOf(const JobView& job) {
  return std::chrono::ceil<seconds>(job.time_limit + job.suspended).count();
}

std::int64_t AmountOf(const JobView& job, ForecastUnit unit) {
  return unit == ForecastUnit::kGpus ? job.gpus : job.cpus;
}

bool IsUp(const NodeView& node) {
  return node.state.find("DOWN") == std::string::npos &&
         node.state.find("DRAIN") == std::string::npos;
}

// Nothing but room keeps it.
bool WaitsForResources(const JobView& job) {
  static const std::set<std::string> kinds = {"", "None", "Resources", "Priority", "NotPlannedYet"};
  return IsWaiting(job.state) && kinds.count(job.reason.kind) != 0;
}

void AddRunning(const JobView& job, const std::set<std::string>& up, ForecastUnit unit,
                std::int64_t user, LiveState* live) {
  const bool is_on_one =
      std::any_of(job.nodes.begin(), job.nodes.end(),
                  [&up](const std::string& node) { return up.count(node) != 0; });
  const std::int64_t amount = AmountOf(job, unit);
  if (!is_on_one || amount == 0) {
    return;
  }
  sim::ForecastState& state = live->state;
  if (job.time_limit == Duration(0)) {
    state.processors -= amount;  // it may never end
    return;
  }
  const sim::Tick start = std::min(TickOf(job.start_time), state.now);
  state.running.push_back({.processors = amount,
                           .submit = start,
                           .start = start,
                           .limit = std::max(LimitOf(job), state.now - start + 1),
                           .user = user});
}

// What waits, in the order in which it is to start.
void AddWaiting(std::vector<JobView> jobs, ForecastUnit unit, sim::NameTable* users,
                LiveState* live) {
  std::sort(jobs.begin(), jobs.end(), [](const JobView& a, const JobView& b) {
    return std::tuple(b.priority, a.submit_time, a.id) <
           std::tuple(a.priority, b.submit_time, b.id);
  });
  for (JobView& job : jobs) {
    const std::int64_t amount = AmountOf(job, unit);
    const bool fits = amount > 0 && amount <= live->state.processors;
    if (!WaitsForResources(job) || job.time_limit == Duration(0) || !fits) {
      ++live->left_out;
      continue;
    }
    live->state.waiting.push_back({.processors = amount,
                                   .submit = TickOf(job.submit_time),
                                   .limit = LimitOf(job),
                                   .user = users->NumberOf(job.user)});
    live->waiting.push_back(std::move(job));
  }
}

void AddPast(const std::vector<JobView>& history, sim::NameTable* users, LiveState* live) {
  for (auto job = history.rbegin(); job != history.rend(); ++job) {
    if (job->start_time == kNoTime || job->time_limit == Duration(0) ||
        job->end_time <= job->start_time) {
      continue;
    }
    const sim::Tick ran = std::chrono::ceil<seconds>(job->end_time - job->start_time).count();
    live->use.Add(users->NumberOf(job->user), std::min(ran, LimitOf(*job)), LimitOf(*job));
    ++live->past;
  }
}

}  // namespace

sim::FlatPolicy LivePolicy() {
  sim::FlatPolicy policy;
  policy.backfill = Backfill::kConservative;
  return policy;
}

LiveState ReadLiveState(const std::vector<NodeView>& nodes, const std::vector<JobView>& jobs,
                        const std::vector<JobView>& history, Time now, ForecastUnit unit) {
  LiveState live;
  live.state.now = TickOf(now);
  std::set<std::string> up;
  for (const NodeView& node : nodes) {
    if (IsUp(node)) {
      up.insert(node.name);
      live.state.processors += unit == ForecastUnit::kGpus ? node.gpus : node.cpus;
    }
  }
  sim::NameTable users;
  AddPast(history, &users, &live);
  std::vector<JobView> waiting;
  for (const JobView& job : jobs) {
    if (job.start_time == kNoTime || IsWaiting(job.state)) {
      waiting.push_back(job);
    } else {
      AddRunning(job, up, unit, users.NumberOf(job.user), &live);
    }
  }
  std::stable_sort(
      live.state.running.begin(), live.state.running.end(),
      [](const sim::ForecastJob& a, const sim::ForecastJob& b) { return a.start < b.start; });
  std::int64_t held = 0;
  for (const sim::ForecastJob& job : live.state.running) {
    held += job.processors;
  }
  // Jobs that are in part on nodes which take no more.
  live.state.processors = std::max({live.state.processors, held, std::int64_t{1}});
  AddWaiting(std::move(waiting), unit, &users, &live);
  return live;
}

std::string PrintLiveForecast(const LiveState& live, const std::vector<sim::StartQuantiles>& starts,
                              const sim::ForecastOptions& options, const Style& style) {
  Table table({{.title = "JOBID"},
               {.title = "USER"},
               {.title = "PLANNED"},
               {.title = "P50"},
               {.title = "P90"},
               {.title = "WAIT P50", .right = true}});
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const JobView& job = live.waiting[i];
    table.Add({{job.label},
               {job.user},
               {job.expected_start == kNoTime ? "-" : MomentText(job.expected_start, style.zone)},
               {MomentText(TimeOf(starts[i].p50), style.zone)},
               {MomentText(TimeOf(starts[i].p90), style.zone)},
               {ElapsedText(seconds(starts[i].p50 - live.state.now))}});
  }
  const std::string head =
      absl::StrCat(options.futures, " futures, from what ", Counted(live.past, "ended job"),
                   " used of their limits; ", live.left_out, " waiting without an estimate\n");
  return starts.empty() ? head : absl::StrCat(head, "\n", table.Print(style));
}

std::string LiveForecastDocument(const LiveState& live,
                                 const std::vector<sim::StartQuantiles>& starts,
                                 const sim::ForecastOptions& options) {
  Json jobs = Json::array();
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const JobView& job = live.waiting[i];
    jobs.push_back({{"id", ToJson(job.id)},
                    {"label", job.label},
                    {"user", job.user},
                    {"expected_start", ToJson(job.expected_start)},
                    {"p50", ToJson(TimeOf(starts[i].p50))},
                    {"p90", ToJson(TimeOf(starts[i].p90))}});
  }
  return PrintJson({{"futures", options.futures},
                    {"seed", options.seed},
                    {"past_jobs", live.past},
                    {"left_out", live.left_out},
                    {"jobs", jobs}});
}

}  // namespace muster::cli
