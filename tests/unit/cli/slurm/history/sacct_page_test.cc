// sacct's pages against those of Slurm itself, over the same jobs.

#include "cli/slurm/history/sacct_page.h"

#include <gtest/gtest.h>

#include "cli/controller/query/job_choice.h"
#include "cli/slurm/history/account_fields.h"
#include "cli/slurm/history/sacct_options.h"
#include "tests/unit/cli/slurm/recorded.h"

namespace muster::cli::slurm {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

// 2026-03-14 09:26:53 UTC.
constexpr Time kNow = Time(Duration(1'773'480'413'000));

JobView Job(unsigned id, const std::string& name, const std::string& state, int code, int signal) {
  JobView job;
  job.id = JobId(id);
  job.array_job_id = job.id;
  job.label = std::to_string(id);
  job.name = name;
  job.user = "ada";
  job.uid = 1001;
  job.account = "physics";
  job.partition = "debug";
  job.qos = "normal";
  job.state = state;
  job.exit_code = code;
  job.exit_signal = signal;
  job.cpus = 1;
  job.node_count = 1;
  job.nodes = {"n1"};
  job.memory = kMebibyte * 100;
  job.memory_per_cpu = kMebibyte * 100;
  job.time_limit = hours(1);
  job.submit_time = kNow - minutes(9);
  job.start_time = kNow - minutes(8);
  job.end_time = kNow - minutes(7);
  return job;
}

StepView Step(unsigned number, const std::string& name, unsigned tasks, int code) {
  StepView step;
  step.step = StepId(number);
  step.name = name;
  step.state = code == 0 ? "COMPLETED" : "FAILED";
  step.nodes = "n1";
  step.tasks = tasks;
  step.cpus = 2;
  step.start_time = kNow - minutes(8) + seconds(1);
  step.end_time = kNow - minutes(7);
  step.exit.code = code;
  step.usage.peak_memory = Bytes(std::uint64_t{1696} * 1024);
  return step;
}

AccountRecord Recorded() {
  AccountRecord record;
  record.scene.now = kNow;
  record.scene.cluster = "gold";
  record.jobs = {Job(1, "ok", "COMPLETED", 0, 0), Job(2, "fails", "FAILED", 3, 0),
                 Job(8, "steps", "COMPLETED", 0, 0), Job(14, "train", "RUNNING", 0, 0)};
  record.jobs[0].comment = "a comment";
  record.jobs[2].cpus = 2;
  record.jobs[3].end_time = kNoTime;
  record.jobs[3].cpus = 2;
  record.jobs[3].memory = kMebibyte * 1000;
  record.jobs[3].memory_per_node = record.jobs[3].memory;
  for (const JobView& job : record.jobs) {
    record.details[job.id].job = job;
  }
  record.details[JobId(8)].steps = {Step(0, "true", 2, 0), Step(1, "sh", 1, 2),
                                    Step(2, "named", 1, 0)};
  return record;
}

std::string OursOf(const std::string& command, AccountRecord record) {
  const absl::StatusOr<Words> words =
      ReadWords(SacctRows(), Operands::kAnywhere, recorded::WordsOf(command));
  if (!words.ok()) {
    return "sacct: " + std::string(words.status().message());
  }
  const absl::StatusOr<SacctRequest> request =
      ReadSacct(*words, Environment(), {.uid = 0, .now = kNow, .zone = absl::UTCTimeZone()});
  if (!request.ok()) {
    return std::string(request.status().message());
  }
  std::erase_if(record.jobs, [&](const JobView& job) { return !Chooses(request->choice, job); });
  record.scene.unit = request->unit;
  return SacctPage(*request, record);
}

class SacctPages : public ::testing::TestWithParam<const char*> {};

TEST_P(SacctPages, AreThoseOfSlurm) {
  EXPECT_EQ(OursOf(GetParam(), Recorded()), recorded::Of("sacct", GetParam()).out);
}

INSTANTIATE_TEST_SUITE_P(
    Recorded, SacctPages,
    ::testing::Values("sacct -p -j 1", "sacct -n -P -j 1", "sacct -j 8", "sacct -j 8.0",
                      "sacct -j 8.batch", "sacct -j 1 -j 2 -X -n", "sacct -j 1,2 -X -n",
                      "sacct -j 99999", "sacct -n -j 99999",
                      "sacct --name ok,train -X -n -o JobID,JobName",
                      "sacct -X -P --delimiter=';;' -o jobid,STATE,jobname -j 1",
                      "sacct -X -p --delimiter=, -o jobid,state -j 1"));

TEST(Sacct, AUsersFieldsOfEveryLineAreThoseOfSlurm) {
  const std::string command =
      "sacct -P -o JobID,JobIDRaw,JobName,User,UID,Account,Partition,QOS,Cluster,State,ExitCode";
  const std::string ours = OursOf(command + " -j 8", Recorded());
  EXPECT_NE(ours.find("\n8|8|steps|ada|1001|physics|debug|normal|gold|COMPLETED|0:0\n"),
            std::string::npos)
      << ours;
  EXPECT_NE(ours.find("\n8.1|8.1|sh|||physics|||gold|FAILED|2:0\n"), std::string::npos) << ours;
}

TEST(Sacct, AmountsAreThoseOfSlurm) {
  const std::string ours =
      OursOf("sacct -n -P -o JobID,NNodes,NTasks,NCPUS,NodeList,ReqMem,AllocTRES,TimelimitRaw -j 8",
             Recorded());
  EXPECT_EQ(ours,
            "8|1||2|n1|200M|billing=2,cpu=2,mem=100M,node=1|60\n"
            "8.batch|1|1|2|n1||cpu=2,mem=100M,node=1|\n"
            "8.0|1|2|2|n1||cpu=2,mem=100M,node=1|\n"
            "8.1|1|1|2|n1||cpu=2,mem=100M,node=1|\n"
            "8.2|1|1|2|n1||cpu=2,mem=100M,node=1|\n");
  EXPECT_EQ(OursOf("sacct -n -P -j 8.2 -o MaxRSS,TotalCPU,Elapsed", Recorded()),
            "1696K|00:00:00|00:00:59\n");
  EXPECT_EQ(OursOf("sacct -n -X -P --units=G -o ReqMem -j 1,14", Recorded()), "0.10G\n0.98G\n");
  EXPECT_EQ(OursOf("sacct -n -X -P --units=K -o ReqMem -j 1", Recorded()), "102400K\n");
}

TEST(Sacct, MomentsThatHaveNotComeAreUnknown) {
  EXPECT_EQ(OursOf("sacct -n -X -P -j 14 -o Start,End,ElapsedRaw", Recorded()),
            "2026-03-14T09:18:53|Unknown|480\n");
}

TEST(Sacct, ACancelledJobIsJustThat) {
  AccountRecord record;
  record.jobs = {Job(5, "gone", "CANCELLED", 0, 15)};
  EXPECT_EQ(OursOf("sacct -n -X -P -o State,ExitCode", record), "CANCELLED|0:0\n");
}

TEST(Sacct, NamesBreakNoColumn) {
  AccountRecord record;
  record.jobs = {Job(5, "a|b\n", "COMPLETED", 0, 0)};
  EXPECT_EQ(OursOf("sacct -n -X -P -o JobID,JobName,State", record), "5|a\\x7cb\\x0a|COMPLETED\n");
}

TEST(Sacct, HelpListsNamesThatAreFieldsAgain) {
  const std::string help = FieldHelp();
  EXPECT_EQ(help.substr(0, help.find('\n')).size(), 79U);
  for (const AccountField& field : AccountFields()) {
    EXPECT_NE(help.find(field.name), std::string::npos);
    EXPECT_EQ(FindAccountField(field.name), &field);
  }
  const recorded::Answer theirs = recorded::Of("sacct", "sacct -e");
  for (const std::string& name : recorded::WordsOf("x " + theirs.out)) {
    std::string word = name;
    std::erase(word, '\n');
    EXPECT_TRUE(word.empty() || FindAccountField(word) != nullptr ||
                name.find('\n') != std::string::npos)
        << word;
  }
}

class Moments : public ::testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(Moments, AreReadInSlurmsForms) {
  const absl::StatusOr<Time> time =
      ReadMoment(GetParam().first, {.uid = 0, .now = kNow, .zone = absl::UTCTimeZone()});
  ASSERT_TRUE(time.ok()) << time.status();
  EXPECT_EQ(Clockface().Text(*time, ""), GetParam().second) << GetParam().first;
}

INSTANTIATE_TEST_SUITE_P(Forms, Moments,
                         ::testing::Values(std::pair("2026-01-02", "2026-01-02T00:00:00"),
                                           std::pair("2026-01-02T03:04", "2026-01-02T03:04:00"),
                                           std::pair("2026-01-02T03:04:05", "2026-01-02T03:04:05"),
                                           std::pair("1970-01-01-00:00:01", "1970-01-01T00:00:01"),
                                           std::pair("010225", "2025-01-02T00:00:00"),
                                           std::pair("01/02/25", "2025-01-02T00:00:00"),
                                           std::pair("01/02", "2026-01-02T00:00:00"),
                                           std::pair("now", "2026-03-14T09:26:53"),
                                           std::pair("now-2days", "2026-03-12T09:26:53"),
                                           std::pair("now - 1day", "2026-03-13T09:26:53"),
                                           std::pair("now+1hour", "2026-03-14T10:26:53"),
                                           std::pair("today", "2026-03-14T00:00:00"),
                                           std::pair("midnight", "2026-03-14T00:00:00"),
                                           std::pair("08:00", "2026-03-14T08:00:00")));

TEST(Sacct, WhatCannotBeReadIsSlurmsLine) {
  for (const char* command : {"sacct -j abc", "sacct -s nosuch -X", "sacct -X -o nosuch -j 1",
                              "sacct -X -o JobID,nosuch -j 1", "sacct -u nobody_here -X -n",
                              "sacct -S garbage -X -n", "sacct --nosuch"}) {
    const std::string theirs = recorded::Of("sacct", command).err;
    EXPECT_EQ(OursOf(command, {}) + "\n", theirs.substr(0, theirs.find('\n') + 1)) << command;
  }
  EXPECT_EQ(OursOf("sacct -S 2031-01-01 -X -n", {}).substr(0, 56),
            "sacct: error: Start time (2031-01-01T00:00:00) requested");
}

}  // namespace
}  // namespace muster::cli::slurm
