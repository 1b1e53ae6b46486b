// The formulas of checkpoint/advice/interval.h against a job that is simulated through real
// failures.

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "checkpoint/advice/interval.h"
#include "scheduler/simulator/cluster/cluster_simulation.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::sim {
namespace {

class OneJob final : public FlatObserver {
 public:
  absl::Status Begin(std::int64_t processors) override {
    (void)processors;
    return absl::OkStatus();
  }
  absl::Status Ended(const ScheduleRow& row) override {
    finish = row.finish_time();
    return absl::OkStatus();
  }
  bool KeepGoing(const FlatProgress& progress) override {
    (void)progress;
    return true;
  }

  std::int64_t finish = 0;
};

class Daly : public ::testing::Test {
 protected:
  // Time over work of one job of `work` seconds on one node, through the live scheduler.
  double Ratio(const checkpoint::FailureModel& model, std::int64_t interval, std::int64_t work,
               std::uint64_t seed) {
    const std::string trace = directory_ / "log.swf";
    std::ofstream(trace, std::ios::trunc)
        << "1 0 -1 " << work << " -1 -1 -1 1 " << work << " -1 1 1 1 1 1 -1 -1 -1\n";
    ClusterRun run;
    NodeClass alike;
    alike.count = 1;
    alike.machine = PlainMachine(1, 0, "none", Bytes());
    alike.failures.mtbf_s = model.mtbf_s;
    run.nodes.push_back(std::move(alike));
    run.trace = trace;
    run.seed = seed;
    run.checkpoints = {.interval = interval,
                       .cost = static_cast<std::int64_t>(model.cost_s),
                       .restart = static_cast<std::int64_t>(model.restart_s)};
    OneJob job;
    const auto result = SimulateCluster(run, job);
    EXPECT_TRUE(result.ok()) << result.status();
    return static_cast<double>(job.finish) / static_cast<double>(work);
  }

  TempDirectory directory_;
};

// Minutes of the paper's kind of machine, M = 360 and d = 5 and R = 10, in seconds. Work of 20,000
// mean times between failures: the deviation of the mean is about 0.1 %, the gate 0.5 %.
TEST_F(Daly, AJobsTimeIsWhatTheExactExpressionExpects) {
  const checkpoint::FailureModel model{.cost_s = 300, .mtbf_s = 21'600, .restart_s = 600};
  for (const std::int64_t minutes : {30, 57, 60, 120}) {
    const std::int64_t interval = minutes * 60;
    const double expected = checkpoint::ExpectedRatio(model, static_cast<double>(interval)).value;
    EXPECT_NEAR(Ratio(model, interval, 20'000 * 21'600LL, 1) / expected, 1, 0.005) << minutes;
  }
}

// The optimum's waste is within 1 % of the best of a grid round it, under the same failures.
TEST_F(Daly, NoIntervalOfAGridWastesMuchLessThanTheOptimum) {
  const checkpoint::FailureModel model{.cost_s = 300, .mtbf_s = 21'600, .restart_s = 600};
  const double optimum = checkpoint::Optimum(model).value;
  const auto waste = [&](double interval) {
    return Ratio(model, static_cast<std::int64_t>(interval), 10'000 * 21'600LL, 2) - 1;
  };
  const double ours = waste(optimum);
  for (const double factor : {0.5, 0.7, 0.85, 1.2, 1.4, 2.0}) {
    EXPECT_LT(ours, waste(optimum * factor) * 1.01) << factor;
  }
}

}  // namespace
}  // namespace muster::sim
