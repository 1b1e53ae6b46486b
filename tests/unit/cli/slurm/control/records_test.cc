// scontrol's records against those of Slurm itself.

#include "cli/slurm/control/records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "absl/strings/str_split.h"
#include "cli/slurm/control/record_text.h"
#include "tests/unit/cli/slurm/recorded.h"

namespace muster::cli::slurm {
namespace {

// The words KEY=VALUE of a record.
std::map<std::string, std::string> WordsOf(const std::string& record) {
  std::map<std::string, std::string> words;
  const std::vector<std::string> pieces =
      absl::StrSplit(record, absl::ByAnyChar(" \n"), absl::SkipEmpty());
  for (const std::string& word : pieces) {
    const std::size_t equals = word.find('=');
    EXPECT_NE(equals, std::string::npos) << word;
    words[word.substr(0, equals)] = equals == std::string::npos ? "" : word.substr(equals + 1);
  }
  return words;
}

// Job 2 of tests/fixtures/slurm/scenario.txt, but for its moments.
JobDetail Fails() {
  JobDetail detail;
  JobView& job = detail.job;
  job.id = JobId(2);
  job.array_job_id = job.id;
  job.label = "2";
  job.name = "fails";
  job.user = "ada";
  job.uid = 1001;
  job.gid = 4'000'000'001U;
  job.account = "physics";
  job.qos = "normal";
  job.partition = "debug";
  job.state = "FAILED";
  job.exit_code = 3;
  job.nodes = {"n1"};
  job.node_count = 1;
  job.cpus = 1;
  job.tasks = 1;
  job.cpus_per_task = 1;
  job.memory = kMebibyte * 100;
  job.memory_per_cpu = kMebibyte * 100;
  job.time_limit = std::chrono::hours(1);
  job.priority = 11011;
  job.start_time = Time(Duration(1000));
  job.end_time = job.start_time;
  detail.work_dir = "/home/ada";
  detail.stdout_path = "/home/ada/slurm-2.out";
  detail.batch = true;
  detail.requeue = true;
  return detail;
}

TEST(JobRecord, HasTheWordsOfSlurm) {
  const auto theirs = WordsOf(recorded::Of("scontrol", "scontrol show job 2").out);
  const auto ours = WordsOf(JobRecord(Fails(), {}, {}));
  for (const char* key :
       {"JobId",         "JobName",          "UserId",        "Nice",       "Account",
        "QOS",           "JobState",         "Reason",        "Dependency", "Restarts",
        "BatchFlag",     "Reboot",           "ExitCode",      "RunTime",    "TimeLimit",
        "TimeMin",       "Deadline",         "SuspendTime",   "Partition",  "NodeList",
        "ReqNodeList",   "ExcNodeList",      "BatchHost",     "NumNodes",   "NumCPUs",
        "NumTasks",      "CPUs/Task",        "ReqB:S:C:T",    "Socks/Node", "MinCPUsNode",
        "MinMemoryCPU",  "Features",         "OverSubscribe", "Contiguous", "Licenses",
        "Network",       "Command",          "WorkDir",       "StdErr",     "StdOut",
        "DelayBoot",     "NtasksPerN:B:S:C", "CoreSpec",      "MCS_label",  "Requeue",
        "MinTmpDiskNode"}) {
    ASSERT_TRUE(theirs.contains(key)) << key;
    ASSERT_TRUE(ours.contains(key)) << key;
    EXPECT_EQ(ours.at(key), theirs.at(key)) << key;
  }
  EXPECT_EQ(ours.at("AllocTRES"), theirs.at("TRES"));
}

TEST(JobRecord, IsTheSameOnOneLine) {
  const std::string lines = JobRecord(Fails(), {}, {});
  const std::string line = JobRecord(Fails(), {}, {.one_line = true});
  EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1);
  EXPECT_EQ(WordsOf(line), WordsOf(lines));
  EXPECT_EQ(lines.substr(lines.size() - 2), "\n\n");
}

TEST(JobRecord, NoNameBreaksAWord) {
  JobDetail detail = Fails();
  detail.job.name = "two words\n\x1b[31m";
  detail.job.comment = "a b";
  const auto words = WordsOf(JobRecord(detail, {}, {}));
  EXPECT_EQ(words.at("JobName"), "two_words\\x0a\\x1b[31m");
  EXPECT_EQ(words.at("Comment"), "a_b");
}

TEST(JobRecord, SaysWhatEachNodeGivesAndWhereTheJobCameFrom) {
  JobDetail detail = Fails();
  detail.request.gpus_per_node = {"a100", 2};
  detail.request.gres = {{"scratch", 4}};
  detail.submit_host = "login1";
  detail.time_min = std::chrono::minutes(20);
  const auto words = WordsOf(JobRecord(detail, {}, {}));
  EXPECT_EQ(words.at("TresPerNode"), "gres:gpu:a100:2,gres:scratch:4");
  EXPECT_EQ(words.at("AllocNode:Sid"), "login1:N/A");
  EXPECT_EQ(words.at("TimeMin"), "00:20:00");
}

TEST(JobRecord, OfAnElementNamesItsArray) {
  JobDetail detail = Fails();
  detail.job.array_job_id = JobId(1);
  detail.job.array_task_id = "4";
  detail.job.array_throttle = 2;
  const auto words = WordsOf(JobRecord(detail, {4, 5, 6}, {}));
  EXPECT_EQ(words.at("ArrayJobId"), "1");
  EXPECT_EQ(words.at("ArrayTaskId"), "4-6%2");
  EXPECT_EQ(words.at("ArrayTaskThrottle"), "2");
}

TEST(NodeRecord, SaysWhatIsTaken) {
  NodeView node;
  node.name = "n3";
  node.hostname = "n3";
  node.state = "MIXED+DRAIN";
  node.reason = "after this job";
  node.cores = 8;
  node.cpus = 8;
  node.cpus_taken = 2;
  node.memory = kMebibyte * 8000;
  node.memory_taken = kMebibyte * 200;
  node.weight = 1;
  node.features = {"new"};
  node.gres = {{"scratch", 4}};
  node.gres_taken = {{"scratch", 1}};
  node.machine.packages.resize(2);
  PolicyView partition;
  partition.name = "debug";
  const auto ours = WordsOf(NodeRecord(node, {partition}, {}));
  for (const auto& [key, value] :
       std::map<std::string, std::string>{{"NodeName", "n3"},
                                          {"CoresPerSocket", "4"},
                                          {"CPUAlloc", "2"},
                                          {"CPUTot", "8"},
                                          {"AvailableFeatures", "new"},
                                          {"ActiveFeatures", "new"},
                                          {"RealMemory", "8000"},
                                          {"AllocMem", "200"},
                                          {"Sockets", "2"},
                                          {"State", "MIXED+DRAIN"},
                                          {"ThreadsPerCore", "1"},
                                          {"Weight", "1"},
                                          {"Partitions", "debug"},
                                          {"Gres", "scratch:4"},
                                          {"CfgTRES", "cpu=8,mem=8000M,gres/scratch=4,billing=8"},
                                          {"AllocTRES", "cpu=2,mem=200M,gres/scratch=1"},
                                          {"Reason", "after_this_job"}}) {
    EXPECT_EQ(ours.at(key), value) << key;
  }
}

TEST(PartitionRecord, HasTheWordsOfSlurm) {
  PolicyView partition;
  partition.name = "gpu";
  partition.state = "UP";
  partition.properties = {{"Nodes", "n3"}, {"MaxTime", "04:00:00"}};
  NodeView node;
  node.name = "n3";
  node.cpus = 8;
  node.memory = kMebibyte * 8000;
  auto theirs = WordsOf(recorded::Of("scontrol", "scontrol show partition gpu").out);
  auto ours = WordsOf(PartitionRecord(partition, {node}, {}));
  theirs.erase("TRES");  // of a node with GPUs, and in another order
  ours.erase("TRES");
  EXPECT_EQ(ours, theirs);
  const std::string lines = PartitionRecord(partition, {node}, {});
  EXPECT_EQ(lines.substr(0, lines.find('\n')), "PartitionName=gpu");
}

TEST(ReservationRecord, NamesItsNodesAndUsers) {
  PolicyView reservation;
  reservation.name = "course";
  reservation.state = "INACTIVE";
  reservation.properties = {
      {"StartTime", "2031-01-01T00:00:00"}, {"Nodes", "n1"}, {"Users", "ada"}};
  const auto words = WordsOf(ReservationRecord(reservation, {}));
  EXPECT_EQ(words.at("ReservationName"), "course");
  EXPECT_EQ(words.at("Users"), "ada");
  EXPECT_EQ(words.at("Accounts"), "(null)");
}

TEST(LicenseRecord, CountsWhatIsFree) {
  EXPECT_EQ(LicenseRecord({"ansys", 4, 3}, {}),
            "LicenseName=ansys\n    Total=4 Used=3 Free=1 Reserved=0 Remote=no\n");
  EXPECT_EQ(LicenseRecord({"gone", 0, 2}, {.one_line = true}),
            "LicenseName=gone Total=0 Used=2 Free=0 Reserved=0 Remote=no\n")
      << "held by a job that began before it was taken out of the configuration";
}

PolicyView Object(const char* kind, const char* name, std::vector<Assignment> properties) {
  PolicyView object;
  object.kind = kind;
  object.name = name;
  object.properties = std::move(properties);
  object.jobs_submitted = 3;
  object.jobs_running = 2;
  object.held = "cpu=4,mem=1G";
  object.spent = "cpu=90,wall=45";
  return object;
}

TEST(AssociationPage, SetsWhatIsUsedBesideEachLimit) {
  const std::vector<PolicyView> objects = {
      Object("account", "physics", {{"GrpTRES", "cpu=8"}, {"GrpJobs", "5"}, {"Fairshare", "7"}}),
      Object("association", "physics/nobody_of_this_name", {{"MaxJobs", "1"}}),
      Object("qos", "gold", {{"GrpTRESMins", "cpu=100"}, {"MaxWall", "01:00:00"}})};
  const std::string page = AssociationPage(objects, "here", {}, {.one_line = true});
  for (const char* part :
       {"UserName=nobody_of_this_name() DefAccount=physics ",
        "ClusterName=here Account=physics UserName= ", "SharesRaw=7 ParentAccount=root ",
        "GrpJobs=5(2) GrpSubmitJobs=N(3) GrpWall=N(45) "
        "GrpTRES=cpu=8(4),mem=N(1G),node=N(0),gres/gpu=N(0) ",
        "Account=physics UserName=nobody_of_this_name() ", " MaxJobs=1 MaxSubmitJobs= MaxWall= ",
        "QOS=gold ", "GrpTRESMins=cpu=100(90),", "MaxWall=01:00:00 "}) {
    EXPECT_THAT(page, ::testing::HasSubstr(part));
  }
}

TEST(AssociationPage, LeavesOutWhatIsNotAskedFor) {
  const std::vector<PolicyView> objects = {Object("account", "physics", {}),
                                           Object("account", "biology", {}),
                                           Object("qos", "gold", {})};
  const std::string page =
      AssociationPage(objects, "here", {.accounts = {"biology"}, .parts = {"assoc", "users"}}, {});
  EXPECT_THAT(page, ::testing::HasSubstr("Account=biology"));
  EXPECT_THAT(page, ::testing::Not(::testing::HasSubstr("physics")));
  EXPECT_THAT(page, ::testing::Not(::testing::HasSubstr("QOS=gold")));
  EXPECT_THAT(page, ::testing::HasSubstr("No users currently cached in Slurm."));
}

TEST(Record, AnEmptyValueIsNull) {
  EXPECT_EQ(OneWord(""), "(null)");
  EXPECT_EQ(JoinRecord({"A=1", "B=2"}, false), "A=1\n   B=2\n\n");
  EXPECT_EQ(JoinRecord({"A=1", "B=2"}, true), "A=1 B=2\n");
}

}  // namespace
}  // namespace muster::cli::slurm
