#include "scheduler/simulator/forecast/start_forecast.h"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <queue>
#include <utility>

#include "scheduler/base/status.h"
#include "scheduler/simulator/flat/flat_queue.h"
#include "scheduler/simulator/flat/queue_choice.h"

namespace muster::sim {
namespace {

// The run time that a share of a limit stands for: whole seconds, at least one.
Tick RunTimeOf(double share, Tick limit) {
  return std::clamp<Tick>(static_cast<Tick>(share * static_cast<double>(limit)), 1, limit);
}

// One future of a state: what the queue makes of it when the run times are these.
class Future {
 public:
  Future(const ForecastState& state, const FlatPolicy& policy)
      : state_(state), starts_(state.waiting.size()) {
    queue_ = MakeFlatQueue(policy, state.processors,
                           state.running.empty() ? state.now : state.running.front().start);
  }

  // `run_times`: of the running jobs, then of the waiting ones. The starts of the latter.
  std::vector<Tick> Run(const std::vector<Tick>& run_times) {
    run_times_ = &run_times;
    for (std::size_t i = 0; i < state_.running.size(); ++i) {
      Arrive(state_.running[i], i);
      RunCycle(state_.running[i].start);
    }
    for (std::size_t i = 0; i < state_.waiting.size(); ++i) {
      Arrive(state_.waiting[i], state_.running.size() + i);
    }
    RunCycle(state_.now);
    while (queue_->waiting() > 0) {
      const Tick end = endings_.empty() ? kNever : endings_.top().first;
      const Tick now = std::min(end, queue_->NextWake());
      MUSTER_CHECK(now != kNever);
      while (!endings_.empty() && endings_.top().first == now) {
        queue_->End(endings_.top().second);
        endings_.pop();
      }
      RunCycle(now);
    }
    return std::move(starts_);
  }

 private:
  using Ending = std::pair<Tick, std::uint32_t>;

  void Arrive(const ForecastJob& job, std::size_t handle) {
    queue_->Arrive({.handle = static_cast<std::uint32_t>(handle),
                    .processors = job.processors,
                    .submit = job.submit,
                    .estimate = job.limit,
                    .limit = job.limit,
                    .user = job.user});
  }

  void RunCycle(Tick now) {
    for (const FlatStart& start : queue_->RunCycle(now)) {
      endings_.emplace(now + (*run_times_)[start.handle], start.handle);
      if (start.handle >= state_.running.size()) {
        starts_[start.handle - state_.running.size()] = now;
      }
    }
  }

  const ForecastState& state_;
  std::unique_ptr<FlatQueue> queue_;
  const std::vector<Tick>* run_times_ = nullptr;
  std::priority_queue<Ending, std::vector<Ending>, std::greater<>> endings_;
  std::vector<Tick> starts_;
};

std::vector<Tick> DrawnRunTimes(const ForecastState& state, const LimitUse& use,
                                RandomSequence* random) {
  std::vector<Tick> run_times;
  for (const ForecastJob& job : state.running) {
    run_times.push_back(use.Draw(job.user, state.now - job.start, job.limit, random));
  }
  std::map<std::pair<std::int64_t, Tick>, Tick> alike;
  for (const ForecastJob& job : state.waiting) {
    const auto [place, is_new] = alike.emplace(std::pair(job.user, job.limit), 0);
    if (is_new) {
      place->second = use.Draw(job.user, 0, job.limit, random);
    }
    run_times.push_back(place->second);
  }
  return run_times;
}

std::vector<Tick> Limits(const ForecastState& state) {
  std::vector<Tick> limits;
  for (const std::vector<ForecastJob>* jobs : {&state.running, &state.waiting}) {
    for (const ForecastJob& job : *jobs) {
      limits.push_back(job.limit);
    }
  }
  return limits;
}

}  // namespace

void LimitUse::Past::Add(const Job& job, std::size_t most) {
  if (jobs.size() < most) {
    jobs.push_back(job);
    return;
  }
  jobs[oldest] = job;
  oldest = (oldest + 1) % most;
}

void LimitUse::Add(std::int64_t user, Tick run_time, Tick limit) {
  const Job job{.share = static_cast<double>(run_time) / static_cast<double>(limit),
                .limit = limit};
  all_.Add(job, kRememberedOfAll);
  if (user >= 0) {
    users_[user].Add(job, kRemembered);
  }
}

LimitUse::Sample LimitUse::SampleOf(const Past& past, bool is_alike, Tick elapsed, Tick limit) {
  Sample sample;
  for (const Job& job : past.jobs) {
    if (is_alike && (job.limit > 2 * limit || 2 * job.limit < limit)) {
      continue;
    }
    ++sample.jobs;
    const Tick run_time = RunTimeOf(job.share, limit);
    if (run_time > elapsed) {
      sample.longer.push_back(run_time);
    }
  }
  return sample;
}

Tick LimitUse::Draw(std::int64_t user, Tick elapsed, Tick limit, RandomSequence* random) const {
  static const Past nothing;
  const auto found = users_.find(user);
  const Past& own = found == users_.end() ? nothing : found->second;
  for (const bool is_alike : {true, false}) {
    for (const Past* past : {&own, &all_}) {
      const Sample sample = SampleOf(*past, is_alike, elapsed, limit);
      if (sample.jobs >= kLeast) {
        return sample.longer.empty() ? limit : sample.longer[random->Below(sample.longer.size())];
      }
    }
  }
  return limit;
}

std::vector<StartQuantiles> ForecastStarts(const ForecastState& state, const FlatPolicy& policy,
                                           const LimitUse& use, const ForecastOptions& options) {
  RandomSequence random(options.seed);
  std::vector<std::vector<Tick>> drawn(state.waiting.size());  // job by job
  for (std::uint32_t future = 0; future < options.futures; ++future) {
    const std::vector<Tick> starts = Future(state, policy).Run(DrawnRunTimes(state, use, &random));
    for (std::size_t i = 0; i < starts.size(); ++i) {
      drawn[i].push_back(starts[i]);
    }
  }
  const std::vector<Tick> planned = Future(state, policy).Run(Limits(state));
  std::vector<StartQuantiles> forecasts;
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    std::sort(drawn[i].begin(), drawn[i].end());
    const auto quantile = [&](std::size_t percent) {
      return drawn[i][(drawn[i].size() * percent + 99) / 100 - 1];
    };
    forecasts.push_back({.p50 = quantile(50), .p90 = quantile(90), .if_limits = planned[i]});
  }
  return forecasts;
}

}  // namespace muster::sim
