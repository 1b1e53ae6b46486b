// The handlers of the client service, each alone on a real controller: without a server, a
// certificate or a socket.

#include <gmock/gmock.h>
#include <grpcpp/test/default_reactor_test_peer.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "daemon/access/call.h"
#include "daemon/client/health_handler.h"
#include "daemon/client/job_handler.h"
#include "daemon/client/job_reader.h"
#include "daemon/client/node_handler.h"
#include "daemon/client/policy_handler.h"
#include "daemon/client/step_handler.h"
#include "daemon/client/tuning_handler.h"
#include "tests/unit/daemon/controller/controller_rig.h"

namespace muster::daemon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class HandlersTest : public testing::ControllerTest {
 protected:
  void SetUp() override {
    ControllerTest::SetUp();
    auto accounting = Accounting::Open(directory_);
    ASSERT_TRUE(accounting.ok()) << accounting.status();
    accounting_ = *std::move(accounting);
    reader_ = std::make_unique<Worker>();
  }
  void TearDown() override {
    reader_.reset();
    accounting_.reset();
    ControllerTest::TearDown();
  }

  // How the call ended that `serve` was given.
  grpc::Status Answer(const std::function<void(const Call&)>& serve) {
    grpc::CallbackServerContext context;
    const grpc::testing::DefaultReactorTestPeer peer(&context);
    serve(Call{gate_, Caller{Role::kOwner, User{1000, 1000, "someone"}}, "Test", peer.reactor()});
    const auto deadline = std::chrono::steady_clock::now() + testing::kPatience;
    while (!peer.test_status_set() && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_TRUE(peer.test_status_set()) << "the call was not answered";
    return peer.test_status();
  }

  JobReader Reader() { return {*controller_, *accounting_, *store_, usage_, *reader_}; }
  JobHandler Jobs() { return {*controller_, *accounting_, *reader_}; }

  const Gate gate_{log_, "", nullptr, 0};
  const LiveUsage usage_;
  std::unique_ptr<Accounting> accounting_;
  std::unique_ptr<Worker> reader_;
};

TEST_F(HandlersTest, ACallThatNamesManyJobsIsAnsweredOnceWithALineForEachThatIsNotThere) {
  const JobId job = Submit("a");
  wire::HoldRequest request;
  request.set_held(true);
  request.add_jobs()->set_job(job.value());
  request.add_jobs()->set_job(job.value() + 1);
  request.add_jobs()->set_job(job.value() + 2);
  wire::HoldReply reply;
  JobHandler jobs = Jobs();
  EXPECT_TRUE(Answer([&](const Call& call) { jobs.Hold(call, request, &reply); }).ok());
  EXPECT_EQ(reply.errors_size(), 2);
}

TEST_F(HandlersTest, CancellingAllOfAUserReachesEachOfTheirSubmissions) {
  Submit("a");
  Submit("b");
  wire::CancelRequest request;
  request.set_all_of_user(true);
  wire::CancelReply reply;
  JobHandler jobs = Jobs();
  EXPECT_TRUE(Answer([&](const Call& call) { jobs.Cancel(call, request, &reply); }).ok());
  EXPECT_EQ(reply.cancelled(), 2U);
  EXPECT_EQ(LiveJobs(), 0U);
}

TEST_F(HandlersTest, ASignalOfNoScopeThatThereIsIsRefused) {
  wire::SignalRequest request;
  request.set_scope(static_cast<wire::SignalScope>(99));
  wire::SignalReply reply;
  JobHandler jobs = Jobs();
  const grpc::Status status = Answer([&](const Call& call) { jobs.Signal(call, request, &reply); });
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(HandlersTest, AJobIsShownLiveAndListed) {
  const JobId job = Submit("a", "mine");
  JobReader reader = Reader();
  wire::ShowJobRequest show;
  show.mutable_job()->set_job(job.value());
  wire::ShowJobReply shown;
  EXPECT_TRUE(Answer([&](const Call& call) { reader.ShowJob(call, show, &shown); }).ok());
  ASSERT_THAT(shown.jobs(), SizeIs(1));
  EXPECT_THAT(shown.jobs(0).command(), ElementsAre("mine"));
  wire::ListJobsReply listed;
  EXPECT_TRUE(Answer([&](const Call& call) {
                reader.ListJobs(call, wire::ListJobsRequest(), &listed);
              }).ok());
  wire::ListJobsReply sent;
  EXPECT_TRUE(sent.ParseFromString(listed.SerializeAsString()));
  EXPECT_THAT(sent.jobs(), SizeIs(1));
}

TEST_F(HandlersTest, AJobThatIsNowhereIsNotFound) {
  JobReader reader = Reader();
  wire::ExplainRequest request;
  request.mutable_job()->set_job(77);
  wire::ExplainReply reply;
  const grpc::Status status =
      Answer([&](const Call& call) { reader.Explain(call, request, &reply); });
  EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_THAT(status.error_message(), HasSubstr("job 77: no such job"));
}

TEST_F(HandlersTest, TheClusterSaysItsNameAndItsNodes) {
  Register();
  NodeHandler nodes(*controller_, "here", *reader_);
  wire::PingReply ping;
  EXPECT_TRUE(Answer([&](const Call& call) { nodes.Ping(call, wire::PingRequest(), &ping); }).ok());
  EXPECT_EQ(ping.cluster(), "here");
  EXPECT_EQ(ping.nodes(), 1U);
  wire::DrainRequest drain;
  drain.set_node("node1");
  drain.set_drained(true);
  drain.set_reason("repair");
  wire::DrainReply drained;
  EXPECT_TRUE(Answer([&](const Call& call) { nodes.Drain(call, drain, &drained); }).ok());
  wire::ListNodesRequest list;
  list.add_names("node1");
  wire::ListNodesReply listed;
  EXPECT_TRUE(Answer([&](const Call& call) { nodes.ListNodes(call, list, &listed); }).ok());
  ASSERT_THAT(listed.nodes(), SizeIs(1));
  EXPECT_EQ(listed.nodes(0).reason(), "repair");
}

TEST_F(HandlersTest, HealthIsOfNodesThatThereAre) {
  Register();
  HealthHandler health(*controller_, *store_, *reader_);
  wire::ListHealthRequest request;
  wire::ListHealthReply reply;
  EXPECT_TRUE(Answer([&](const Call& call) { health.ListHealth(call, request, &reply); }).ok());
  EXPECT_THAT(reply.nodes(), SizeIs(1));
  request.add_names("absent");
  const grpc::Status status =
      Answer([&](const Call& call) { health.ListHealth(call, request, &reply); });
  EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);
}

TEST_F(HandlersTest, AChangeOfPolicyIsListedAndInItsHistory) {
  PolicyHandler policy(*controller_, *accounting_, *store_, *reader_);
  wire::ChangePolicyRequest change;
  change.set_verb(wire::POLICY_VERB_ADD);
  change.set_kind(wire::POLICY_KIND_ACCOUNT);
  change.set_name("physics");
  wire::ChangePolicyReply changed;
  const grpc::Status status =
      Answer([&](const Call& call) { policy.ChangePolicy(call, change, &changed); });
  EXPECT_TRUE(status.ok()) << status.error_message();
  wire::PolicyHistoryRequest history;
  history.set_name("physics");
  wire::PolicyHistoryReply changes;
  EXPECT_TRUE(
      Answer([&](const Call& call) { policy.PolicyHistory(call, history, &changes); }).ok());
  EXPECT_THAT(changes.changes(), SizeIs(1));
  wire::ListSharesReply shares;
  EXPECT_TRUE(Answer([&](const Call& call) {
                policy.ListShares(call, wire::ListSharesRequest(), &shares);
              }).ok());
  EXPECT_EQ(shares.algorithm(), "fair-tree");
}

TEST_F(HandlersTest, AStepOfAJobThatIsNotThereIsRefused) {
  StepHandler steps(*controller_);
  wire::AttachRequest request;
  request.set_job(77);
  wire::AttachReply reply;
  EXPECT_EQ(Answer([&](const Call& call) { steps.Attach(call, request, &reply); }).error_code(),
            grpc::StatusCode::NOT_FOUND);
}

TEST_F(HandlersTest, ATuningIsKeptAndOneWithoutAKernelIsNot) {
  TuningHandler tunings(*controller_, *store_, *reader_);
  wire::PutTuningRequest request;
  wire::PutTuningReply put;
  EXPECT_EQ(Answer([&](const Call& call) { tunings.PutTuning(call, request, &put); }).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
  wire::Tuning& tuning = *request.mutable_tuning();
  tuning.set_kernel("matmul");
  tuning.set_shape("64");
  tuning.set_type("f32");
  tuning.set_architecture("any");
  tuning.set_choice("{}");
  EXPECT_TRUE(Answer([&](const Call& call) { tunings.PutTuning(call, request, &put); }).ok());
  wire::ListTuningsReply listed;
  EXPECT_TRUE(Answer([&](const Call& call) {
                tunings.ListTunings(call, wire::ListTuningsRequest(), &listed);
              }).ok());
  EXPECT_THAT(listed.tunings(), SizeIs(1));
}

}  // namespace
}  // namespace muster::daemon
