// Columns and order of a list of jobs, by the names of --json.

#include "cli/controller/job_columns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::cli {
namespace {

using ::testing::HasSubstr;

absl::StatusOr<JobColumns> Read(const std::map<std::string, std::string>& values) {
  static const Environment environment;
  static const std::vector<Verb> verbs;
  return ReadJobColumns(Invocation{environment, verbs, values, {}});
}

std::vector<JobView> Jobs() {
  std::vector<JobView> jobs(3);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    jobs[i].id = JobId(i + 8);
    jobs[i].name = i == 1 ? "a\x1b[31m\nb" : "train";
    jobs[i].state = "PENDING";
    jobs[i].priority = i == 2 ? 5 : 100;
  }
  jobs[0].nodes = {"n1", "n2"};
  jobs[1].reason.kind = "Resources";
  return jobs;
}

std::vector<std::uint64_t> Ids(const std::vector<JobView>& jobs) {
  std::vector<std::uint64_t> ids;
  for (const JobView& job : jobs) {
    ids.push_back(job.id.value());
  }
  return ids;
}

TEST(JobColumns, AreInTheOrderInWhichTheyWereNamed) {
  const std::string page =
      PrintJobColumns(*Read({{"format", "nodes,ID,reason"}}), Jobs(), true, Style());
  EXPECT_THAT(page, HasSubstr("NODES  ID"));
  EXPECT_THAT(page, HasSubstr("n1,n2"));
  EXPECT_THAT(page, HasSubstr("Resources"));
}

TEST(JobColumns, OneJobIsOneLineWhateverItIsCalled) {
  const std::string page = PrintJobColumns(*Read({{"format", "id,name"}}), Jobs(), false, Style());
  EXPECT_EQ(std::count(page.begin(), page.end(), '\n'), 3) << page;
  EXPECT_EQ(page.find('\x1b'), std::string::npos);
}

TEST(JobColumns, NumbersAreSortedAsNumbersAndEqualsStay) {
  std::vector<JobView> jobs = Jobs();
  SortJobs(*Read({{"sort", "priority"}}), jobs);
  EXPECT_EQ(Ids(jobs), (std::vector<std::uint64_t>{10, 8, 9}));
  SortJobs(*Read({{"sort", "-id"}}), jobs);
  EXPECT_EQ(Ids(jobs), (std::vector<std::uint64_t>{10, 9, 8}));
}

TEST(JobColumns, AFieldThatIsNoneIsRefusedWithTheNames) {
  const std::string said(Read({{"format", "id,colour"}}).status().message());
  EXPECT_THAT(said, HasSubstr("--format: \"colour\" is no field of a job: use id, "));
  EXPECT_THAT(std::string(Read({{"sort", "-"}}).status().message()), HasSubstr("--sort: "));
}

}  // namespace
}  // namespace muster::cli
