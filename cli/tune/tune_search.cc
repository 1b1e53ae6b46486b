#include "cli/tune/tune_search.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"

namespace muster::cli {
namespace {

constexpr auto kGoals = std::to_array<const char*>({"slowdown", "wait", "utilisation", "fairness"});

// What it gains must be worth a change: less than a thousandth is none.
constexpr double kWorth = 0.999;

class Searcher {
 public:
  Searcher(const TuneWorkload& workload, const TuneOptions& options, std::atomic<bool>& stop,
           TuneResults& results, const std::function<void(double, std::size_t)>& tell)
      : workload_(workload), options_(options), stop_(stop), results_(results), tell_(tell) {}

  absl::StatusOr<TuneFound> Run(const TuneSettings& current) {
    TuneFound found;
    ASSIGN_OR_RETURN(found.policies, Try(LivePolicies()));
    for (const TuneTried& tried : found.policies) {
      if (tried.settings.name == "easy") {
        longest_ = tried.trial.train.longest;
      }
    }
    for (TuneTried& tried : found.policies) {
      tried.allowed = IsAllowed(tried.trial);
    }
    ASSIGN_OR_RETURN(std::vector<TuneTried> first, Try({current}));
    found.current = first.front();
    TuneTried prompt =
        current.policy.order == sim::FlatOrder::kPrompt ? found.current : found.policies.front();
    RETURN_IF_ERROR(Climb(&prompt));
    found.best = found.current;
    for (const TuneTried& tried : found.policies) {
      Take(tried, &found.best);
    }
    Take(prompt, &found.best);
    found.trials = done_;
    return found;
  }

 private:
  // From choice to better choice.
  absl::Status Climb(TuneTried* best) {
    for (std::uint32_t round = 0; round < options_.rounds; ++round) {
      bool moved = false;
      for (std::size_t parameter = 0; parameter < kTuneParameters; ++parameter) {
        ASSIGN_OR_RETURN(const std::vector<TuneTried> tried,
                         Try(Neighbours(best->settings, parameter)));
        for (const TuneTried& each : tried) {
          moved = Take(each, best) || moved;
        }
      }
      if (!moved) {
        break;
      }
    }
    return absl::OkStatus();
  }

  // True when it is better, and taken.
  bool Take(const TuneTried& tried, TuneTried* best) const {
    const double cost = CostOf(options_.goal, tried.trial.train);
    const double least = CostOf(options_.goal, best->trial.train);
    const bool better = tried.allowed && (!best->allowed || cost < least * kWorth ||
                                          (least < 0 && cost * kWorth < least));
    if (better) {
      *best = tried;
    }
    return better;
  }

  [[nodiscard]] bool IsAllowed(const TuneTrial& trial) const {
    return static_cast<double>(trial.train.longest) <=
           options_.longest_factor * static_cast<double>(longest_);
  }

  absl::StatusOr<std::vector<TuneTried>> Try(const std::vector<TuneSettings>& settings) {
    const double all =
        static_cast<double>(LivePolicies().size() + 1 + options_.rounds * NeighboursInAll());
    const auto tell = [&](std::size_t done) {
      tell_(static_cast<double>(done_ + done) / all, done_ + done);
    };
    ASSIGN_OR_RETURN(const std::vector<TuneTrial> trials,
                     RunTrials(workload_, settings, options_.threads, stop_, results_, tell));
    done_ += settings.size();
    std::vector<TuneTried> tried;
    for (std::size_t i = 0; i < settings.size(); ++i) {
      tried.push_back({settings[i], trials[i], longest_ == 0 || IsAllowed(trials[i])});
    }
    return tried;
  }

  const TuneWorkload& workload_;
  const TuneOptions& options_;
  std::atomic<bool>& stop_;
  TuneResults& results_;
  const std::function<void(double, std::size_t)>& tell_;
  std::int64_t longest_ = 0;  // under EASY
  std::size_t done_ = 0;
};

}  // namespace

absl::StatusOr<TuneGoal> ParseTuneGoal(const std::string& name) {
  for (std::size_t i = 0; i < kGoals.size(); ++i) {
    if (name == kGoals[i]) {
      return static_cast<TuneGoal>(i);
    }
  }
  return absl::InvalidArgumentError(
      absl::StrCat(Quote(name), " is not a goal: one of slowdown, wait, utilisation, fairness"));
}

const char* Name(TuneGoal goal) {
  return kGoals[static_cast<std::size_t>(goal)];
}

double CostOf(TuneGoal goal, const TuneMeasures& measures) {
  switch (goal) {
    case TuneGoal::kSlowdown:
      return measures.slowdown;
    case TuneGoal::kWait:
      return measures.wait;
    case TuneGoal::kUtilisation:
      return -measures.utilisation;
    case TuneGoal::kFairness:
      return measures.by_user;
  }
  return 0;
}

absl::StatusOr<std::vector<TuneTrial>> RunTrials(const TuneWorkload& workload,
                                                 const std::vector<TuneSettings>& settings,
                                                 std::uint32_t threads, std::atomic<bool>& stop,
                                                 TuneResults& results,
                                                 const std::function<void(std::size_t)>& tell) {
  std::vector<TuneTrial> trials(settings.size());
  std::atomic<std::size_t> next = 0;
  std::atomic<std::size_t> done = 0;
  std::mutex mutex;
  absl::Status status;  // guarded by mutex
  const auto work = [&] {
    for (std::size_t i = next++; i < settings.size(); i = next++) {
      const std::string key = KeyOf(settings[i]);
      if (const std::optional<TuneTrial> known = results.Find(key)) {
        trials[i] = *known;
        ++done;
        continue;
      }
      const absl::StatusOr<TuneTrial> trial = RunTrial(workload, settings[i], stop, nullptr);
      const absl::Status kept = trial.ok() ? results.Add(key, *trial) : trial.status();
      if (!kept.ok()) {
        const std::lock_guard<std::mutex> lock(mutex);
        status.Update(kept);
        next = settings.size();
        return;
      }
      trials[i] = *trial;
      ++done;
    }
  };
  std::vector<std::thread> workers;
  std::atomic<std::size_t> working = std::min<std::size_t>(threads, settings.size());
  for (std::size_t i = working; i > 0; --i) {
    workers.emplace_back([&] {
      work();
      --working;
    });
  }
  while (working > 0) {
    tell(done);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  for (std::thread& worker : workers) {
    worker.join();
  }
  RETURN_IF_ERROR(status);
  return trials;
}

absl::StatusOr<TuneFound> Search(const TuneWorkload& workload, const TuneSettings& current,
                                 const TuneOptions& options, std::atomic<bool>& stop,
                                 TuneResults& results,
                                 const std::function<void(double, std::size_t)>& tell) {
  return Searcher(workload, options, stop, results, tell).Run(current);
}

}  // namespace muster::cli
