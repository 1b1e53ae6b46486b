#include "cli/tune/tune_trial.h"

#include <algorithm>
#include <map>
#include <utility>

#include "scheduler/base/status.h"
#include "scheduler/simulator/schedule/schedule_metrics.h"

namespace muster::cli {
namespace {

// The jobs submitted in [from, to).
class Part {
 public:
  Part(std::int64_t from, std::int64_t to) : from_(from), to_(to) {}

  void Add(const sim::ScheduleRow& row) {
    const std::int64_t begin = std::max(row.starting_time, from_);
    const std::int64_t end = std::min(row.finish_time(), to_);
    busy_ += begin < end
                 ? static_cast<double>(end - begin) * static_cast<double>(row.requested_resources)
                 : 0;
    if (row.submission_time < from_ || row.submission_time >= to_) {
      return;
    }
    const double slowdown = sim::BoundedSlowdown(row);
    waits_.push_back(row.waiting_time());
    wait_ += static_cast<double>(row.waiting_time());
    slowdown_ += slowdown;
    User& user = users_[row.user];
    user.slowdown += slowdown;
    ++user.jobs;
  }

  TuneMeasures Compute(std::int64_t processors) {
    TuneMeasures measures;
    measures.jobs = waits_.size();
    if (waits_.empty()) {
      return measures;
    }
    const auto count = static_cast<double>(waits_.size());
    measures.slowdown = slowdown_ / count;
    measures.wait = wait_ / count;
    std::sort(waits_.begin(), waits_.end());
    measures.longest = waits_.back();
    measures.p99 = waits_[(waits_.size() * 99 + 99) / 100 - 1];
    for (const auto& [number, user] : users_) {
      measures.by_user += user.slowdown / static_cast<double>(user.jobs);
    }
    measures.by_user /= static_cast<double>(users_.size());
    const double room = static_cast<double>(processors) * static_cast<double>(to_ - from_);
    measures.utilisation = room > 0 ? busy_ / room : 0;
    return measures;
  }

 private:
  struct User {
    double slowdown = 0;
    std::uint64_t jobs = 0;
  };

  std::int64_t from_;
  std::int64_t to_;
  double busy_ = 0;
  double wait_ = 0;
  double slowdown_ = 0;
  std::vector<std::int64_t> waits_;
  std::map<std::int64_t, User> users_;
};

class Watcher final : public sim::FlatObserver {
 public:
  Watcher(const TuneWorkload& workload, const std::atomic<bool>& stop,
          std::vector<sim::JobOutcome>* outcomes)
      : workload_(workload), stop_(stop), outcomes_(outcomes), parts_(Parts(workload)) {}

  absl::Status Begin(std::int64_t) override {
    parts_ = Parts(workload_);
    if (outcomes_ != nullptr) {
      outcomes_->clear();
    }
    return absl::OkStatus();
  }
  absl::Status Ended(const sim::ScheduleRow& row) override {
    for (Part& part : parts_) {
      part.Add(row);
    }
    if (outcomes_ != nullptr && row.submission_time >= workload_.split) {
      outcomes_->push_back(sim::OutcomeOf(row));
    }
    return absl::OkStatus();
  }
  bool KeepGoing(const sim::FlatProgress&) override { return !stop_; }

  TuneTrial Result() {
    return {parts_[0].Compute(workload_.processors), parts_[1].Compute(workload_.processors),
            parts_[2].Compute(workload_.processors)};
  }

 private:
  static std::vector<Part> Parts(const TuneWorkload& workload) {
    return {Part(workload.first, workload.split), Part(workload.split, workload.last + 1),
            Part(workload.first, workload.last + 1)};
  }

  const TuneWorkload& workload_;
  const std::atomic<bool>& stop_;
  std::vector<sim::JobOutcome>* outcomes_;
  std::vector<Part> parts_;
};

}  // namespace

absl::StatusOr<TuneTrial> RunTrial(const TuneWorkload& workload, const TuneSettings& settings,
                                   const std::atomic<bool>& stop,
                                   std::vector<sim::JobOutcome>* outcomes) {
  sim::FlatRun run;
  run.trace = workload.file->path();
  run.format = sim::TraceFormat::kSwf;
  run.processors = workload.processors;
  run.policy = settings.policy;
  run.estimates = settings.estimates;
  Watcher watcher(workload, stop, outcomes);
  ASSIGN_OR_RETURN(const sim::FlatResult result, sim::SimulateFlat(run, watcher));
  return result.complete ? absl::StatusOr<TuneTrial>(watcher.Result())
                         : absl::CancelledError("stopped by a signal");
}

}  // namespace muster::cli
