// Every policy against the oracle, job by job, on thousands of small random traces; and each
// schedule through the audit.

#include "tests/unit/scheduler/simulator/flat_oracle.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <fstream>

#include "absl/strings/str_cat.h"
#include "scheduler/simulator/flat/flat_simulation.h"
#include "scheduler/simulator/flat/policy_names.h"
#include "scheduler/simulator/schedule/schedule_audit.h"
#include "scheduler/simulator/schedule/schedule_csv.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::sim {
namespace {

using oracle::OracleJob;
using oracle::OracleRules;
using oracle::OracleStarts;

class Rows final : public FlatObserver {
 public:
  absl::Status Begin(std::int64_t processors) override {
    (void)processors;
    starts.clear();
    table = ScheduleHeader();
    return absl::OkStatus();
  }
  absl::Status Ended(const ScheduleRow& row) override {
    starts[row.job_id] = row.starting_time;
    AppendRow(row, &table);
    return absl::OkStatus();
  }
  bool KeepGoing(const FlatProgress& progress) override {
    (void)progress;
    return true;
  }

  std::map<std::int64_t, std::int64_t> starts;
  std::string table;
};

void WriteText(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::trunc) << text;
}

std::string TraceText(const std::vector<OracleJob>& jobs) {
  std::string text;
  for (const OracleJob& job : jobs) {
    absl::StrAppend(&text, job.id, " ", job.submit, " -1 ", job.run, " -1 -1 -1 ", job.processors,
                    " ", job.requested, " -1 1 ", job.user, " 1 1 1 1 -1 -1\n");
  }
  return text;
}

// Jobs that meet: few moments, short and long, small and as large as the machine.
std::vector<OracleJob> AnyJobs(std::int64_t processors) {
  const auto count = *rc::gen::inRange<std::int64_t>(1, 28);
  const auto spread = *rc::gen::element<std::int64_t>(0, 5, 20, 200);
  const auto longest = *rc::gen::element<std::int64_t>(3, 12, 400);
  std::vector<OracleJob> jobs;
  std::int64_t submit = 0;
  for (std::int64_t id = 1; id <= count; ++id) {
    submit += *rc::gen::inRange<std::int64_t>(0, spread / 3 + 1);
    OracleJob job{.id = id, .submit = submit};
    job.requested = *rc::gen::inRange<std::int64_t>(1, longest + 1);
    job.run = *rc::gen::inRange<std::int64_t>(0, 3) == 0
                  ? job.requested
                  : *rc::gen::inRange<std::int64_t>(1, job.requested + 1);
    job.processors = *rc::gen::inRange<std::int64_t>(1, processors + 1);
    job.user = *rc::gen::inRange<std::int64_t>(1, 4);
    jobs.push_back(job);
  }
  return jobs;
}

void Compare(const OracleRules& base, const std::string& policy) {
  const TempDirectory directory;
  const std::string property = absl::StrCat("as the oracle: ", policy, " ", base.estimates);
  EXPECT_TRUE(rc::check(property, [&] {
    OracleRules rules = base;
    rules.processors = *rc::gen::element<std::int64_t>(1, 3, 8, 20);
    rules.submit_first = *rc::gen::arbitrary<bool>();
    const std::vector<OracleJob> jobs = AnyJobs(rules.processors);
    const std::string trace = directory / "trace.swf";
    WriteText(trace, TraceText(jobs));
    FlatRun run;
    run.trace = trace;
    run.processors = rules.processors;
    run.policy = ParseFlatPolicy(policy).value();
    run.policy.backfill = ParseBackfill(rules.backfill).value();
    run.estimates = ParseEstimates(rules.estimates).value();
    run.policy.estimates_fall_short = run.estimates == Estimates::kLastTwo;
    run.instant = rules.submit_first ? InstantOrder::kSubmitFirst : InstantOrder::kEndsFirst;
    run.with_processors = true;
    Rows rows;
    const absl::StatusOr<FlatResult> result = SimulateFlat(run, rows);
    RC_ASSERT(result.ok());
    RC_LOG() << "submit-first " << rules.submit_first << ", " << rules.processors << " processors\n"
             << TraceText(jobs);
    RC_ASSERT(rows.starts == OracleStarts(jobs, rules));
    WriteText(directory / "jobs.csv", rows.table);
    const absl::StatusOr<AuditReport> audit =
        AuditSchedule(directory / "jobs.csv", rules.processors);
    RC_ASSERT(audit.ok());
    RC_ASSERT(audit->first == "");
    RC_ASSERT(audit->jobs == jobs.size());
  }));
}

void CompareWithAllEstimates(const OracleRules& base, const std::string& policy) {
  for (const char* estimates : {"requested", "exact", "x2", "user-last-2"}) {
    OracleRules rules = base;
    rules.estimates = estimates;
    Compare(rules, policy);
  }
}

TEST(FlatPolicies, FcfsStartsJobsWhenTheOracleDoes) {
  CompareWithAllEstimates({.backfill = "none"}, "fcfs");
}

TEST(FlatPolicies, EasyStartsJobsWhenTheOracleDoes) {
  CompareWithAllEstimates({.backfill = "easy"}, "easy");
}

TEST(FlatPolicies, EasyShortestFirstStartsJobsWhenTheOracleDoes) {
  CompareWithAllEstimates({.backfill = "easy", .shortest_first = true}, "easy-sjbf");
}

TEST(FlatPolicies, ConservativeStartsJobsWhenTheOracleDoes) {
  CompareWithAllEstimates({.backfill = "conservative"}, "conservative");
}

TEST(FlatPolicies, EveryQueueOrderStartsJobsWhenTheOracleDoes) {
  for (const char* order : {"sjf", "wfp3", "unicep", "f1", "f2", "f3", "f4", "fairshare"}) {
    for (const char* backfill : {"none", "easy"}) {
      Compare({.order = order, .backfill = backfill}, order);
    }
    Compare({.order = order, .backfill = "easy", .estimates = "user-last-2"}, order);
  }
}

}  // namespace
}  // namespace muster::sim
