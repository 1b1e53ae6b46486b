// The reading verbs of the muster program, against a controller that lives in the test.

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <mutex>
#include <nlohmann/json.hpp>

#include "proto/controller.grpc.pb.h"
#include "proto/convert/through_bytes.h"
#include "scheduler/model/view/view.h"
#include "tests/unit/cli/program.h"
#include "tests/unit/cli/render/samples.h"

namespace muster::cli {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Answers with the samples and remembers what it was asked.
class SampleController final : public wire::Controller::Service {
 public:
  grpc::Status ListJobs(grpc::ServerContext*, const wire::ListJobsRequest* request,
                        wire::ListJobsReply* reply) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    jobs_ = *request;
    Add(samples::QueueJobs(), reply);
    return grpc::Status::OK;
  }
  grpc::Status ListHistory(grpc::ServerContext*, const wire::ListHistoryRequest* request,
                           wire::ListJobsReply* reply) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    history_ = *request;
    Add(samples::HistoryJobs(), reply);
    return grpc::Status::OK;
  }
  grpc::Status ShowJob(grpc::ServerContext*, const wire::ShowJobRequest* request,
                       wire::ShowJobReply* reply) override {
    if (request->job().job() != 7) {
      return {grpc::StatusCode::NOT_FOUND,
              "job " + std::to_string(request->job().job()) + ": not found"};
    }
    convert::WriteThroughBytes(samples::EndedDetail(), reply->add_jobs());
    return grpc::Status::OK;
  }
  grpc::Status Explain(grpc::ServerContext*, const wire::ExplainRequest* request,
                       wire::ExplainReply* reply) override {
    if (request->job().job() != 12 || request->job().elements_size() != 1) {
      return {grpc::StatusCode::NOT_FOUND, "no such job"};
    }
    convert::WriteThroughBytes(samples::QueueJobs()[3], reply->mutable_job());
    reply->set_summary("1 node: short of 3 cores (has 1)");
    wire::NodeAnswer* answer = reply->add_nodes();
    answer->set_node("node1");
    answer->set_text("short of 3 cores (has 1)");
    return grpc::Status::OK;
  }
  grpc::Status ListNodes(grpc::ServerContext*, const wire::ListNodesRequest* request,
                         wire::ListNodesReply* reply) override {
    NodeView node = samples::SampleNode(2);
    if (!request->with_machine()) {
      node.machine = Machine();
    }
    convert::WriteThroughBytes(node, reply->add_nodes());
    return grpc::Status::OK;
  }

  wire::ListJobsRequest jobs() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return jobs_;
  }
  wire::ListHistoryRequest history() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return history_;
  }

 private:
  static void Add(const std::vector<JobView>& jobs, wire::ListJobsReply* reply) {
    for (const JobView& job : jobs) {
      convert::WriteThroughBytes(job, reply->add_jobs());
    }
  }

  std::mutex mutex_;
  wire::ListJobsRequest jobs_;
  wire::ListHistoryRequest history_;
};

class Reading : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(directory_ / "controller");
    grpc::ServerBuilder builder;
    builder.AddListeningPort("unix:" + (directory_ / "controller.sock"),
                             grpc::InsecureServerCredentials());
    builder.RegisterService(&controller_);
    server_ = builder.BuildAndStart();
    ASSERT_NE(server_, nullptr);
  }
  void TearDown() override {
    server_->Shutdown(std::chrono::system_clock::now());
    server_->Wait();
  }
  ProgramEnd Muster(const std::vector<std::string>& arguments, const std::string& out = "") {
    return RunMuster(arguments, {"MUSTER_STATE=" + directory_.path(), "LANG=C.UTF-8", "TZ=UTC"},
                     out);
  }

  const TempDirectory directory_;
  SampleController controller_;
  std::unique_ptr<grpc::Server> server_;
};

TEST_F(Reading, QueuePrintsATableAndExitsZero) {
  const ProgramEnd end = Muster({"queue"});
  EXPECT_EQ(end.code, 0);
  EXPECT_EQ(end.err, "");
  EXPECT_THAT(end.out, HasSubstr("12_[4-6,9]  sweep"));
  EXPECT_THAT(end.out, StartsWith("     JOBID  NAME"));
  EXPECT_THAT(Muster({"queue", "--noheader"}).out, ::testing::Not(HasSubstr("JOBID")));
  EXPECT_THAT(Muster({"queue", "-r"}).out, HasSubstr("12_4  sweep"));
}

TEST_F(Reading, QueuePassesItsFilterOn) {
  EXPECT_EQ(Muster({"queue", "--user", "bob", "--state", "pd,R", "7"}).code, 0);
  EXPECT_EQ(controller_.jobs().user(), "bob");
  EXPECT_THAT(controller_.jobs().states(), ::testing::ElementsAre("PENDING", "RUNNING"));
  EXPECT_THAT(controller_.jobs().jobs(), ::testing::ElementsAre(7));
  EXPECT_EQ(Muster({"queue", "--state", directory_.path()}).code, 0);
  EXPECT_THAT(controller_.jobs().states(), ::testing::IsEmpty());
}

TEST_F(Reading, AJobThatIsNotInTheQueueIsOneLineAndExitOne) {
  const ProgramEnd end = Muster({"queue", "7", "404"});
  EXPECT_EQ(end.code, 1);
  EXPECT_THAT(end.out, HasSubstr("heat2d"));
  EXPECT_EQ(end.err, "muster queue: job 404 neither waits nor runs: see muster history 404\n");
}

TEST_F(Reading, HistoryShowsTheLatestLast) {
  const ProgramEnd end = Muster({"history", "--since", "2026-03-14T09:00", "--limit", "3"});
  EXPECT_EQ(end.code, 0);
  EXPECT_LT(end.out.find("dropped"), end.out.find("heat2d"));
  EXPECT_EQ(controller_.history().since(), 1'773'478'800'000);
  EXPECT_EQ(controller_.history().limit(), 3U);
  const ProgramEnd missing = Muster({"history", "77"});
  EXPECT_EQ(missing.code, 1);
  EXPECT_EQ(missing.err, "muster history: no job 77 has ended: see muster queue 77\n");
}

TEST_F(Reading, ShowTakesSeveralJobsAndSaysWhichAreNotThere) {
  const ProgramEnd one = Muster({"show", "job", "7"});
  EXPECT_EQ(one.code, 0);
  EXPECT_EQ(one.out, samples::Golden("show_ended.txt"));
  const ProgramEnd two = Muster({"show", "7", "8"});
  EXPECT_EQ(two.code, 1);
  EXPECT_EQ(two.out, one.out);
  EXPECT_EQ(two.err, "muster show: job 8: not found\n");
  const ProgramEnd none = Muster({"show", "8"});
  EXPECT_EQ(none.code, 1);
  EXPECT_EQ(none.out, "");
  EXPECT_EQ(none.err, "muster show: job 8: not found\n");
}

TEST_F(Reading, ExplainSaysWhyAJobWaits) {
  const ProgramEnd end = Muster({"explain", "12_4"});
  EXPECT_EQ(end.code, 0);
  EXPECT_THAT(end.out, StartsWith("job 12_4 PENDING: 1 node: short of 3 cores (has 1)\n"));
  EXPECT_EQ(Muster({"explain", "404"}).err, "muster explain: no such job\n");
  EXPECT_EQ(Muster({"explain", "12_[4-5]"}).code, 2);
}

TEST_F(Reading, NodesAndTopoShowTheNodesAndWhichNamesAreNone) {
  EXPECT_THAT(Muster({"nodes"}).out, HasSubstr("node1  MIXED"));
  const ProgramEnd topo = Muster({"topo", "node1", "node9"});
  EXPECT_EQ(topo.code, 1);
  EXPECT_THAT(topo.out, HasSubstr("└─ core 1 (cpus 1,5)  job 7 alice"));
  EXPECT_EQ(topo.err, "muster topo: no node \"node9\": see muster nodes\n");
}

TEST_F(Reading, EveryReadingVerbPrintsOneDocument) {
  EXPECT_EQ(Json::parse(Muster({"queue", "--json"}).out)["jobs"].size(),
            samples::QueueJobs().size());
  EXPECT_EQ(Json::parse(Muster({"history", "--json"}).out)["jobs"].size(),
            samples::HistoryJobs().size());
  EXPECT_EQ(Json::parse(Muster({"show", "--json", "7"}).out)["jobs"][0]["attempts"].size(), 1U);
  EXPECT_EQ(Json::parse(Muster({"explain", "--json", "12_4"}).out)["nodes"].size(), 1U);
  EXPECT_EQ(Json::parse(Muster({"nodes", "--json"}).out)["nodes"].size(), 1U);
  EXPECT_EQ(Json::parse(Muster({"topo", "--json"}).out)["nodes"][0]["machine"]["cores"].size(), 4U);
}

TEST_F(Reading, BadUsageIsOneLineAndExitTwo) {
  const std::vector<std::vector<std::string>> bad = {{"queue", "--states", "asleep"},
                                                     {"queue", "12x"},
                                                     {"queue", "-1"},
                                                     {"history", "--since", "soon"},
                                                     {"history", "--limit", "0"},
                                                     {"show"},
                                                     {"show", "0"},
                                                     {"explain"},
                                                     {"explain", "1", "2"},
                                                     {"nodes", "--frobnicate"}};
  for (const std::vector<std::string>& arguments : bad) {
    const ProgramEnd end = Muster(arguments);
    EXPECT_EQ(end.code, 2) << arguments[0] << " " << end.err;
    EXPECT_EQ(end.out, "");
    EXPECT_EQ(std::count(end.err.begin(), end.err.end(), '\n'), 1) << end.err;
    EXPECT_THAT(end.err, StartsWith("muster " + arguments[0] + ": "));
  }
}

TEST_F(Reading, AFullDiskIsAnError) {
  const ProgramEnd end = Muster({"queue"}, "/dev/full");
  EXPECT_EQ(end.code, 1);
  EXPECT_THAT(end.err, HasSubstr("cannot write to standard output: No space left on device"));
}

TEST(ReadingAlone, WithoutAControllerThereIsOneLine) {
  const TempDirectory directory;
  const ProgramEnd end = RunMuster({"queue", "--json"}, {"MUSTER_STATE=" + directory.path()});
  EXPECT_EQ(end.code, 1);
  EXPECT_EQ(end.out, "");
  EXPECT_THAT(end.err, HasSubstr("no controller at unix:" + directory.path()));
}

}  // namespace
}  // namespace muster::cli
