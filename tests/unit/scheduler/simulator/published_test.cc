// The published EASY tables: the log KTH-SP2-1996-2 and the schedule that the authors' simulator
// wrote for it (column "EASY, user estimate"); tests/fixtures/traces/PROVENANCE.md.
//
// Gaussier, Glesser, Reis, Trystram, "Improving backfilling by using machine learning to predict
// running times", SC'15: average bounded slowdown.

#include <gtest/gtest.h>

#include <string>

#include "scheduler/simulator/flat/flat_simulation.h"
#include "scheduler/simulator/flat/policy_names.h"
#include "scheduler/simulator/schedule/schedule_check.h"
#include "scheduler/simulator/schedule/schedule_metrics.h"

namespace muster::sim {
namespace {

class Measured final : public FlatObserver {
 public:
  explicit Measured(ScheduleCheck* check = nullptr) : check_(check) {}
  absl::Status Begin(std::int64_t processors) override {
    (void)processors;
    metrics = ScheduleMetrics();
    return absl::OkStatus();
  }
  absl::Status Ended(const ScheduleRow& row) override {
    metrics.Add(row);
    if (check_ != nullptr) {
      check_->Compare(row);
    }
    return absl::OkStatus();
  }
  bool KeepGoing(const FlatProgress& progress) override {
    (void)progress;
    return true;
  }

  ScheduleMetrics metrics;

 private:
  ScheduleCheck* check_;
};

const std::string kTraces = MUSTER_FIXTURES "/traces/";

FlatRun KthRun(const char* policy, const char* estimates, const char* instant) {
  FlatRun run;
  run.trace = kTraces + "kth_sp2.swf.xz";
  run.policy = ParseFlatPolicy(policy).value();
  run.estimates = ParseEstimates(estimates).value();
  run.instant = ParseInstantOrder(instant).value();
  run.filter = RecordFilter::kSc15;
  return run;
}

double BoundedSlowdown(const FlatRun& run) {
  Measured measured;
  const absl::StatusOr<FlatResult> result = SimulateFlat(run, measured);
  EXPECT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(measured.metrics.jobs(), 28'481U);
  for (const Metric& metric : measured.metrics.Compute(100)) {
    if (metric.name == std::string("mean_bounded_slowdown")) {
      return metric.value;
    }
  }
  return 0;
}

TEST(Published, TheSixRowsOfKthAreTheirs) {
  const struct {
    const char* policy;
    const char* estimates;
    double published;
  } rows[] = {{"easy", "requested", 92.5765397336295}, {"easy-sjbf", "requested", 69.4054005803035},
              {"easy", "exact", 71.7223851124418},     {"easy-sjbf", "exact", 49.8477189313406},
              {"easy", "x2", 79.9302510862489},        {"easy-sjbf", "x2", 58.9125322399729}};
  for (const auto& row : rows) {
    EXPECT_NEAR(BoundedSlowdown(KthRun(row.policy, row.estimates, "submit-first")), row.published,
                1e-9)
        << row.policy << " " << row.estimates;
  }
  EXPECT_NEAR(BoundedSlowdown(KthRun("easy", "exact", "ends-first")), 71.7223851124418, 1e-9);
}

TEST(Published, EveryStartOfKthIsTheirs) {
  absl::StatusOr<ScheduleCheck> check = ScheduleCheck::Open(kTraces + "kth_sp2_easy.swf.xz");
  ASSERT_TRUE(check.ok()) << check.status();
  Measured measured(&*check);
  ASSERT_TRUE(SimulateFlat(KthRun("easy", "requested", "submit-first"), measured).ok());
  const CheckReport report = check->Finish();
  EXPECT_EQ(report.compared, 28'481U);
  EXPECT_TRUE(report.same());
}

}  // namespace
}  // namespace muster::sim
