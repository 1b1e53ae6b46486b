#include "cli/sheet/job_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "cli/page/text.h"
#include "scheduler/model/job/job_state.h"
#include "tests/unit/cli/render/samples.h"

namespace muster::cli {
namespace {

using samples::Golden;
using samples::kNow;
using ::testing::HasSubstr;

TEST(JobTable, TheQueueFoldsTheWaitingElementsOfAnArray) {
  EXPECT_EQ(PrintQueue(samples::QueueJobs(), {}, kNow, {}), Golden("queue.txt"));
}

TEST(JobTable, AViewThatStandsForManyElementsFoldsWithTheOthersOfItsArray) {
  JobView some;
  some.id = JobId(7);
  some.array_job_id = JobId(7);
  some.array_task_id = "0";
  some.label = "7_0";
  some.state = Name(JobState::kPending);
  some.indices = {{0, 4, 1}, {10, 14, 2}};
  JobView one = some;
  one.id = JobId(20);
  one.array_task_id = "5";
  one.label = "7_5";
  one.indices.clear();
  const std::string text = PrintQueue({some, one}, {.header = false, .fold = true}, kNow, {});
  EXPECT_NE(text.find("7_[0-5,10,12,14]"), std::string::npos) << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
}

TEST(JobTable, AViewThatStandsForManySingleJobsIsOneLine) {
  JobView many;
  many.id = JobId(101);
  many.array_job_id = many.id;
  many.label = "101";
  many.name = "train";
  many.user = "ada";
  many.cpus = 4;
  many.state = Name(JobState::kPending);
  many.alike = 10000;
  JobView next = many;
  next.id = JobId(10101);
  next.label = "10101";
  next.alike = 0;
  EXPECT_EQ(PrintQueue({many, next}, {.header = false}, kNow, {}),
            "[101-10100]  train  ada  PD  0:00  -  4  (None)\n"
            "      10101  train  ada  PD  0:00  -  4  (None)\n");
}

TEST(JobTable, TheQueueUnfoldedHasALineForEachElement) {
  const std::string page =
      PrintQueue(samples::QueueJobs(), {.header = false, .fold = false}, kNow, {});
  EXPECT_EQ(page, Golden("queue_array.txt"));
  EXPECT_EQ(std::count(page.begin(), page.end(), '\n'),
            static_cast<std::ptrdiff_t>(samples::QueueJobs().size()));
}

TEST(JobTable, OnATerminalTheQueueFitsItsWidth) {
  Style style;
  style.width = 72;
  const std::string page = PrintQueue(samples::QueueJobs(), {}, kNow, style);
  EXPECT_EQ(page, Golden("queue_72.txt"));
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(DisplayWidth(line), 72U) << line;
  }
}

TEST(JobTable, AnEmptyQueueIsItsTitles) {
  EXPECT_EQ(PrintQueue({}, {}, kNow, {}),
            "JOBID  NAME  USER  ST  TIME  NODES  CPUS  REASON/NODELIST\n");
  EXPECT_EQ(PrintQueue({}, {.header = false, .fold = true}, kNow, {}), "");
}

TEST(JobTable, TheHistoryTellsWhyWhereSomethingWasSaid) {
  std::vector<JobView> jobs = samples::HistoryJobs();
  jobs[1].state = "OUT_OF_MEMORY";
  jobs[1].exit_text = "node1: out of memory: it reached its limit of 256 MiB";
  const std::string text = PrintHistory(jobs, {}, {});
  EXPECT_NE(text.find("BINDING"), std::string::npos);
  EXPECT_NE(text.find("WHY\n"), std::string::npos) << text;
  EXPECT_NE(text.find("node1: out of memory: it reached its limit of 256 MiB\n"), std::string::npos)
      << text;
}

TEST(JobTable, TheHistoryShowsExitUsageAndBinding) {
  EXPECT_EQ(PrintHistory(samples::HistoryJobs(), {}, {}), Golden("history.txt"));
}

TEST(JobTable, TheHistoryShowsNoNumberWhereNothingWasSampled) {
  JobView brief = samples::Ended(1, "brief", "COMPLETED", 0, 0);
  brief.nodes = {"n1"};
  brief.gpus = 1;
  brief.usage.gpu_memory = kGibibyte;
  JobView lost = brief;
  lost.name = "lost";
  lost.state = "NODE_FAIL";
  lost.usage = Usage();
  const std::string text = PrintHistory({brief, lost}, {}, {});
  EXPECT_THAT(text, HasSubstr("CPU-TIME   EFF  PEAK-MEM  GPU-EFF  NODES"));
  EXPECT_THAT(text, HasSubstr("    7:00  84 %   312 MiB        -  n1"));
  EXPECT_THAT(text, HasSubstr("       -     -         -        -  n1"));
}

TEST(JobTable, StatesHaveTheirCodesAndUnknownOnesStandAsTheyAre) {
  EXPECT_EQ(StateCode("PENDING"), "PD");
  EXPECT_EQ(StateCode("OUT_OF_MEMORY"), "OOM");
  EXPECT_EQ(StateCode("SUSPENDED"), "S");
  EXPECT_EQ(StateCode("STOPPED"), "STOPPED");
  EXPECT_TRUE(IsTerminal("TIMEOUT"));
  EXPECT_FALSE(IsTerminal("COMPLETING"));
  EXPECT_EQ(StatePaint("FAILED"), Paint::kRed);
  EXPECT_EQ(StatePaint("RUNNING"), Paint::kGreen);
  EXPECT_EQ(StatePaint("SUSPENDED"), Paint::kYellow);
  EXPECT_EQ(StatePaint("STOPPED"), Paint::kPlain);
}

TEST(JobTable, AClockThatLagsBehindShowsNoNegativeTime) {
  const JobView job = samples::Running(1, "a", {"node1"}, std::chrono::seconds(-5));
  EXPECT_EQ(Elapsed(job, kNow), Duration(0));
}

}  // namespace
}  // namespace muster::cli
