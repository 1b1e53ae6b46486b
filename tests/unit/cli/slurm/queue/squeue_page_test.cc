// squeue's pages against those of Slurm itself, over the same jobs.

#include "cli/slurm/queue/squeue_page.h"

#include <gtest/gtest.h>

#include "cli/controller/query/job_choice.h"
#include "cli/sheet/job_table.h"
#include "cli/slurm/queue/job_fields.h"
#include "cli/slurm/queue/job_order.h"
#include "cli/slurm/queue/job_row.h"
#include "cli/slurm/queue/squeue_options.h"
#include "tests/unit/cli/slurm/recorded.h"

namespace muster::cli::slurm {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

// When the recorded jobs 14 and 15 started: what Slurm says of the first.
Time RecordedStart() {
  const std::string page =
      recorded::Of("squeue",
                   "squeue -o '%i %T %B %M %r %j %u %P %D %C %R %N %S %V %l %L %m %a %A %e'")
          .out;
  const std::size_t line = page.find("\n14 RUNNING");
  const std::size_t at = page.find("n1 n1 ", line) + 6;
  absl::Time time;
  std::string error;
  EXPECT_TRUE(absl::ParseTime("%Y-%m-%dT%H:%M:%S", page.substr(at, 19), &time, &error)) << error;
  return Time(Duration(absl::ToUnixMillis(time)));
}

JobView Job(unsigned id, const std::string& name, const std::string& state) {
  JobView job;
  job.id = JobId(id);
  job.array_job_id = job.id;
  job.label = std::to_string(id);
  job.name = name;
  job.user = "ada";
  job.uid = 1001;
  job.gid = 1001;
  job.account = "physics";
  job.partition = "debug";
  job.qos = "normal";
  job.state = state;
  job.tasks = 1;
  job.cpus = 1;
  job.cpus_per_task = 1;
  job.node_count = 1;
  job.memory_per_cpu = kMebibyte * 100;
  job.time_limit = hours(1);
  job.submit_time = RecordedStart();
  return job;
}

JobView Waiting(unsigned id, const std::string& name, const std::string& reason) {
  JobView job = Job(id, name, "PENDING");
  job.reason.kind = reason;
  return job;
}

// Jobs 14 to 16 of tests/fixtures/slurm/scenario.txt, and one that waits for a day to come.
std::vector<JobView> Recorded() {
  JobView train = Job(14, "train", "RUNNING");
  train.nodes = {"n1"};
  train.tasks = 2;
  train.cpus = 2;
  train.memory = kMebibyte * 1000;
  train.memory_per_node = train.memory;
  train.time_limit = hours(2);
  train.start_time = RecordedStart();
  train.comment = "a=1;b|c";
  JobView infer = Job(15, "infer", "RUNNING");
  infer.user = "bob";
  infer.uid = 1002;
  infer.account = "chem";
  infer.partition = "gpu";
  infer.nodes = {"n3"};
  infer.cpus = 2;
  infer.cpus_per_task = 2;
  infer.memory = kMebibyte * 200;
  infer.gpus = 1;
  infer.time_limit = hours(3);
  infer.start_time = RecordedStart();
  JobView sweep = Waiting(18, "sweep", "JobArrayTaskLimit");
  sweep.array_job_id = JobId(16);
  sweep.array_task_id = "2";
  sweep.label = "16_2";
  sweep.array_throttle = 2;
  sweep.time_limit = minutes(10);
  sweep.indices = {ArrayRange{2, 9, 1}};
  return {train, infer, sweep};
}

// Slurm's answer to the same, after that many seconds.
std::string OursOf(const std::string& command, const std::vector<JobView>& jobs, int after = 10) {
  const absl::StatusOr<Words> words =
      ReadWords(SqueueRows(), Operands::kAnywhere, recorded::WordsOf(command));
  if (!words.ok()) {
    return std::string(words.status().message());
  }
  const absl::StatusOr<SqueueRequest> request = ReadSqueue(*words, Environment());
  if (!request.ok()) {
    return std::string(request.status().message());
  }
  std::vector<JobView> chosen;
  for (const JobView& job : jobs) {
    if (Chooses(request->choice, job)) {
      chosen.push_back(job);
    }
  }
  std::vector<JobRow> rows;
  for (QueueLine& line : FoldQueue(chosen, !request->each_element)) {
    rows.push_back({.job = line.job, .elements = std::move(line.elements)});
  }
  return SqueuePage(*request, rows, {.now = RecordedStart() + seconds(after), .cluster = "gold"});
}

class SqueuePages : public ::testing::TestWithParam<const char*> {};

TEST_P(SqueuePages, AreThoseOfSlurm) {
  EXPECT_EQ(OursOf(GetParam(), Recorded()), recorded::Of("squeue", GetParam()).out);
}

INSTANTIATE_TEST_SUITE_P(
    Recorded, SqueuePages,
    ::testing::Values("squeue -h -o '%%i %%%j' -j 14,15", "squeue -h -o ' lead %i trail ' -j 14,15",
                      "squeue -h -o '%i%' -j 14", "squeue -h -o '%' -j 14", "squeue -h -o '' -j 14",
                      "squeue -h -o 'plain' -j 14", "squeue -h -o '%J %i' -j 14",
                      "squeue -h -o '%1J %i' -j 14",
                      "squeue -o '%.18i %.9P %.8j %.8u %.2t %.10M %.6D %R' -j 14",
                      "squeue -h -o '%.3M %.3l %.4N %.2P %.3C' -j 14,15",
                      "squeue -h -o '{\"id\": \"%i\", \"name\": \"%j\"}' -j 14,15",
                      "squeue -O JobID,Name,State -j 14,15",
                      "squeue -O jobid,name:10,state:.12 -j 14,15",
                      "squeue -h -O 'JobID:|,Name:%,State:' -j 14,15",
                      "squeue -h -O 'JobID: ,Name: ,State:.,' -j 14,15",
                      "squeue -h -O JobID:abc -j 14", "squeue -h -O '' -j 14"));

TEST(Squeue, MomentsAndLimitsAreThoseOfSlurm) {
  const std::string command =
      "squeue -o '%i %T %B %M %r %j %u %P %D %C %R %N %S %V %l %L %m %a %A %e'";
  const std::string theirs = recorded::Of("squeue", command).out;
  const std::string ours = OursOf(command + " -j 14,15", Recorded());
  for (const char* begin : {"14 RUNNING", "15 RUNNING"}) {
    const std::size_t at = ours.find(begin);
    ASSERT_NE(at, std::string::npos);
    EXPECT_NE(theirs.find(ours.substr(at, ours.find('\n', at) + 1 - at)), std::string::npos)
        << ours;
  }
}

TEST(Squeue, ADurationIsNotCut) {
  std::vector<JobView> jobs = {Waiting(1, "weeks", "JobHeldUser")};
  jobs[0].time_limit = hours(24 * 30 + 4) + minutes(6);
  EXPECT_EQ(OursOf("squeue -h -o '%.9l|%.3M|%.3j'", jobs), "30-04:06:00|0:00|wee\n");
}

TEST(Squeue, ElementsThatWaitTogetherAreOneLineUnlessAskedFor) {
  EXPECT_EQ(OursOf("squeue -h -j 16", Recorded()),
            "        16_[2-9%2]     debug    sweep      ada PD       0:00      1 "
            "(JobArrayTaskLimit)\n");
  EXPECT_EQ(OursOf("squeue -h -r -j 16 -o %i", Recorded()), "16_2\n");
  EXPECT_EQ(OursOf("squeue -h -j 16 -O JobArrayID:12,JobID:", Recorded()), "16_[2-9%2]  18\n");
}

TEST(Squeue, LinesAreSortedByPartitionStateAndPriority) {
  std::vector<JobView> jobs = {Waiting(20, "late", "Priority"), Waiting(21, "soon", "Priority")};
  jobs[1].priority = 9;
  for (const JobView& job : Recorded()) {
    jobs.push_back(job);
  }
  EXPECT_EQ(OursOf("squeue -h -o %i", jobs), "21\n20\n16_[2-9%2]\n14\n15\n");
  EXPECT_EQ(OursOf("squeue -h -S -i -o %i", jobs), "21\n20\n16_[2-9%2]\n15\n14\n");
  EXPECT_EQ(OursOf("squeue -h -S P,-i -o '%P %i' -j 14,15", jobs), "debug 14\ngpu 15\n");
}

TEST(Squeue, NamesBreakNeitherColumnsNorTerminals) {
  std::vector<JobView> jobs = {Waiting(1, "a|b", "Priority"), Waiting(2, "line\nbreak", "Priority"),
                               Waiting(3, "esc\x1b[31mred", "Priority"),
                               Waiting(4, "bad\xff", "Priority"),
                               Waiting(5, "größe_日本語", "Priority")};
  EXPECT_EQ(OursOf("squeue -h -S i -o '%i|%j|%t'", jobs),
            "1|a\\x7cb|PD\n2|line\\x0abreak|PD\n3|esc\\x1b[31mred|PD\n4|bad\\xff|PD\n"
            "5|größe_日本語|PD\n");
  EXPECT_EQ(OursOf("squeue -h -S i -o '%.8j|%t' -j 2,5", jobs), "line\\x0a|PD\ngröße_日|PD\n");
}

TEST(Squeue, AFieldIsFoundByLetterAndByNameInAnyCase) {
  EXPECT_EQ(FindJobField('j'), FindJobField("nAmE"));
  EXPECT_EQ(FindJobField('~'), nullptr);
  EXPECT_EQ(FindJobField("nosuch"), nullptr);
}

TEST(Squeue, LinesThatNoKeyTellsApartKeepTheirOrder) {
  const std::vector<JobView> jobs = {Waiting(3, "a", "Priority"), Waiting(1, "b", "Priority"),
                                     Waiting(2, "a", "Priority")};
  std::vector<JobRow> rows = {{.job = &jobs[0]}, {.job = &jobs[1]}, {.job = &jobs[2]}};
  Sort({"-j", "zz", ""}, {}, rows);
  EXPECT_EQ(rows[0].job, &jobs[1]);
  EXPECT_EQ(rows[1].job, &jobs[0]);
  EXPECT_EQ(rows[2].job, &jobs[2]);
}

TEST(Squeue, AUserThatIsNoneHasNoJobs) {
  const absl::StatusOr<Words> words =
      ReadWords(SqueueRows(), Operands::kAnywhere, {"-u", "nobody_here,0"});
  const absl::StatusOr<SqueueRequest> request = ReadSqueue(*words, Environment());
  ASSERT_TRUE(request.ok());
  EXPECT_EQ(request->choice.users, (std::vector<std::string>{"-", "0"}));
  EXPECT_EQ(request->warnings, std::vector<std::string>{"error: Invalid user: nobody_here"});
}

TEST(Squeue, WhatCannotBeReadIsOneLine) {
  for (const char* command : {"squeue -j abc", "squeue -w n[1-"}) {
    EXPECT_EQ(OursOf(command, {}).substr(0, 6), "error:") << command;
  }
  EXPECT_EQ("squeue: " + OursOf("squeue -j abc", {}) + "\n",
            recorded::Of("squeue", "squeue -j abc").err);
  EXPECT_EQ("squeue: " + OursOf("squeue -h -O nosuch -j 14", {}) + "\n",
            recorded::Of("squeue", "squeue -h -O nosuch -j 14").err);
  const std::string theirs = recorded::Of("squeue", "squeue --nosuch").err;
  EXPECT_EQ("squeue: " + OursOf("squeue --nosuch", {}) + "\n",
            theirs.substr(0, theirs.find('\n') + 1));
}

}  // namespace
}  // namespace muster::cli::slurm
