// sreport: its titles against Slurm's, and its sums against jobs that are counted by hand.

#include "cli/slurm/report/report_page.h"

#include <gtest/gtest.h>

#include "cli/report/usage_tally.h"
#include "tests/unit/cli/slurm/recorded.h"

namespace muster::cli::slurm {
namespace {

constexpr std::int64_t kNow = 1'795'487'084'000;  // 2026-11-24T02:24:44Z

Asker Someone() {
  return {.uid = 0, .now = Time(Duration(kNow)), .zone = absl::UTCTimeZone()};
}

absl::StatusOr<ReportRequest> Read(const std::vector<std::string>& arguments) {
  const absl::StatusOr<Words> words = ReadWords(SreportRows(), Operands::kAnywhere, arguments);
  return words.ok() ? ReadReport(*words, Someone()) : words.status();
}

// A job of `cpus` that ran for `minutes` from an hour after the start of yesterday.
JobView Ran(const std::string& user, const std::string& account, std::uint32_t cpus,
            std::int64_t minutes) {
  JobView job;
  job.user = user;
  job.account = account;
  job.cpus = cpus;
  job.node_count = 1;
  job.start_time = Read({"cluster", "utilization"})->start + std::chrono::hours(1);
  job.end_time = job.start_time + std::chrono::minutes(minutes);
  return job;
}

ReportScene Scene() {
  ReportScene scene;
  scene.cluster = "gold";
  NodeView node;
  node.cpus = 10;
  scene.nodes = {node};
  PolicyView chem;
  chem.kind = "account";
  chem.name = "chem";
  chem.properties = {{"Parent", "physics"}};
  PolicyView physics;
  physics.kind = "account";
  physics.name = "physics";
  scene.accounts = {chem, physics};
  scene.jobs = {Ran("ada", "physics", 2, 60), Ran("bob", "chem", 60, 10),
                Ran("ada", "chem", 1, 30)};
  return scene;
}

std::string Page(const std::vector<std::string>& arguments, bool parsable = true) {
  const absl::StatusOr<ReportRequest> request = Read(arguments);
  const absl::StatusOr<std::string> page =
      request.ok() ? ReportPage(*request, Scene(), {.header = !parsable, .parsable = parsable})
                   : request.status();
  return page.ok() ? *page : std::string(page.status().message());
}

TEST(ReportPage, HasSlurmsTitlesAndColumns) {
  // Clockface reads the machine's zone; the recording's was UTC.
  setenv("TZ", "UTC", 1);
  tzset();
  for (const char* const line : {
           "sreport -P cluster utilization",
           "sreport cluster utilization",
           "sreport -T gres/gpu,cpu cluster utilization -P",
           "sreport -P cluster AccountUtilizationByUser",
           "sreport cluster UserUtilizationByAccount",
           "sreport user topusage",
           "sreport user TopUsage TopCount=3 start=2026-01-01 end=2026-02-01",
           "sreport job sizesbyaccount",
           "sreport job SizesByAccount -P",
           "sreport -t hourper cluster utilization -P",
           "sreport -t percent cluster utilization",
       }) {
    const absl::StatusOr<Words> words =
        ReadWords(SreportRows(), Operands::kAnywhere, recorded::WordsOf(line));
    ASSERT_TRUE(words.ok()) << line;
    const absl::StatusOr<ReportRequest> request = ReadReport(*words, Someone());
    ASSERT_TRUE(request.ok()) << line << request.status();
    ReportScene nothing;
    nothing.cluster = "gold";
    const absl::StatusOr<std::string> page =
        ReportPage(*request, nothing, {.parsable = words->Has("parsable2")});
    ASSERT_TRUE(page.ok()) << line;
    const std::string theirs = recorded::Of("sreport", line).out;
    EXPECT_EQ(page->substr(0, theirs.size()), theirs) << line;
  }
}

TEST(ReportPage, UtilizationIsOfTheNodesOfToday) {
  // 120 + 600 + 30 minutes of 10 CPUs for a day.
  EXPECT_EQ(Page({"cluster", "utilization"}), "gold|750|||13650||14400\n");
  EXPECT_EQ(Page({"-t", "percent", "cluster", "utilization"}), "gold|5.21%|||94.79%||100.00%\n");
}

TEST(ReportPage, AccountsHaveWhatIsBelowThemAndStandBeforeTheirUsers) {
  EXPECT_EQ(Page({"cluster", "AccountUtilizationByUser"}),
            "gold|root|||750|\ngold|chem|||630|\ngold|chem|ada||30|\ngold|chem|bob||600|\n"
            "gold|physics|||750|\ngold|physics|ada||120|\n");
  EXPECT_EQ(Page({"cluster", "UserUtilizationByAccount", "users=ada"}),
            "gold|ada||chem|30|\ngold|ada||physics|120|\n");
}

TEST(ReportPage, TheLargestUsersComeFirst) {
  EXPECT_EQ(Page({"user", "topusage"}), "gold|bob||chem|600|\ngold|ada||chem,physics|150|\n");
  EXPECT_EQ(Page({"user", "topusage", "topcount=1"}), "gold|bob||chem|600|\n");
}

TEST(ReportPage, JobsAreSortedBySize) {
  EXPECT_EQ(Page({"job", "sizesbyaccount"}),
            "gold|chem|30|600|0|0|0|84.00%\ngold|physics|120|0|0|0|0|16.00%\n");
}

TEST(ReportPage, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(Page({"cluster", "utilization", "format=nosuch"}), " Unknown field 'nosuch'");
  EXPECT_EQ(Page({"nosuch"}), "invalid keyword: nosuch");
  EXPECT_EQ(Page({"cluster"}), "too few arguments for keyword:cluster");
  EXPECT_EQ(Page({"cluster", "utilization", "nosuch=1"}), " Unknown condition: nosuch=1");
  EXPECT_EQ(Page({"-t", "nosuch", "cluster", "utilization"}), "unknown time format nosuch");
  EXPECT_EQ(Page({"cluster", "utilization", "start=garbage"}),
            "Invalid time specification (pos=0): garbage");
}

TEST(UsageTally, OnlyWhatLiesWithinTheWindowCounts) {
  JobView job = Ran("ada", "physics", 2, 60);
  const UsageWindow day{job.start_time - std::chrono::hours(1),
                        job.start_time + std::chrono::hours(23)};
  EXPECT_EQ(UsedSeconds(job, "cpu", day), 7200);
  EXPECT_EQ(UsedSeconds(job, "cpu", {job.start_time + std::chrono::minutes(30), day.end}), 3600);
  job.suspended = std::chrono::minutes(15);
  EXPECT_EQ(UsedSeconds(job, "cpu", day), 5400);
  job.start_time = kNoTime;
  EXPECT_EQ(UsedSeconds(job, "cpu", day), 0);
}

}  // namespace
}  // namespace muster::cli::slurm
