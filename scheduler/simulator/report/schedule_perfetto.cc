#include "scheduler/simulator/report/schedule_perfetto.h"

#include <algorithm>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <queue>
#include <vector>

#include "absl/strings/str_cat.h"

namespace muster::sim {
namespace {

using nlohmann::ordered_json;
using Job = DrawnJobs::Job;

constexpr std::int64_t kMicroseconds = 1'000'000;
constexpr std::int64_t kCounters = 1;  // the process that holds them; users come behind
constexpr std::int64_t kFirstUser = 2;

// Lanes of one user: the one that has been free longest takes the next job.
class Lanes {
 public:
  std::int64_t Take(std::int64_t start, std::int64_t end) {
    std::int64_t lane = count_;
    if (!busy_.empty() && busy_.top().first <= start) {
      lane = busy_.top().second;
      busy_.pop();
    } else {
      ++count_;
    }
    busy_.emplace(end, lane);
    return lane;
  }

 private:
  using Busy = std::pair<std::int64_t, std::int64_t>;  // until when, which
  std::priority_queue<Busy, std::vector<Busy>, std::greater<>> busy_;
  std::int64_t count_ = 0;
};

void AppendEvent(const ordered_json& event, std::string* text) {
  absl::StrAppend(text, text->back() == '[' ? "\n" : ",\n",
                  event.dump(-1, ' ', false, ordered_json::error_handler_t::replace));
}

void AppendName(std::int64_t process, const std::string& name, std::string* text) {
  AppendEvent({{"ph", "M"}, {"pid", process}, {"name", "process_name"}, {"args", {{"name", name}}}},
              text);
}

// The sum of what changes, at each moment at which it does.
void AppendCounter(const char* name, const std::map<std::int64_t, std::int64_t>& changes,
                   std::string* text) {
  std::int64_t value = 0;
  for (const auto& [time, change] : changes) {
    value += change;
    AppendEvent({{"ph", "C"},
                 {"pid", kCounters},
                 {"ts", time * kMicroseconds},
                 {"name", name},
                 {"args", {{"value", value}}}},
                text);
  }
}

void AppendJob(const Job& job, std::int64_t process, std::int64_t lane, const DrawnJobs& jobs,
               std::string* text) {
  AppendEvent({{"ph", "X"},
               {"pid", process},
               {"tid", lane + 1},
               {"ts", (job.submit + job.wait) * kMicroseconds},
               {"dur", job.run_time * kMicroseconds},
               {"name", absl::StrCat("job ", job.id, job.earlier ? " (ended early)" : "")},
               {"cat", jobs.reasons().NameOf(job.reason)},
               {"args",
                {{"processors", job.processors},
                 {"wait_s", job.submit + job.wait - job.since},
                 {"allocated", job.ranges.substr(0, 200)}}}},
              text);
}

}  // namespace

std::string SchedulePerfetto(const DrawnJobs& jobs, const TraceNames& names,
                             const std::string& partial) {
  std::vector<const Job*> by_start;
  for (const Job& job : jobs.jobs()) {
    by_start.push_back(&job);
  }
  std::stable_sort(by_start.begin(), by_start.end(), [](const Job* a, const Job* b) {
    return a->submit + a->wait < b->submit + b->wait;
  });
  std::string text = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[";
  AppendName(kCounters, "cluster", &text);
  std::map<std::int64_t, Lanes> lanes;
  std::map<std::int64_t, std::int64_t> used;
  std::map<std::int64_t, std::int64_t> waiting;
  for (const Job* job : by_start) {
    const std::int64_t start = job->submit + job->wait;
    const auto [at, is_new] = lanes.try_emplace(job->user);
    const std::int64_t process = kFirstUser + 1 + job->user;
    if (is_new) {
      AppendName(process, absl::StrCat("user ", names.users.NameOf(job->user)), &text);
    }
    AppendJob(*job, process, at->second.Take(start, start + job->run_time), jobs, &text);
    used[start] += job->processors;
    used[start + job->run_time] -= job->processors;
    if (start > job->since) {
      ++waiting[job->since];
      --waiting[start];
    }
  }
  AppendCounter("processors in use", used, &text);
  AppendCounter("jobs waiting", waiting, &text);
  const ordered_json other = {{"partial", partial}, {"left_out", jobs.left_out()}};
  absl::StrAppend(&text, "\n],\"otherData\":",
                  other.dump(-1, ' ', false, ordered_json::error_handler_t::replace), "}\n");
  return text;
}

}  // namespace muster::sim
