// muster simulate and muster trace, as a user sees them.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/frame/progress_bar.h"
#include "tests/unit/cli/program.h"

namespace muster::cli {
namespace {

using ::testing::HasSubstr;

class Simulate : public ::testing::Test {
 protected:
  std::string Trace(const std::string& text) {
    const std::string path = directory_ / "log.swf";
    std::ofstream(path, std::ios::trunc) << text;
    return path;
  }

  TempDirectory directory_;
  const std::string two_jobs_ =
      "; MaxProcs: 4\n"
      "1 0 -1 10 3 -1 -1 3 20 -1 1 1 1 1 1 1 -1 -1\n"
      "2 5 -1 10 4 -1 -1 4 20 -1 1 1 1 1 1 1 -1 -1\n";
};

TEST_F(Simulate, WritesTheTableAndTheSummaryAndAuditsThem) {
  const std::string table = directory_ / "jobs.csv";
  const std::string summary = directory_ / "sum.json";
  const ProgramEnd again = RunMuster({"simulate", "--trace", Trace(two_jobs_), "--jobs-csv", table,
                                      "--summary-json", summary, "--audit", "--json"});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(again.out, ReadFile(summary).value());
  const nlohmann::json document = nlohmann::json::parse(again.out);
  EXPECT_EQ(document["complete"], true);
  EXPECT_EQ(document["max_waiting_time"], 5);
  EXPECT_EQ(document["makespan"], 20);
  EXPECT_EQ(document["audit"]["legal"], true);
  EXPECT_THAT(ReadFile(table).value(),
              HasSubstr("\n2,5,4,20,1,10,10,20,5,15,1.5,0-3,0,,head,20,\n"));
  EXPECT_EQ(RunMuster({"simulate", "--trace", Trace(two_jobs_), "--check", table}).code, 0);
}

TEST_F(Simulate, ADifferentScheduleIsARefusal) {
  const std::string other = directory_ / "other.csv";
  std::ofstream(other) << "job_id,starting_time\n1,0\n2,11\n";
  const ProgramEnd end = RunMuster({"simulate", "--trace", Trace(two_jobs_), "--check", other});
  EXPECT_EQ(end.code, 1);
  EXPECT_THAT(end.out, HasSubstr("job 2 starts at 10, there at 11"));
}

TEST_F(Simulate, SaysInOneLineWhatIsWrong) {
  EXPECT_EQ(RunMuster({"simulate"}).err,
            "muster simulate: --trace: name the workload: --trace FILE\n");
  const ProgramEnd policy = RunMuster({"simulate", "--trace", "x", "--policy", "best"});
  EXPECT_EQ(policy.code, 2);
  EXPECT_THAT(policy.err, HasSubstr("--policy: \"best\" is not a policy: one of fcfs, easy"));
  const ProgramEnd empty = RunMuster({"simulate", "--trace", Trace("")});
  EXPECT_EQ(empty.code, 1);
  EXPECT_THAT(empty.err, HasSubstr("the trace is empty"));
  const ProgramEnd unsized =
      RunMuster({"simulate", "--trace", Trace("; MaxNodes: 9\n" + two_jobs_.substr(14))});
  EXPECT_EQ(unsized.code, 1);
  EXPECT_THAT(unsized.err, HasSubstr("(MaxNodes is 9): say how many with --flat P"));
}

TEST_F(Simulate, AFailureLeavesNoTable) {
  const std::string table = directory_ / "jobs.csv";
  const ProgramEnd end =
      RunMuster({"simulate", "--trace", Trace(two_jobs_ + "broken\n"), "--jobs-csv", table});
  EXPECT_EQ(end.code, 1);
  EXPECT_THAT(end.err, HasSubstr("log.swf:4: "));
  EXPECT_FALSE(ReadFile(table).ok());
}

TEST_F(Simulate, ALogOutOfOrderIsSimulatedInOrder) {
  const std::string header = "; MaxProcs: 4\n";
  const std::string lines = two_jobs_.substr(header.size());
  const std::size_t second = lines.find('\n') + 1;
  const ProgramEnd sorted = RunMuster({"simulate", "--json", "--trace", Trace(two_jobs_)});
  const ProgramEnd unsorted =
      RunMuster({"simulate", "--json", "--trace",
                 Trace(header + lines.substr(second) + lines.substr(0, second))});
  EXPECT_EQ(nlohmann::json::parse(unsorted.out)["mean_waiting_time"],
            nlohmann::json::parse(sorted.out)["mean_waiting_time"]);
}

TEST_F(Simulate, ALogOutOfOrderIsComparedOnce) {
  const std::string lines =
      "1 0 -1 10 3 -1 -1 3 20 -1 1 1 1 1 1 1 -1 -1\n"
      "3 50 0 10 4 -1 -1 4 20 -1 1 1 1 1 1 1 -1 -1\n"
      "2 5 5 10 4 -1 -1 4 20 -1 1 1 1 1 1 1 -1 -1\n";
  const std::string trace = Trace("; MaxProcs: 4\n" + lines);
  const std::string table = directory_ / "jobs.csv";
  ASSERT_EQ(RunMuster({"simulate", "--trace", trace, "--jobs-csv", table}).code, 0);
  const ProgramEnd end = RunMuster({"simulate", "--json", "--trace", trace, "--check", table});
  EXPECT_EQ(nlohmann::json::parse(end.out)["check"]["compared"], 3);
}

TEST_F(Simulate, DrawsAPageThatFetchesNothing) {
  const std::string html = directory_ / "page.html";
  const std::string perfetto = directory_ / "trace.json";
  const std::string csv = directory_ / "in.csv";
  std::ofstream(csv) << "job_id,submit,run_time,requested,user\n1,0,10,2,</script><b>\n"
                        "2,0,10,2,bob\n3,1,5,4,bob\n";
  const ProgramEnd end = RunMuster(
      {"simulate", "--trace", csv, "--flat", "4", "--html", html, "--perfetto", perfetto});
  ASSERT_EQ(end.code, 0) << end.err;
  const std::string page = ReadFile(html).value();
  EXPECT_THAT(page, ::testing::Not(HasSubstr("</script><b>")));
  EXPECT_THAT(page, ::testing::Not(HasSubstr("http")));
  EXPECT_THAT(page, ::testing::Not(HasSubstr("src=")));
  EXPECT_THAT(page, ::testing::Not(HasSubstr("@DATA@")));
  const std::string mark = "type=\"application/json\">";
  const std::size_t begin = page.find(mark) + mark.size();
  const nlohmann::json data =
      nlohmann::json::parse(page.substr(begin, page.find("</script>", begin) - begin));
  EXPECT_EQ(data["job"], nlohmann::json({1, 2, 3}));
  EXPECT_EQ(data["wait"], nlohmann::json({0, 0, 9}));
  EXPECT_EQ(data["users"], nlohmann::json({"</script><b>", "bob"}));
  EXPECT_EQ(data["ranges"], nlohmann::json({"0-1", "2-3", "0-3"}));
  const nlohmann::json trace = nlohmann::json::parse(ReadFile(perfetto).value());
  std::int64_t work = 0;
  for (const nlohmann::json& event : trace["traceEvents"]) {
    work += event["ph"] == "X"
                ? event["dur"].get<std::int64_t>() * event["args"]["processors"].get<int>()
                : 0;
  }
  EXPECT_EQ(work, (20 + 20 + 20) * 1'000'000);
}

TEST_F(Simulate, AScheduleInSwfIsReadBackAsItIs) {
  const std::string swf = directory_ / "out.swf";
  ASSERT_EQ(RunMuster({"simulate", "--trace", Trace(two_jobs_), "--swf", swf}).code, 0);
  const ProgramEnd end = RunMuster({"simulate", "--trace", Trace(two_jobs_), "--check", swf});
  EXPECT_EQ(end.code, 0) << end.out;
  EXPECT_THAT(ReadFile(swf).value(), HasSubstr("\n2 5 5 10 4 -1 -1 4 20 -1 1 1 1 -1 -1 1 -1 -1"));
}

TEST_F(Simulate, TraceInfoDescribesALog) {
  const ProgramEnd end = RunMuster({"trace", "info", "--json", Trace(two_jobs_)});
  ASSERT_EQ(end.code, 0) << end.err;
  const nlohmann::json document = nlohmann::json::parse(end.out);
  EXPECT_EQ(document["jobs"], 2);
  EXPECT_EQ(document["header"]["max_procs"], 4);
  EXPECT_EQ(document["mean_share_of_requested_time"], 0.5);
  EXPECT_EQ(document["weeks"][0]["jobs"], 2);
}

TEST_F(Simulate, ReadsWhatOtherProgramsWrite) {
  const std::string sacct = MUSTER_FIXTURES "/traces/sacct.txt";
  const ProgramEnd end = RunMuster(
      {"simulate", "--json", "--audit", "--trace", sacct, "--flat", "8", "--unit", "gpus"});
  ASSERT_EQ(end.code, 0) << end.err;
  EXPECT_EQ(nlohmann::json::parse(end.out)["jobs"], 2);
  const std::string swf = directory_ / "out.swf";
  ASSERT_EQ(RunMuster({"trace", "convert", "--output", swf, "--flat", "64", sacct}).code, 0);
  EXPECT_THAT(ReadFile(swf).value(), HasSubstr("; MaxProcs: 64\n"));
  EXPECT_THAT(ReadFile(swf).value(), HasSubstr("\n100 60 5 3600 64 -1 -1 64 7200 -1 1 0 0 -1 0 0"));
  const ProgramEnd info = RunMuster({"trace", "info", swf});
  EXPECT_THAT(info.out, HasSubstr("Standard Workload Format\nmachine    64 processors\n"));
  EXPECT_THAT(RunMuster({"trace", "convert", sacct}).out, HasSubstr("\n101 0 660 1800 16 "));
}

TEST_F(Simulate, TraceSaysInOneLineWhatIsWrong) {
  EXPECT_EQ(RunMuster({"trace", "convert", "--json", "x"}).err,
            "muster trace: --json: muster trace convert does not take it: leave it out\n");
  EXPECT_EQ(RunMuster({"trace", "info"}).code, 2);
  EXPECT_EQ(RunMuster({"trace", "info", "--format", "best", "x"}).code, 2);
  const std::string table = directory_ / "table";
  std::ofstream(table) << "a,b\n1,2\n";
  const ProgramEnd end = RunMuster({"trace", "info", table});
  EXPECT_EQ(end.code, 1);
  EXPECT_THAT(end.err, HasSubstr("table:1: the format is not recognised"));
  EXPECT_THAT(RunMuster({"trace", "info", "--format", "sacct", table}).err,
              HasSubstr(":1: there is no column Submit"));
}

TEST_F(Simulate, GeneratesWhatItCanSimulate) {
  const std::string swf = directory_ / "model.swf";
  ASSERT_EQ(RunMuster({"trace", "generate", "--jobs", "300", "--flat", "64", "--load", "0.5",
                       "--output", swf})
                .code,
            0);
  EXPECT_EQ(RunMuster({"simulate", "--audit", "--trace", swf}).code, 0);
  const nlohmann::json info =
      nlohmann::json::parse(RunMuster({"trace", "info", "--json", swf}).out);
  EXPECT_EQ(info["jobs"], 300);
  EXPECT_NEAR(info["load"].get<double>(), 0.5, 0.05);
  const ProgramEnd mixed = RunMuster({"trace", "generate", "--jobs", "50", "--to", "csv", "--mix",
                                      MUSTER_FIXTURES "/traces/openb_pods.csv", "--flat", "64"});
  EXPECT_EQ(mixed.code, 0) << mixed.err;
  EXPECT_THAT(mixed.out, HasSubstr(",1000,-1,"));
  EXPECT_THAT(RunMuster({"trace", "generate", "--load", "nan"}).err, HasSubstr("is not a load"));
  EXPECT_EQ(RunMuster({"trace", "generate", "file"}).code, 2);
}

TEST_F(Simulate, AClusterOfNodesGoesThroughTheCodeThatSchedulesLive) {
  const std::string trace = Trace(two_jobs_);
  const ProgramEnd end = RunMuster({"simulate", "--trace", trace, "--nodes", "2", "--cpus-per-node",
                                    "2", "--gpus-per-node", "1", "--audit", "--json"});
  ASSERT_EQ(end.code, 0) << end.err;
  const nlohmann::json document = nlohmann::json::parse(end.out);
  EXPECT_EQ(document["policy"], "muster");
  EXPECT_EQ(document["nodes"], 2);
  EXPECT_EQ(document["processors"], 4);
  EXPECT_EQ(document["gpus"], 2);
  EXPECT_EQ(document["max_waiting_time"], 5);
  EXPECT_EQ(document["audit"]["legal"], true);
  const std::string file = directory_ / "cluster.toml";
  std::ofstream(file) << "[nodes.a]\ncount = 1\ncpus = 2\n[nodes.b]\ntopology = \"pack:2 core:1 "
                         "pu:1\"\n[policy]\nbackfill = \"easy\"\n[partition.p1]\ndefault = true\n";
  const ProgramEnd described =
      RunMuster({"simulate", "--trace", trace, "--cluster", file, "--json"});
  ASSERT_EQ(described.code, 0) << described.err;
  const nlohmann::json same = nlohmann::json::parse(described.out);
  EXPECT_EQ(same["backfill"], "easy");
  EXPECT_EQ(same["processors"], 4);
  EXPECT_EQ(same["max_waiting_time"], 5);
}

TEST_F(Simulate, AClusterThatCannotBeIsRefusedInOneLine) {
  const std::string trace = Trace(two_jobs_);
  const auto error = [&trace](std::vector<std::string> options) {
    options.insert(options.begin(), {"simulate", "--trace", trace});
    const ProgramEnd refused = RunMuster(options);
    EXPECT_NE(refused.code, 0);
    EXPECT_EQ(std::count(refused.err.begin(), refused.err.end(), '\n'), 1) << refused.err;
    return refused.err;
  };
  EXPECT_THAT(error({"--nodes", "2"}), HasSubstr("needs --nodes N and --cpus-per-node C"));
  EXPECT_THAT(error({"--nodes", "0", "--cpus-per-node", "1"}), HasSubstr("--nodes: "));
  EXPECT_THAT(error({"--nodes", "2", "--cpus-per-node", "1", "--flat", "3"}),
              HasSubstr("--flat: is for identical processors"));
  EXPECT_THAT(
      error({"--nodes", "2", "--cpus-per-node", "1", "--policy", "sjf"}),
      HasSubstr("one of muster, prompt, fairshare, fcfs, none, easy, conservative, hybrid"));
  const std::string file = directory_ / "cluster.toml";
  std::ofstream(file) << "[nodes.a]\ncpus = -2\n";
  EXPECT_THAT(error({"--cluster", file}), HasSubstr("cluster.toml:2: nodes.a.cpus"));
  std::ofstream(file, std::ios::trunc) << "[nodes.a]\ncount = 2\n";
  EXPECT_THAT(error({"--cluster", file}), HasSubstr("cluster.toml:1: nodes.a: say cpus = N"));
  std::ofstream(file, std::ios::trunc) << "[partition.x]\n";
  EXPECT_THAT(error({"--cluster", file}), HasSubstr("no nodes: write [nodes.NAME]"));
  std::ofstream(file, std::ios::trunc) << "[nodes.a]\ncpus = 2\n[partition.x]\nqos = \"no\"\n";
  EXPECT_THAT(error({"--cluster", file}), HasSubstr("cluster.toml:4: "));
}

TEST_F(Simulate, NodesFailAsALogSaysAndJobsGoOnFromTheirCheckpoints) {
  const std::string log = directory_ / "failures.csv";
  const std::string table = directory_ / "jobs.csv";
  std::ofstream(log) << "time,node,repair\n8,n1,12\n";
  const ProgramEnd end = RunMuster(
      {"simulate", "--trace", Trace("1 0 -1 10 4 -1 -1 4 20 -1 1 1 1 1 1 1 -1 -1\n"), "--nodes",
       "1", "--cpus-per-node", "4", "--failures", "log=" + log, "--job-checkpoints",
       "interval=4s,cost=1s,restart=2s", "--jobs-csv", table, "--audit", "--json"});
  ASSERT_EQ(end.code, 0) << end.err;
  const nlohmann::json document = nlohmann::json::parse(end.out);
  EXPECT_EQ(document["failures"], 1);
  EXPECT_EQ(document["jobs_hit"], 1);
  EXPECT_EQ(document["audit"]["legal"], true);
  EXPECT_EQ(document["audit"]["restarts"], 1);
  // Held: 8 s, then 2 s of restart, 6 of work and 1 of a checkpoint.
  EXPECT_DOUBLE_EQ(document["effective_time_ratio"], 10.0 / 17);
  EXPECT_DOUBLE_EQ(document["lost_core_hours"], 4 * 3 / 3600.0);
  EXPECT_TRUE(document["definitions"].contains("effective_time_ratio"));
  EXPECT_THAT(ReadFile(table).value(), HasSubstr(",0-3,0,1,head,,0-8:0-3\n"));
}

TEST_F(Simulate, FailuresAreTheSeedsWhetherAFileOrAnOptionSaysThem) {
  std::string jobs;
  for (int id = 1; id <= 40; ++id) {
    jobs += std::to_string(id) + " " + std::to_string(id * 50) +
            " -1 900 2 -1 -1 2 1000 -1 1 1 1 1 1 1 -1 -1\n";
  }
  const std::string trace = Trace(jobs);
  const std::string file = directory_ / "cluster.toml";
  std::ofstream(file)
      << "failure_seed = 3\njob_checkpoints = \"interval=auto,cost=5s\"\n[nodes.n]\n"
         "count = 3\ncpus = 2\nfailures = \"mtbf=2h,shape=0.7,repair-mean=5m\"\n";
  const auto failures = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words = {"simulate", "--json", "--audit", "--trace", trace};
    words.insert(words.end(), more.begin(), more.end());
    const ProgramEnd end = RunMuster(words);
    EXPECT_EQ(end.code, 0) << end.err;
    const nlohmann::json document = nlohmann::json::parse(end.out);
    return document["state_hash"].get<std::string>() + " " + document["failures"].dump() + " " +
           document["makespan"].dump();
  };
  const std::vector<std::string> options = {"--nodes",
                                            "3",
                                            "--cpus-per-node",
                                            "2",
                                            "--failures",
                                            "mtbf=2h,shape=0.7,repair-mean=5m",
                                            "--job-checkpoints",
                                            "interval=auto,cost=5s",
                                            "--seed"};
  const auto with_seed = [&](const std::string& seed) {
    std::vector<std::string> words = options;
    words.push_back(seed);
    return failures(words);
  };
  EXPECT_EQ(failures({"--cluster", file}), with_seed("3"));
  EXPECT_EQ(with_seed("3"), with_seed("3"));
  EXPECT_NE(with_seed("3"), with_seed("4"));
  EXPECT_EQ(failures({"--cluster", file, "--seed", "4"}), with_seed("4"));
}

TEST_F(Simulate, SaysWhatIsWrongWithFailures) {
  const std::string trace = Trace(two_jobs_);
  const auto error = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words = {"simulate", "--trace",         trace, "--nodes",
                                      "2",        "--cpus-per-node", "4"};
    words.insert(words.end(), more.begin(), more.end());
    const ProgramEnd end = RunMuster(words);
    EXPECT_NE(end.code, 0);
    EXPECT_EQ(end.out, "");
    EXPECT_EQ(std::count(end.err.begin(), end.err.end(), '\n'), 1);
    return end.err;
  };
  EXPECT_THAT(error({"--failures", "repair=4h"}), HasSubstr("--failures: say how often one node"));
  EXPECT_THAT(error({"--failures", "mtbf=1d,shape=nan"}), HasSubstr("--failures: shape: \"nan\""));
  EXPECT_THAT(error({"--failures", "mtbf=1d,mtbf=2d"}), HasSubstr("mtbf is there twice"));
  EXPECT_THAT(error({"--failures", "mtbf=1d,often=2"}), HasSubstr("\"often=2\" is not NAME=VALUE"));
  EXPECT_THAT(error({"--failures", "mtbf=1d,repair=1h,repair-mean=1h"}), HasSubstr("one of them"));
  EXPECT_THAT(error({"--failures", "log=/nowhere"}), HasSubstr("--failures: /nowhere"));
  EXPECT_THAT(error({"--job-checkpoints", "cost=1s"}), HasSubstr("say how often"));
  EXPECT_THAT(error({"--job-checkpoints", "interval=auto"}), HasSubstr("needs the cost"));
  EXPECT_THAT(error({"--job-checkpoints", "interval=auto,cost=1s"}), HasSubstr("add --failures"));
  EXPECT_THAT(error({"--seed", "-1"}), HasSubstr("--seed: \"-1\" is not a whole number"));
  EXPECT_THAT(RunMuster({"simulate", "--trace", trace, "--failures", "mtbf=1d"}).err,
              HasSubstr("--failures: only the nodes of a cluster fail"));
  const std::string file = directory_ / "cluster.toml";
  std::ofstream(file) << "[nodes.a]\ncpus = 2\nfailures = \"mtbf=x\"\n";
  EXPECT_THAT(RunMuster({"simulate", "--trace", trace, "--cluster", file}).err,
              HasSubstr("cluster.toml:3: nodes.a.failures"));
}

TEST_F(Simulate, TellsTheEnergyOfNodesThatAreSwitchedOffAndTheWaitsForTheirBoots) {
  const std::string trace = Trace(
      "1 0 -1 100 1 -1 -1 1 100 -1 1 1 1 1 1 1 -1 -1\n"
      "2 5000 -1 100 1 -1 -1 1 100 -1 1 1 1 1 1 1 -1 -1\n");
  const std::vector<std::string> words = {
      "simulate",
      "--trace",
      trace,
      "--nodes",
      "1",
      "--cpus-per-node",
      "1",
      "--power",
      "idle=10m,suspend=30s,boot=2m,busy-watts=300,idle-watts=100,off-watts=10",
      "--json"};
  const ProgramEnd end = RunMuster(words);
  ASSERT_EQ(end.code, 0) << end.err;
  const nlohmann::json document = nlohmann::json::parse(end.out);
  EXPECT_NEAR(document["energy_kwh"].get<double>(), 207'700 / 3.6e6, 1e-9);
  EXPECT_NEAR(document["energy_always_on_kwh"].get<double>(), 562'000 / 3.6e6, 1e-9);
  EXPECT_EQ(document["switched_off"], 1);
  EXPECT_EQ(document["boot_waits"], 1);
  EXPECT_EQ(document["mean_boot_wait"], 120);
  EXPECT_EQ(document["max_boot_wait"], 120);
  EXPECT_EQ(RunMuster(words).out, end.out);
  const ProgramEnd plain =
      RunMuster({"simulate", "--trace", trace, "--nodes", "1", "--cpus-per-node", "1", "--json"});
  EXPECT_FALSE(nlohmann::json::parse(plain.out).contains("energy_kwh"));
}

// Under fcfs no waiting job has a place in the plan: the second job's node was off, and is asked
// for all the same.
TEST_F(Simulate, SwitchesNodesOnForJobsWithoutAPlaceInThePlan) {
  const std::string trace = Trace(
      "1 0 -1 60 1 -1 -1 1 60 -1 1 1 1 1 1 1 -1 -1\n"
      "2 3600 -1 60 1 -1 -1 1 60 -1 1 1 1 1 1 1 -1 -1\n");
  const ProgramEnd end = RunMuster(
      {"simulate", "--trace", trace, "--nodes", "1", "--cpus-per-node", "1", "--policy", "fcfs",
       "--power", "idle=10m,suspend=30s,boot=2m,busy-watts=300,idle-watts=100,off-watts=10",
       "--json"});
  ASSERT_EQ(end.code, 0) << end.err;
  const nlohmann::json document = nlohmann::json::parse(end.out);
  EXPECT_EQ(document["switched_off"], 1);
  EXPECT_EQ(document["boot_waits"], 1);
  EXPECT_EQ(document["max_waiting_time"], 120);
}

TEST_F(Simulate, SaysWhatIsWrongWithPower) {
  const std::string trace = Trace(two_jobs_);
  const std::string watts = ",busy-watts=300,idle-watts=100,off-watts=10";
  const auto error = [&](const std::string& power) {
    const ProgramEnd end =
        RunMuster({"simulate", "--trace", trace, "--nodes", "2", "--cpus-per-node", "4", "--policy",
                   "easy", "--power", power});
    EXPECT_NE(end.code, 0);
    EXPECT_EQ(end.out, "");
    EXPECT_EQ(std::count(end.err.begin(), end.err.end(), '\n'), 1);
    return end.err;
  };
  EXPECT_THAT(error("boot=2m" + watts), HasSubstr("--power: say how long a node is idle"));
  EXPECT_THAT(error("idle=0s" + watts), HasSubstr("idle=10m"));
  EXPECT_THAT(error("idle=10m,busy-watts=300"), HasSubstr("idle-watts=N is missing"));
  EXPECT_THAT(error("idle=soon" + watts), HasSubstr("--power: idle: "));
  EXPECT_THAT(error("idle=10m,suspend=0s" + watts), HasSubstr("takes a while to shut down"));
  EXPECT_THAT(error("idle=10m,keep-on=-1" + watts), HasSubstr("keep-on: \"-1\" is not a whole"));
  EXPECT_THAT(error("idle=10m,sleep=1m" + watts), HasSubstr("\"sleep=1m\" is not NAME=VALUE"));
  EXPECT_THAT(error("idle=10m,busy-watts=90,idle-watts=100,off-watts=10"),
              HasSubstr("a busy node takes at least what an idle one does"));
  EXPECT_THAT(RunMuster({"simulate", "--trace", trace, "--power", "idle=10m" + watts}).err,
              HasSubstr("--power: only the nodes of a cluster are switched off"));
}

// The signal waits for the program from its first instruction on, so that nothing hangs on time.
int RunInterrupted(const std::vector<std::string>& words, const std::string& out) {
  const pid_t pid = fork();
  if (pid == 0) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigprocmask(SIG_BLOCK, &set, nullptr);
    raise(SIGINT);
    const int file = open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(file, 1);
    dup2(file, 2);
    std::vector<char*> arguments;
    for (const std::string& word : words) {
      arguments.push_back(const_cast<char*>(word.c_str()));
    }
    arguments.push_back(nullptr);
    execv(MUSTER_BINARY, arguments.data());
    _exit(127);
  }
  int status = 0;
  EXPECT_EQ(waitpid(pid, &status, 0), pid);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(Simulate, WhatASignalStoppedIsPartialAndSaysSoEverywhere) {
  std::string jobs;
  for (int id = 1; id <= 9000; ++id) {
    jobs += std::to_string(id) + " " + std::to_string(id * 10) +
            " -1 5 1 -1 -1 1 20 -1 1 1 1 1 1 1 -1 -1\n";
  }
  const std::string trace = Trace(jobs);
  for (const std::vector<std::string>& machine :
       {std::vector<std::string>{"--flat", "4"},
        {"--nodes", "2", "--cpus-per-node", "2", "--failures", "mtbf=1h"}}) {
    const std::string table = directory_ / "jobs.csv";
    const std::string summary = directory_ / "sum.json";
    const std::string html = directory_ / "page.html";
    std::vector<std::string> words = {"muster",     "simulate", "--trace",        trace,
                                      "--jobs-csv", table,      "--summary-json", summary,
                                      "--html",     html,       "--audit"};
    words.insert(words.end(), machine.begin(), machine.end());
    EXPECT_EQ(RunInterrupted(words, directory_ / "out"), 130);
    const std::string out = ReadFile(directory_ / "out").value();
    EXPECT_THAT(out, HasSubstr("PARTIAL: stopped at "));
    EXPECT_THAT(out, HasSubstr("audit     legal: "));
    EXPECT_THAT(out, HasSubstr("stopped by a signal: the results are partial and say so"));
    EXPECT_THAT(ReadFile(table).value(), HasSubstr("\n# partial: stopped at "));
    EXPECT_THAT(ReadFile(html).value(), HasSubstr("PARTIAL: stopped at "));
    const nlohmann::json document = nlohmann::json::parse(ReadFile(summary).value());
    EXPECT_EQ(document["complete"], false);
    EXPECT_LT(document["ended"], 9000);
  }
}

TEST_F(Simulate, WhatASignalStoppedGoesOnToTheResultsOfAnUndisturbedRun) {
  std::string jobs;
  for (int id = 1; id <= 6000; ++id) {
    jobs += std::to_string(id) + " " + std::to_string(id * 2) + " -1 " +
            std::to_string(1 + id * 7 % 11) + " 1 -1 -1 1 20 -1 1 1 1 1 1 1 -1 -1\n";
  }
  const std::string trace = Trace(jobs);
  const std::string table = directory_ / "jobs.csv";
  for (const std::vector<std::string>& machine :
       {std::vector<std::string>{"--flat", "4", "--policy", "conservative"},
        {"--nodes", "2", "--cpus-per-node", "2", "--failures", "mtbf=1h"}}) {
    std::vector<std::string> words = {"simulate", "--trace", trace, "--jobs-csv", table};
    words.insert(words.end(), machine.begin(), machine.end());
    const ProgramEnd undisturbed = RunMuster(words);
    ASSERT_EQ(undisturbed.code, 0) << undisturbed.err;
    const std::string expected = ReadFile(table).value();
    const std::string log = directory_ / "decisions";
    std::filesystem::remove(log);
    std::vector<std::string> stopped = words;
    stopped.insert(stopped.begin(), "muster");
    stopped.insert(stopped.end(), {"--checkpoint", log});
    EXPECT_EQ(RunInterrupted(stopped, directory_ / "out"), 130);
    EXPECT_THAT(ReadFile(directory_ / "out").value(), HasSubstr("go on with --resume " + log));
    EXPECT_NE(ReadFile(table).value(), expected);
    words.insert(words.end(), {"--resume", log});
    const ProgramEnd resumed = RunMuster(words);
    EXPECT_EQ(resumed.code, 0) << resumed.err;
    EXPECT_EQ(resumed.out, undisturbed.out);
    EXPECT_EQ(ReadFile(table).value(), expected);
  }
}

TEST_F(Simulate, ALogOfDecisionsIsForTheSimulationThatWroteIt) {
  const std::string log = directory_ / "decisions";
  const std::string trace = Trace(two_jobs_);
  ASSERT_EQ(RunMuster({"simulate", "--trace", trace, "--checkpoint", log}).code, 0);
  const ProgramEnd again = RunMuster({"simulate", "--trace", trace, "--checkpoint", log});
  EXPECT_EQ(again.code, 1);
  EXPECT_THAT(again.err, HasSubstr("is there already: go on from it with --resume"));
  EXPECT_EQ(RunMuster({"simulate", "--trace", trace, "--resume", log, "--json"}).code, 0)
      << "where results go does not matter";
  const ProgramEnd other =
      RunMuster({"simulate", "--trace", trace, "--policy", "fcfs", "--resume", log});
  EXPECT_EQ(other.code, 1);
  EXPECT_THAT(other.err, HasSubstr("is of another simulation"));
  const ProgramEnd both =
      RunMuster({"simulate", "--trace", trace, "--checkpoint", log, "--resume", log});
  EXPECT_EQ(both.code, 2);
  EXPECT_THAT(both.err, HasSubstr("--checkpoint: --resume goes on writing its own file"));
  Trace(two_jobs_ + "\n");
  EXPECT_THAT(RunMuster({"simulate", "--trace", trace, "--resume", log}).err,
              HasSubstr("is of another simulation"));
}

TEST_F(Simulate, AClustersSummaryHasFragmentationAndTheLargestJob) {
  const std::string html = directory_ / "page.html";
  const ProgramEnd end =
      RunMuster({"simulate", "--trace", Trace("1 0 -1 10 3 -1 -1 3 20 -1 1 1 1 1 1 1 -1 -1\n"),
                 "--nodes", "2", "--cpus-per-node", "4", "--html", html, "--json"});
  ASSERT_EQ(end.code, 0) << end.err;
  const nlohmann::json document = nlohmann::json::parse(end.out);
  EXPECT_EQ(document["mean_largest_job"], 4.0);
  EXPECT_EQ(document["fragmentation"], 0.0);
  EXPECT_FALSE(document.contains("gpu_fragmentation"));
  EXPECT_THAT(ReadFile(html).value(), HasSubstr("\"what\":\"hardware threads\""));
}

TEST_F(Simulate, WhatifSaysWhoGains) {
  const std::string trace = Trace(two_jobs_);
  const ProgramEnd end = RunMuster({"whatif", "--json", "--trace", trace, "--change", "nodes+=4",
                                    "--change", "policy=fcfs,processors=4"});
  ASSERT_EQ(end.code, 0) << end.err;
  const nlohmann::json document = nlohmann::json::parse(end.out);
  ASSERT_EQ(document["variants"].size(), 3U);
  EXPECT_EQ(document["variants"][0]["processors"], 4);
  EXPECT_EQ(document["variants"][1]["processors"], 8);
  EXPECT_EQ(document["variants"][1]["overall"]["waiting_time_difference"]["mean"], -2.5);
  EXPECT_EQ(document["variants"][2]["overall"]["waiting_time_difference"]["mean"], 0);
  EXPECT_EQ(document["variants"][1]["by_user"][0]["user"], "1");
}

TEST_F(Simulate, WhatifReadsItsBaseAndRefusesWhatIsNoSetting) {
  const std::string trace = Trace(two_jobs_);
  const std::string base = directory_ / "base.toml";
  std::ofstream(base) << "nodes = 2\ncpus_per_node = 4\npolicy = \"conservative\"\n";
  const ProgramEnd end = RunMuster(
      {"whatif", "--json", "--trace", trace, "--base", base, "--change", "cpus_per_node-=2"});
  ASSERT_EQ(end.code, 0) << end.err;
  const nlohmann::json document = nlohmann::json::parse(end.out);
  EXPECT_EQ(document["variants"][0]["processors"], 8);
  EXPECT_EQ(document["variants"][1]["processors"], 4);
  const auto error = [&trace](const std::string& change) {
    const ProgramEnd refused = RunMuster({"whatif", "--trace", trace, "--change", change});
    EXPECT_EQ(refused.code, 2) << change;
    return refused.err;
  };
  EXPECT_THAT(error("node+=1"),
              HasSubstr("\"node\" is not a setting that is a number: processors, nodes, "
                        "cpus_per_node\n"));
  EXPECT_THAT(error("node=1"), HasSubstr("\"node\" is not a setting: processors, nodes, "
                                         "cpus_per_node, policy, backfill, backfill_order"));
  EXPECT_THAT(error("policy=best"), HasSubstr("\"best\" is not a policy"));
  EXPECT_THAT(error("nodes-=4"), HasSubstr("gives none"));
  EXPECT_THAT(error("nodes*=1000000000"), HasSubstr("more than 1000000000"));
  EXPECT_THAT(error("policy+=1"), HasSubstr("is not a setting that is a number"));
  std::ofstream(base, std::ios::trunc) << "nodes = 2\nnode = 3\n";
  EXPECT_THAT(RunMuster({"whatif", "--trace", trace, "--base", base, "--change", "nodes=1"}).err,
              HasSubstr("base.toml:2: "));
}

TEST(ProgressLine, SaysHowFarAndHowFast) {
  EXPECT_EQ(ProgressLine("simulate", "jobs", 0.5, 400'000, 2),
            "simulate  [##########..........]  50 %, 400000 jobs, 200000 jobs/s, 2 s left");
  EXPECT_EQ(ProgressLine("simulate", "jobs", -1, 400'000, 2),
            "simulate  400000 jobs, 200000 jobs/s");
}

}  // namespace
}  // namespace muster::cli
