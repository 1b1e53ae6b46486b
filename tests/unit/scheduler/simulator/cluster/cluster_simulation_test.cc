#include "scheduler/simulator/cluster/cluster_simulation.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "scheduler/simulator/schedule/schedule_audit.h"
#include "scheduler/simulator/schedule/schedule_csv.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"
#include "tests/unit/scheduler/simulator/rows.h"

namespace muster::sim {
namespace {

using testing::Rows;

struct TraceLine {
  std::int64_t id = 0;
  std::int64_t submit = 0;
  std::int64_t run = 0;
  std::int64_t processors = 0;
  std::int64_t requested = 0;
  std::int64_t user = 1;
  std::int64_t partition = -1;
};

class ClusterSimulationTest : public ::testing::Test {
 protected:
  std::string Write(const std::vector<TraceLine>& jobs) {
    std::string text;
    for (const TraceLine& job : jobs) {
      absl::StrAppend(&text, job.id, " ", job.submit, " -1 ", job.run, " -1 -1 -1 ", job.processors,
                      " ", job.requested, " -1 1 ", job.user, " 1 1 1 ", job.partition, " -1 -1\n");
    }
    return WriteText("log.swf", text);
  }
  std::string WriteText(const std::string& name, const std::string& text) {
    std::ofstream(directory_ / name, std::ios::trunc) << text;
    return directory_ / name;
  }

  static ClusterRun Alike(std::uint32_t nodes, std::uint32_t cpus, std::uint32_t gpus = 0) {
    ClusterRun run;
    NodeClass alike;
    alike.count = nodes;
    alike.machine = PlainMachine(cpus, gpus, "h100", Bytes());
    run.nodes.push_back(std::move(alike));
    return run;
  }

  // What the rows alone say.
  void ExpectLegal(const Rows& rows, std::int64_t processors) {
    const auto audit = AuditSchedule(WriteText("jobs.csv", rows.table), processors);
    ASSERT_TRUE(audit.ok()) << audit.status();
    EXPECT_EQ(audit->violations, 0U) << audit->first;
  }

  TempDirectory directory_;
};

std::vector<TraceLine> AnyJobs(std::int64_t processors) {
  const auto count = *rc::gen::inRange<std::int64_t>(1, 28);
  const auto spread = *rc::gen::element<std::int64_t>(0, 5, 20, 200);
  const auto longest = *rc::gen::element<std::int64_t>(3, 12, 400);
  std::vector<TraceLine> jobs;
  std::int64_t submit = 0;
  for (std::int64_t id = 1; id <= count; ++id) {
    submit += *rc::gen::inRange<std::int64_t>(0, spread / 3 + 1);
    TraceLine job{.id = id, .submit = submit};
    job.requested = *rc::gen::inRange<std::int64_t>(1, longest + 1);
    job.run = *rc::gen::inRange<std::int64_t>(1, job.requested + 1);
    job.processors = *rc::gen::inRange<std::int64_t>(1, processors + 1);
    job.user = *rc::gen::inRange<std::int64_t>(1, 4);
    jobs.push_back(job);
  }
  return jobs;
}

// On nodes of one thread each there is no placement, and first come, first served is what it is.
TEST_F(ClusterSimulationTest, NodesOfOneThreadUnderFcfsAreIdenticalProcessors) {
  const bool holds = rc::check([this] {
    const std::int64_t processors = *rc::gen::inRange<std::int64_t>(1, 9);
    const std::string trace = Write(AnyJobs(processors));
    FlatRun flat;
    flat.trace = trace;
    flat.processors = processors;
    flat.policy.backfill = Backfill::kNone;
    Rows there;
    RC_ASSERT(SimulateFlat(flat, there).ok());
    ClusterRun cluster = Alike(static_cast<std::uint32_t>(processors), 1);
    cluster.trace = trace;
    cluster.config.backfill = Backfill::kNone;
    Rows here;
    RC_ASSERT(SimulateCluster(cluster, here).ok());
    RC_ASSERT(here.rows.size() == there.rows.size());
    for (const auto& [id, row] : here.rows) {
      RC_ASSERT(row.starting_time == there.rows.at(id).starting_time);
      RC_ASSERT(row.execution_time == there.rows.at(id).execution_time);
    }
  });
  EXPECT_TRUE(holds);
}

TEST_F(ClusterSimulationTest, EveryScheduleIsLegalAndComesOutTheSameAgain) {
  const bool holds = rc::check([this] {
    const auto nodes = *rc::gen::inRange<std::uint32_t>(1, 5);
    const auto cpus = *rc::gen::inRange<std::uint32_t>(1, 5);
    ClusterRun run = Alike(nodes, cpus);
    const std::int64_t processors = std::int64_t{nodes} * cpus;
    const std::vector<TraceLine> jobs = AnyJobs(processors);
    run.trace = Write(jobs);
    run.config.backfill = *rc::gen::element(Backfill::kNone, Backfill::kEasy,
                                            Backfill::kConservative, Backfill::kHybrid);
    Rows rows;
    const auto result = SimulateCluster(run, rows);
    RC_ASSERT(result.ok());
    RC_ASSERT(result->schedule.ended == jobs.size());
    ExpectLegal(rows, processors);
    RC_ASSERT(!HasFailure());
    Rows again;
    const auto second = SimulateCluster(run, again);
    RC_ASSERT(second.ok());
    RC_ASSERT(rows.table == again.table);
    RC_ASSERT(result->state_hash == second->state_hash);
  });
  EXPECT_TRUE(holds);
}

TEST_F(ClusterSimulationTest, TheTableSaysWhatThePromptOrderPromisedAndEachPromiseHolds) {
  std::uint64_t promises = 0;
  const bool holds = rc::check([&] {
    ClusterRun run = Alike(4, 2);
    run.trace = Write(AnyJobs(8));
    run.config.priority.order = QueueRule::kPrompt;
    Rows rows;
    RC_ASSERT(SimulateCluster(run, rows).ok());
    const auto audit = AuditSchedule(WriteText("jobs.csv", rows.table), 8);
    RC_ASSERT(audit.ok() && audit->violations == 0U);
    promises += audit->promises;
  });
  EXPECT_TRUE(holds);
  EXPECT_GT(promises, 0U) << "somebody waited";
}

TEST_F(ClusterSimulationTest, AJobIsCutOffAtItsLimitAndAnotherOvertakesTheOneThatIsTooWide) {
  ClusterRun run = Alike(2, 2);
  run.config.backfill = Backfill::kEasy;
  run.trace = Write({{.id = 1, .submit = 0, .run = 100, .processors = 3, .requested = 10},
                     {.id = 2, .submit = 1, .run = 5, .processors = 4, .requested = 5},
                     {.id = 3, .submit = 2, .run = 4, .processors = 1, .requested = 4}});
  Rows rows;
  const auto result = SimulateCluster(run, rows);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_FALSE(rows.rows.at(1).success);
  EXPECT_EQ(rows.rows.at(1).execution_time, 10);
  EXPECT_EQ(rows.rows.at(1).nodes, 2);
  EXPECT_EQ(rows.rows.at(2).starting_time, 10);
  EXPECT_EQ(rows.rows.at(2).reason, "head");
  EXPECT_EQ(rows.rows.at(3).starting_time, 2);
  EXPECT_EQ(rows.rows.at(3).reason, "backfilled");
}

TEST_F(ClusterSimulationTest, GpusAreHeldAndAJobThatFitsNowhereIsRefusedWithItsReason) {
  ClusterRun run = Alike(2, 8, 4);
  run.trace = WriteText("trace.csv",
                        "job_id,submit,run_time,requested,gpu_milli,user\n"
                        "1,0,100,6,3000,a\n"
                        "2,0,100,6,3000,a\n"
                        "3,0,100,4,1500,b\n"
                        "4,1,100,9,9000,b\n");
  Rows rows;
  const auto result = SimulateCluster(run, rows);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->gpus, 8U);
  EXPECT_EQ(rows.rows.size(), 3U);
  EXPECT_EQ(result->refused, 1U);
  EXPECT_TRUE(absl::StrContains(result->first_refusal, "job 4: ")) << result->first_refusal;
  EXPECT_EQ(result->gpu_seconds, 800U);
  EXPECT_EQ(rows.rows.at(1).gpus, 3);
}

// More shares come than the GPUs hold, for hours; half a GPU is free all the time.
TEST_F(ClusterSimulationTest, SharesOfGpusDoNotStarveAJobThatWantsThemAll) {
  ClusterRun run = Alike(2, 8, 2);
  run.config.priority.order = QueueRule::kPrompt;
  run.config.prompt.slack = std::chrono::minutes(10);
  run.config.prompt.patience = std::chrono::minutes(10);
  std::string text =
      "job_id,submit,run_time,requested,gpu_milli,requested_time,user\n"
      "1,50,100,4,4000,200,a\n";
  for (int job = 2; job < 1000; ++job) {
    absl::StrAppend(&text, job, ",", 10 * (job - 2), ",200,1,500,400,b\n");
  }
  run.trace = WriteText("trace.csv", text);
  Rows rows;
  const auto result = SimulateCluster(run, rows);
  ASSERT_TRUE(result.ok()) << result.status();
  const ScheduleRow& wide = rows.rows.at(1);
  EXPECT_EQ(wide.gpus, 4);
  EXPECT_GT(wide.promised_start, 0);
  EXPECT_LE(wide.starting_time, wide.promised_start);
  EXPECT_LE(wide.waiting_time(), 1500) << "of the first of the queue, with ten minutes of slack";
  ExpectLegal(rows, 16);
}

TEST_F(ClusterSimulationTest, APreemptedJobBeginsAgainAndWhatItDidIsLost) {
  ClusterRun run = Alike(1, 2);
  for (const std::uint32_t tier : {1U, 2U}) {
    Partition partition;
    partition.name = absl::StrCat("p", tier);
    partition.is_default = tier == 1;
    partition.priority_tier = tier;
    partition.preempt_mode = PreemptMode::kRequeue;
    run.policy.emplace_back(partition);
  }
  run.trace =
      Write({{.id = 1, .submit = 0, .run = 100, .processors = 2, .requested = 100, .partition = 1},
             {.id = 2, .submit = 30, .run = 10, .processors = 1, .requested = 10, .partition = 2}});
  Rows rows;
  const auto result = SimulateCluster(run, rows);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(rows.rows.at(2).starting_time, 30);
  EXPECT_EQ(rows.rows.at(1).starting_time, 40);
  EXPECT_EQ(rows.rows.at(1).execution_time, 100);
  EXPECT_EQ(result->preemptions, 1U);
  EXPECT_EQ(result->lost_seconds, 30U);
}

TEST_F(ClusterSimulationTest, AnEmptyTraceIsRefused) {
  ClusterRun run = Alike(1, 2);
  run.trace = Write({});
  Rows rows;
  EXPECT_FALSE(SimulateCluster(run, rows).ok());
}

TEST_F(ClusterSimulationTest, CountableThingsOfAnAccountingAreHeldAndWaitedFor) {
  ClusterRun run = Alike(1, 8);
  run.nodes[0].machine.gres = {{"scratch", 3}};
  run.trace =
      WriteText("sacct.txt",
                "JobID|Submit|Start|End|ElapsedRaw|TimelimitRaw|NNodes|ReqCPUS|ReqTRES|State\n"
                "1|2026-01-01T00:00:00|2026-01-01T00:00:00|2026-01-01T00:10:00|600|10|1|1|"
                "cpu=1,gres/scratch:ssd=2|COMPLETED\n"
                "2|2026-01-01T00:01:00|2026-01-01T00:01:00|2026-01-01T00:11:00|600|10|1|1|"
                "cpu=1,gres/scratch=2,gres/tape=9|COMPLETED\n"
                "3|2026-01-01T00:02:00|2026-01-01T00:02:00|2026-01-01T00:12:00|600|10|1|1|"
                "cpu=1,gres/scratch=1|COMPLETED\n");
  Rows rows;
  const auto result = SimulateCluster(run, rows);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(rows.rows.at(1).starting_time, 0);
  EXPECT_EQ(rows.rows.at(2).starting_time, 600) << "two of three are taken; no node has tapes";
  EXPECT_EQ(rows.rows.at(3).starting_time, 120);
}

}  // namespace
}  // namespace muster::sim
