// The documents of --json: what their readers look for is there, and says what it is.

#include "cli/slurm/document/job_document.h"

#include <gtest/gtest.h>

#include "cli/slurm/document/envelope.h"

namespace muster::cli::slurm {
namespace {

JobDetail Training() {
  JobDetail detail;
  JobView& job = detail.job;
  job.id = JobId(7);
  job.array_job_id = JobId(7);
  job.label = "7";
  job.name = "tr\"ain";
  job.user = "ada";
  job.account = "physics";
  job.partition = "main";
  job.state = "RUNNING";
  job.nodes = {"n1"};
  job.node_count = 1;
  job.cpus = 4;
  job.tasks = 4;
  job.memory = Bytes(std::uint64_t{4096} << 20U);
  job.start_time = Time(Duration(100'000));
  job.time_limit = std::chrono::hours(1);
  detail.work_dir = "/home/ada";
  detail.command = {"/home/ada/job.sh", "one"};
  detail.stdout_path = "/home/ada/out";
  return detail;
}

TEST(QueuedJob, HasWhatItsReadersLookFor) {
  const JobDetail detail = Training();
  NodeView node;
  node.name = "n1";
  HolderView holder;
  holder.job = JobId(7);
  holder.cpus = "0-3";
  holder.memory = detail.job.memory;
  node.holders = {holder};
  const std::vector<NodeView> nodes = {node};
  const Json job =
      QueuedJob(detail.job, &detail, {}, {.cluster = "gold", .now = kNoTime, .nodes = &nodes});
  EXPECT_EQ(job["job_id"], 7);
  EXPECT_EQ(job["job_state"], Json::array({"RUNNING"}));
  EXPECT_EQ(job["user_name"], "ada");
  EXPECT_EQ(job["command"], "/home/ada/job.sh");
  EXPECT_EQ(job["current_working_directory"], "/home/ada");
  EXPECT_EQ(job["start_time"], Json({{"set", true}, {"infinite", false}, {"number", 100}}));
  EXPECT_EQ(job["end_time"]["number"], 3700);
  EXPECT_EQ(job["time_limit"]["number"], 60);
  EXPECT_EQ(job["het_job_id"], Json({{"set", true}, {"infinite", false}, {"number", 0}}));
  EXPECT_EQ(job["threads_per_core"]["set"], false);
  const Json& resources = job["job_resources"]["nodes"];
  EXPECT_EQ(resources["count"], 1);
  EXPECT_EQ(resources["list"], "n1");
  EXPECT_EQ(resources["allocation"][0]["name"], "n1");
  EXPECT_EQ(resources["allocation"][0]["cpus"], Json({{"count", 4}, {"used", 4}}));
  EXPECT_EQ(resources["allocation"][0]["memory"]["allocated"], 4096);
}

TEST(QueuedJob, OfAJobThatWaitsNothingIsAllocated) {
  JobDetail detail = Training();
  detail.job.state = "PENDING";
  detail.job.nodes.clear();
  detail.job.start_time = kNoTime;
  detail.job.time_limit = Duration::max();
  const Json job = QueuedJob(detail.job, nullptr, {}, {});
  EXPECT_TRUE(job["job_resources"].is_null());
  EXPECT_EQ(job["start_time"]["set"], false);
  EXPECT_EQ(job["time_limit"]["infinite"], true);
  EXPECT_FALSE(job.contains("command"));
}

TEST(AccountedJob, HasItsStateInOneWord) {
  JobDetail detail = Training();
  detail.job.state = "COMPLETING";
  StepView step;
  step.step = StepId(1);
  step.state = "COMPLETED";
  step.nodes = "n1";
  detail.steps = {step};
  const Json job = AccountedJob(detail, {.cluster = "gold", .now = Time(Duration(200'000))});
  EXPECT_EQ(job["state"]["current"], "RUNNING");
  EXPECT_EQ(job["time"]["elapsed"], 100);
  EXPECT_EQ(job["steps"][0]["step"]["id"], "7.1");
  EXPECT_EQ(job["tres"]["allocated"][0],
            Json({{"type", "cpu"}, {"name", ""}, {"id", 1}, {"count", 4}}));
}

TEST(SlurmDocument, SaysWhichLayoutItHas) {
  const Json document = Json::parse(SlurmDocument("jobs", Json::array(), "gold"));
  EXPECT_EQ(document["meta"]["slurm"]["version"],
            Json({{"major", "24"}, {"minor", "05"}, {"micro", "8"}}));
  EXPECT_EQ(document["meta"]["slurm"]["release"], "24.05.8");
  EXPECT_TRUE(document["jobs"].empty());
  EXPECT_TRUE(document["errors"].empty());
}

TEST(SlurmExit, NamesTheSignal) {
  EXPECT_EQ(SlurmExit(3, 0)["return_code"]["number"], 3);
  EXPECT_EQ(SlurmExit(3, 0)["status"], Json::array({"ERROR"}));
  EXPECT_EQ(SlurmExit(0, 9)["signal"]["name"], "KILL");
}

TEST(WantsDocument, RefusesLayoutsThatAreNotWritten) {
  const auto read = [](const char* word) {
    return WantsDocument(*ReadWords(kDocumentRows, Operands::kAnywhere, {word}));
  };
  EXPECT_TRUE(read("--json").value());
  EXPECT_TRUE(read("--json=v0.0.41").value());
  EXPECT_FALSE(read("--json=v0.0.38").ok());
  EXPECT_FALSE(read("--yaml").ok());
}

}  // namespace
}  // namespace muster::cli::slurm
