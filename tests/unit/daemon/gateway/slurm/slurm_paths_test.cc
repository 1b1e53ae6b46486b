// slurmrestd's calls: which path asks what, and what it answers.
#include "daemon/gateway/slurm/slurm_paths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/gateway/slurm/slurm_cluster.h"
#include "daemon/gateway/slurm/slurm_door.h"
#include "daemon/gateway/slurm/slurm_jobs.h"
#include "daemon/gateway/slurm/slurm_submit.h"
#include "daemon/gateway/slurm/slurm_values.h"

namespace muster::daemon::slurm {
namespace {

using ::testing::HasSubstr;

http::Request Head(const std::string& method, const std::string& path, http::Pairs query = {},
                   std::string body = "") {
  return {method, path, std::move(query), "token", "application/json", "", "", std::move(body)};
}

std::string AllowedOf(const std::string& method, const std::string& path) {
  const absl::Status status = CheckSlurmPath(Head(method, path));
  return absl::IsFailedPrecondition(status) ? std::string(status.message())
         : status.ok()                      ? "ok"
                                            : "none";
}

TEST(SlurmPathsTest, APathIsWhatItIsAndTakesItsMethodsAlone) {
  EXPECT_EQ(AllowedOf("GET", "/slurm/v0.0.40/jobs"), "ok");
  EXPECT_EQ(AllowedOf("GET", "/slurm/v0.0.40/jobs/"), "ok") << "clients add it";
  EXPECT_EQ(AllowedOf("GET", "/slurm/v0.0.40/job/7"), "ok");
  EXPECT_EQ(AllowedOf("DELETE", "/slurm/v0.0.40/job/7"), "ok");
  EXPECT_EQ(AllowedOf("POST", "/slurm/v0.0.40/job/submit"), "ok");
  EXPECT_EQ(AllowedOf("GET", "/slurm/v0.0.40/job/submit"), "POST");
  EXPECT_EQ(AllowedOf("DELETE", "/slurm/v0.0.40/job/submit"), "POST");
  EXPECT_EQ(AllowedOf("POST", "/slurm/v0.0.40/jobs"), "GET");
  EXPECT_EQ(AllowedOf("POST", "/slurm/v0.0.40/job/7"), "GET, DELETE");
  for (const char* path : {"/slurm/v0.0.39/jobs", "/slurm/v0.0.40/", "/slurm/v0.0.40/job/",
                           "/slurm/v0.0.40/job/7/8", "/slurmdb/v0.0.40/nodes", "/slurm/jobs"}) {
    EXPECT_EQ(AllowedOf("GET", path), "none") << path;
  }
  EXPECT_FALSE(IsSlurmPath("/slurmx/v0.0.40/jobs"));
}

TEST(SlurmPathsTest, ACallThatChangesSomethingNamesItsJob) {
  const auto methods = [](const http::Request& request) {
    std::string names;
    const absl::StatusOr<SlurmCall> call = ReadSlurmCall(request);
    for (std::size_t i = 0; call.ok() && i < call->questions.size(); ++i) {
      names += call->questions[i].method + std::string(" ");
    }
    return call.ok() ? names : std::string(call.status().message());
  };
  EXPECT_EQ(methods(Head("DELETE", "/slurm/v0.0.40/job/7")), "Cancel ");
  EXPECT_EQ(methods(Head("DELETE", "/slurm/v0.0.40/job/7", {{"signal", "KILL"}})), "Cancel ");
  EXPECT_EQ(methods(Head("DELETE", "/slurm/v0.0.40/job/7", {{"signal", "SIGUSR1"}})), "Signal ");
  EXPECT_EQ(methods(Head("DELETE", "/slurm/v0.0.40/job/7", {{"signal", "10"}})), "Signal ");
  EXPECT_THAT(methods(Head("DELETE", "/slurm/v0.0.40/job/7", {{"signal", "LOUD"}})),
              HasSubstr("is none"));
  EXPECT_THAT(methods(Head("DELETE", "/slurm/v0.0.40/job/all")), HasSubstr("not a job's id"));
  EXPECT_EQ(methods(Head("GET", "/slurm/v0.0.40/nodes")), "ListNodes ListPolicy ");
}

// As Slurm's own documentation shows a request.
TEST(SlurmSubmitTest, ARequestBecomesASubmission) {
  const absl::StatusOr<wire::SubmitRequest> read = ReadSubmission(R"({
    "job": {"partition": "main", "tasks": 1, "name": "test", "nodes": "1-2", "cpus_per_task": 2,
            "current_working_directory": "/tmp/", "environment": ["PATH=/bin", "A=b=c"],
            "memory_per_node": {"number": 2048, "set": true, "infinite": false},
            "time_limit": {"number": 60, "set": true}, "tres_per_node": "gres/gpu:a100:2",
            "array": "0-9:3,12%2", "hold": true, "argv": ["one", "two"], "memory_per_cpu": {"set": false}},
    "script": "#!/bin/bash\nsrun hostname"})");
  ASSERT_TRUE(read.ok()) << read.status();
  const wire::JobSpec& spec = read->spec();
  EXPECT_EQ(spec.name(), "test");
  EXPECT_EQ(spec.partition(), "main");
  EXPECT_EQ(spec.time_limit(), 3'600'000);
  EXPECT_TRUE(spec.held());
  EXPECT_EQ(spec.request().min_nodes(), 1U);
  EXPECT_EQ(spec.request().max_nodes(), 2U);
  EXPECT_EQ(spec.request().memory_per_node(), std::uint64_t{2} << 30);
  EXPECT_EQ(spec.request().memory_per_cpu(), 0U);
  EXPECT_EQ(spec.request().gpus_per_node().count(), 2U);
  EXPECT_EQ(spec.request().gpus_per_node().type(), "a100");
  ASSERT_EQ(spec.array().ranges_size(), 2);
  EXPECT_EQ(spec.array().ranges(0).step(), 3U);
  EXPECT_EQ(spec.array().max_running(), 2U);
  EXPECT_EQ(read->program().script(), "#!/bin/bash\nsrun hostname");
  EXPECT_EQ(read->program().environment(1), "A=b=c");
  EXPECT_EQ(read->program().argv_size(), 2);
  EXPECT_EQ(read->program().stdout_path(), "slurm-%A_%a.out");
}

TEST(SlurmSubmitTest, WhatIsNotDoneIsRefusedByName) {
  const auto why = [](const std::string& fields) {
    const absl::StatusOr<wire::SubmitRequest> read =
        ReadSubmission(R"({"script":"#!/bin/sh\n","job":{"current_working_directory":"/",)"
                       R"("environment":["PATH=/bin"],)" +
                       fields + "}}");
    return std::string(read.status().message());
  };
  EXPECT_EQ(why(R"("tasks":2)"), "");
  EXPECT_THAT(why(R"("burst_buffer":"x")"), HasSubstr("job.burst_buffer: not taken"));
  EXPECT_THAT(why(R"("tasks":"many")"), HasSubstr("job.tasks: a whole number"));
  EXPECT_THAT(why(R"("tasks":-1)"), HasSubstr("job.tasks"));
  EXPECT_THAT(why(R"("tasks":99999999999)"), HasSubstr("job.tasks: too large"));
  EXPECT_THAT(why(R"("time_limit":{"infinite":true,"set":true})"), HasSubstr("job.time_limit"));
  EXPECT_THAT(why(R"("array":"9-1")"), HasSubstr("job.array"));
  EXPECT_THAT(why(R"("tres_per_node":"gres/fpga:2")"), HasSubstr("GPUs alone"));
  EXPECT_THAT(why(R"("environment":["=x"])"), HasSubstr("job.environment"));
  for (const char* body : {"", "[]", "{}", R"({"job":[]})", R"({"script":"#!/bin/sh","job":{}})",
                           R"({"job":{"current_working_directory":"/","environment":["A=b"]}})"}) {
    EXPECT_FALSE(ReadSubmission(body).ok()) << body;
  }
}

TEST(SlurmDocumentsTest, AJobHasTheShapesOfItsVersion) {
  wire::JobView job;
  job.set_id(7);
  job.set_name("train");
  job.set_state("RUNNING");
  job.add_nodes("n1");
  job.add_nodes("n2");
  job.set_cpus(8);
  job.set_start_time(5'000);
  job.set_time_limit(90'000);
  const Json queued = QueuedJob(job, nullptr);
  EXPECT_EQ(queued.at("job_id"), 7);
  EXPECT_EQ(queued.at("job_state"), Json::array({"RUNNING"}));
  EXPECT_EQ(queued.at("cpus"), (Json{{"set", true}, {"infinite", false}, {"number", 8}}));
  EXPECT_EQ(queued.at("time_limit").at("number"), 2) << "minutes, rounded up";
  EXPECT_EQ(queued.at("end_time").at("number"), 95);
  EXPECT_EQ(queued.at("nodes"), "n[1-2]");
  EXPECT_EQ(queued.at("job_resources").at("allocated_hosts"), 2);
  EXPECT_FALSE(queued.at("array_task_id").at("set").get<bool>());
  job.set_state("FAILED");
  job.set_end_time(10'000);
  job.set_exit_code(3);
  const Json ended = AccountedJob(job, nullptr);
  EXPECT_EQ(ended.at("state").at("current"), Json::array({"FAILED"}));
  EXPECT_EQ(ended.at("exit_code").at("return_code").at("number"), 3);
  EXPECT_EQ(ended.at("time").at("elapsed"), 5);
  EXPECT_EQ(QueuedJob(job, nullptr).at("job_resources"), Json::object());
}

TEST(SlurmDocumentsTest, NodesArePartitionsMembers) {
  wire::ListNodesReply nodes;
  wire::NodeView& node = *nodes.add_nodes();
  node.set_name("n1");
  node.set_state("DOWN+DRAIN");
  node.set_cpus(8);
  node.set_cores(4);
  nodes.add_nodes()->set_name("other");
  wire::ListPolicyReply policy;
  wire::PolicyView& partition = *policy.add_objects();
  partition.set_kind("partition");
  partition.set_name("gpu");
  wire::Assignment& said = *partition.add_properties();
  said.set_key("Nodes");
  said.set_value("n[1-4]");
  const Json shown = NodeEntry(node, policy.objects());
  EXPECT_EQ(shown.at("state"), (Json{"DOWN", "DRAIN", "NOT_RESPONDING"}));
  EXPECT_EQ(shown.at("partitions"), Json::array({"gpu"}));
  EXPECT_EQ(shown.at("threads"), 2);
  const Json entry = PartitionEntry(partition, nodes.nodes());
  EXPECT_EQ(entry.at("nodes").at("total"), 1);
  EXPECT_EQ(entry.at("cpus").at("total"), 8);
  EXPECT_TRUE(entry.at("maximums").at("time").at("infinite").get<bool>());
}

TEST(SlurmDocumentsTest, EveryAnswerSaysWhoseItIsAndWhatWentWrong) {
  const Json fine = Answer(Json{{"jobs", Json::array()}});
  EXPECT_EQ(fine.at("meta").at("plugin").at("data_parser"), "data_parser/v0.0.40");
  EXPECT_TRUE(fine.at("errors").empty());
  EXPECT_EQ(ErrorAnswer("/slurm/v0.0.40/job/7", "no such job").at("errors")[0].at("error"),
            "no such job");
}

TEST(SlurmDoorTest, ARequestThatIsNoneIsAnsweredWithoutACall) {
  class Kept final : public http::ReplyPath {
   public:
    explicit Kept(http::Response& kept) : kept_(kept) {}
    void Send(http::Response response) override { kept_ = std::move(response); }
    void BeginStream(http::Response /*head*/) override {}
    void Write(Piece /*piece*/, std::function<void(bool)> /*done*/) override {}
    void End() override {}

   private:
    http::Response& kept_;
  };
  const auto link = ControllerLink::Open("unix:/there/is/none", "").value();
  http::Response response;
  ServeSlurm(*link, Head("GET", "/slurm/v0.0.40/job/x"), "token", std::make_shared<Kept>(response),
             [](const grpc::Status&) { return 500U; });
  EXPECT_EQ(response.status, 400U);
  EXPECT_THAT(response.body, HasSubstr("not a job's id"));
}

}  // namespace
}  // namespace muster::daemon::slurm
