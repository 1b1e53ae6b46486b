// What serves the methods of clients, on a real controller: without a server, a certificate or a
// socket.

#include <gmock/gmock.h>
#include <grpcpp/test/default_reactor_test_peer.h>

#include <chrono>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "daemon/access/call.h"
#include "daemon/access/methods.h"
#include "daemon/client/client_methods.h"
#include "proto/controller.pb.h"
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
    auto accounting = Accounting::Open(*store_);
    ASSERT_TRUE(accounting.ok()) << accounting.status();
    accounting_ = *std::move(accounting);
    reader_ = std::make_unique<Worker>();
    methods_ = std::make_unique<Methods>(gate_);
    const Backend backend{*controller_, *accounting_, *store_,     usage_,  warnings_,
                          *reader_,     "here",       &questions_, &prices_};
    ServeCommands(*methods_, backend);
    ServeJobQuestions(*methods_, backend);
    ServeForecasts(*methods_, backend);
    ServeHistory(*methods_, backend);
    ServeNodeQuestions(*methods_, backend);
    ServeImages(*methods_, backend);
    ServeHealthQuestions(*methods_, backend);
    ServePolicyQuestions(*methods_, backend);
    ServeTunings(*methods_, backend);
  }
  void TearDown() override {
    reader_.reset();
    accounting_.reset();
    ControllerTest::TearDown();
  }

  // What the method answers to a request, given as the bytes that it is on the wire.
  absl::Status Answer(const char* method, const std::string& request, std::string* reply) {
    grpc::CallbackServerContext context;
    const grpc::testing::DefaultReactorTestPeer peer(&context);
    grpc::ByteBuffer bytes;
    methods_->ServeAdmitted(AnyCall{gate_, caller_, ClientMethod(method), peer.reactor(), &bytes},
                            request);
    const auto deadline = std::chrono::steady_clock::now() + testing::kPatience;
    while (!peer.test_status_set() && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    if (!peer.test_status_set()) {
      return absl::DeadlineExceededError("the call was not answered");
    }
    const grpc::Status status = peer.test_status();
    if (status.ok()) {
      std::vector<grpc::Slice> slices;
      EXPECT_TRUE(bytes.Dump(&slices).ok());
      for (const grpc::Slice& slice : slices) {
        reply->append(reinterpret_cast<const char*>(slice.begin()), slice.size());
      }
    }
    return absl::Status(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
  }
  template <ClientRequest Request>
  absl::StatusOr<typename Request::Reply> Ask(const Request& request) {
    std::string asked;
    AppendRequest(request, &asked);
    std::string answer;
    if (absl::Status status = Answer(Request::kMethod, asked, &answer); !status.ok()) {
      return status;
    }
    typename Request::Reply reply{};
    EXPECT_TRUE(ReadReply<Request>(answer, &reply).ok());
    return reply;
  }

  NodeId RegisterNode(const std::string& name, const std::string& feature) {
    RegisterAgent command;
    command.registration.name = name;
    command.registration.instance = "one";
    command.registration.boot_id = "boot";
    command.registration.machine = testing::SmallMachine();
    command.registration.features = {feature};
    const auto [transition, status] = Take(std::move(command));
    EXPECT_TRUE(status.ok()) << status;
    return transition.node;
  }

  // Answers as each node: with one image of that node's name, or not at all.
  bool AnswerAs(NodeId node, const wire::NodeQuestion& question) {
    const MutexLock lock(&asked_mutex_);
    asked_[node] = question.images();
    if (node == silent_) {
      return false;
    }
    wire::NodeQuestionReply reply;
    reply.set_number(question.number());
    wire::NodeImage& image = *reply.mutable_images()->add_images();
    image.set_name("alpine:3.20");
    image.set_size(node.value());
    image.set_in_use(question.images().has_prune());
    std::thread([this, node, reply] { questions_.Take(node, reply); }).detach();
    return true;
  }

  Caller caller_{Role::kOwner, User{1000, 1000, "someone"}};
  Mutex asked_mutex_;
  std::map<NodeId, wire::ImageQuestion> asked_ ABSL_GUARDED_BY(asked_mutex_);
  NodeId silent_;
  NodeQuestions questions_{
      [this](NodeId node, const wire::NodeQuestion& question) { return AnswerAs(node, question); }};
  const Gate gate_{log_, "", nullptr, 0};
  const LiveUsage usage_;
  const Meters meters_;
  const ControllerWarnings warnings_{meters_, ""};
  PriceBook prices_;
  std::unique_ptr<Accounting> accounting_;
  std::unique_ptr<Worker> reader_;
  std::unique_ptr<Methods> methods_;
};

TEST_F(HandlersTest, ACallThatNamesManyJobsIsAnsweredOnceWithALineForEachThatIsNotThere) {
  const JobId job = Submit("a");
  const ChangeOutcome outcome =
      Ask(ForJobs<HoldJob>{{.held = true},
                           {{job}, {JobId(job.value() + 1)}, {JobId(job.value() + 2)}}})
          .value();
  EXPECT_THAT(outcome.errors, SizeIs(2));
  EXPECT_EQ(outcome.changed, 1U);
}

TEST_F(HandlersTest, CancellingAllOfAUserReachesEachOfTheirSubmissions) {
  Submit("a");
  Submit("b");
  EXPECT_EQ(Ask(CancelJobs{.jobs = {}, .all_of_user = true}).value().changed, 2U);
  EXPECT_EQ(LiveJobs(), 0U);
}

TEST_F(HandlersTest, ImagesAreAskedOfTheNodesThatRunContainersInTheCallersName) {
  constexpr int kNodes = 300;
  std::vector<NodeId> nodes;
  for (int i = 0; i < kNodes; ++i) {
    nodes.push_back(RegisterNode("n" + std::to_string(1000 + i), "containers"));
  }
  RegisterNode("plain", "fast");
  silent_ = nodes[7];
  const ImageTable table = Ask(ListImages{}).value();
  ASSERT_THAT(table.images, SizeIs(kNodes - 1));
  EXPECT_EQ(table.images[0].node, "n1000");
  EXPECT_EQ(table.images[0].name, "alpine:3.20");
  EXPECT_EQ(table.images[0].size, Bytes(nodes[0].value()));
  EXPECT_THAT(table.silent, ElementsAre(HasSubstr("node n1007: its agent is not connected")));
  const MutexLock lock(&asked_mutex_);
  EXPECT_THAT(asked_, SizeIs(kNodes));
  EXPECT_EQ(asked_[nodes[0]].user().uid(), 1000U);
  EXPECT_FALSE(asked_[nodes[0]].has_prune());
}

TEST_F(HandlersTest, WhatIsToGoIsSaidToTheNodesThatAreNamed) {
  const NodeId node = RegisterNode("n1", "containers");
  RegisterNode("n2", "containers");
  PruneImages prune;
  prune.nodes = {"n1"};
  prune.images = {"alpine:3.20"};
  prune.unused_for = std::chrono::seconds(3);
  const ImageTable table = Ask(prune).value();
  ASSERT_THAT(table.images, SizeIs(1));
  EXPECT_TRUE(table.images[0].in_use);
  const MutexLock lock(&asked_mutex_);
  EXPECT_THAT(asked_, SizeIs(1));
  EXPECT_THAT(asked_[node].prune().images(), ElementsAre("alpine:3.20"));
  EXPECT_EQ(asked_[node].prune().unused_for(), 3000);
}

TEST_F(HandlersTest, CopiesOfDataAreAskedOfTheNodesThatMakeThem) {
  const NodeId node = RegisterNode("n1", "staging");
  RegisterNode("n2", "containers");
  EXPECT_THAT(Ask(ListImages{.data = true}).value().images, SizeIs(1));
  {
    const MutexLock lock(&asked_mutex_);
    EXPECT_THAT(asked_, SizeIs(1));
    EXPECT_TRUE(asked_[node].data());
  }
  EXPECT_THAT(Ask(PruneImages{.all = true, .data = true}).value().images, SizeIs(1));
  const MutexLock lock(&asked_mutex_);
  EXPECT_TRUE(asked_[node].data() && asked_[node].prune().all());
}

TEST_F(HandlersTest, WhatNodesKeepForAnotherUserIsForOperators) {
  const NodeId node = RegisterNode("n1", "staging");
  const absl::Status refused = Ask(ListImages{.data = true, .user = "root"}).status();
  EXPECT_TRUE(absl::IsPermissionDenied(refused));
  EXPECT_THAT(std::string(refused.message()), HasSubstr("for root is shown to operators"));
  EXPECT_TRUE(absl::IsPermissionDenied(
      Ask(PruneImages{.all = true, .data = true, .user = "root"}).status()));
  caller_.powers.operates = true;
  EXPECT_TRUE(Ask(ListImages{.data = true, .user = "root"}).ok());
  EXPECT_FALSE(Ask(ListImages{.data = true, .user = "nobody-is-called-so"}).ok());
  const MutexLock lock(&asked_mutex_);
  EXPECT_EQ(asked_[node].user().uid(), 0U);
}

TEST_F(HandlersTest, ARemovalThatNamesNothingAndANodeThatIsNotThereAreRefused) {
  EXPECT_TRUE(absl::IsInvalidArgument(Ask(PruneImages{}).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(Ask(PruneImages{.unused_for = Duration(-1)}).status()));
  EXPECT_TRUE(absl::IsNotFound(Ask(ListImages{{"nowhere"}}).status()));
  EXPECT_THAT(Ask(ListImages{}).value().images, SizeIs(0));
}

TEST_F(HandlersTest, ASignalOfNoScopeThatThereIsIsRefused) {
  wire::SignalRequest request;
  request.set_scope(static_cast<wire::SignalScope>(99));
  std::string reply;
  EXPECT_TRUE(absl::IsInvalidArgument(Answer("Signal", request.SerializeAsString(), &reply)));
}

TEST_F(HandlersTest, AJobIsShownLiveAndListed) {
  const JobId job = Submit("a", "mine");
  const std::vector<JobDetail> shown = Ask(ShowJob{{job}}).value();
  ASSERT_THAT(shown, SizeIs(1));
  EXPECT_THAT(shown[0].command, ElementsAre("mine"));
  EXPECT_THAT(Ask(ListJobs{}).value(), SizeIs(1));
  EXPECT_THAT(Ask(ListJobs{{.states = {"RUNNING"}}}).value(), SizeIs(0));
}

constexpr std::uint8_t kAllPrivate = 15;

TEST_F(HandlersTest, WhatIsPrivateIsNotShownToOthers) {
  const JobId live = Submit("a");
  const JobId ended = Submit("b");
  EXPECT_THAT(Ask(CancelJobs{.jobs = {{ended}}}).value().errors, SizeIs(0));
  RegisterNode("n1", "fast");  // before, both might have begun there
  const Caller owner = caller_;
  caller_ = Caller{Role::kOwner, User{1001, 1001, "other"}};
  EXPECT_THAT(Ask(ListJobs{}).value(), SizeIs(1));
  EXPECT_THAT(Ask(ListHistory{}).value(), SizeIs(1));
  EXPECT_THAT(Ask(ListNodes{}).value().nodes, SizeIs(1));
  EXPECT_TRUE(Ask(ListHealth{}).ok());

  caller_.powers.hidden = kAllPrivate;
  EXPECT_THAT(Ask(ListJobs{}).value(), SizeIs(0));
  EXPECT_THAT(Ask(ListHistory{}).value(), SizeIs(0));
  EXPECT_THAT(Ask(ListUse{}).value(), SizeIs(0));
  for (const JobId job : {live, ended}) {
    EXPECT_TRUE(absl::IsNotFound(Ask(ShowJob{{job}}).status())) << ToString(job);
    EXPECT_TRUE(absl::IsNotFound(Ask(ExplainJob{{job}}).status())) << ToString(job);
  }
  EXPECT_TRUE(absl::IsPermissionDenied(Ask(ListHealth{}).status()));

  caller_ = owner;
  caller_.powers.hidden = kAllPrivate;
  EXPECT_THAT(Ask(ListJobs{}).value(), SizeIs(1)) << "one's own is never hidden";
  EXPECT_THAT(Ask(ListHistory{}).value(), SizeIs(1));
  EXPECT_TRUE(Ask(ShowJob{{ended}}).ok());
}

TEST_F(HandlersTest, WhereNodesArePrivateThoseAreShownOnWhichTheCallerRuns) {
  const NodeId node = Register();
  door_.AwaitLaunch(Submit("a"));
  caller_.powers.hidden = kAllPrivate;
  EXPECT_THAT(Ask(ListNodes{}).value().nodes, SizeIs(1));
  EXPECT_TRUE(node.valid());
  caller_ = Caller{Role::kOwner, User{1001, 1001, "other"}};
  ASSERT_THAT(Ask(ListNodes{}).value().nodes, SizeIs(1));
  EXPECT_THAT(Ask(ListNodes{}).value().nodes[0].holders, SizeIs(1));
  caller_.powers.hidden = static_cast<std::uint8_t>(Private::kJobs);
  ASSERT_THAT(Ask(ListNodes{}).value().nodes, SizeIs(1));
  EXPECT_THAT(Ask(ListNodes{}).value().nodes[0].holders, SizeIs(0));
  caller_.powers.hidden = kAllPrivate;
  EXPECT_THAT(Ask(ListNodes{}).value().nodes, SizeIs(0));
  EXPECT_TRUE(absl::IsNotFound(Ask(ListNodes{.names = {"n1"}}).status()));
}

TEST_F(HandlersTest, WhereUseIsPrivateSharesHaveNoOthersNames) {
  Submit("a");
  const Shares all = Ask(ListShares{}).value();
  ASSERT_THAT(all.associations, SizeIs(1));
  caller_ = Caller{Role::kOwner, User{1001, 1001, "other"}};
  caller_.powers.hidden = static_cast<std::uint8_t>(Private::kUsage);
  const Shares shown = Ask(ListShares{.explain_user = all.associations[0].user}).value();
  ASSERT_THAT(shown.associations, SizeIs(1));
  EXPECT_EQ(shown.associations[0].user, "(private 1)");
  EXPECT_EQ(shown.associations[0].shares, all.associations[0].shares);
  EXPECT_THAT(shown.runs, SizeIs(0));
}

TEST_F(HandlersTest, ANoteIsKeptOfALiveJobAndOfOneThatHasEnded) {
  const JobId job = Submit("a");
  EXPECT_TRUE(Ask(NoteJob{{job}, {{"Comment", "slow"}}}).ok());
  EXPECT_THAT(Ask(CancelJobs{.jobs = {{job}}}).value().errors, SizeIs(0));
  EXPECT_TRUE(Ask(NoteJob{{job}, {{"Extra", "later"}}}).ok());
  const std::vector<JobDetail> shown = Ask(ShowJob{{job}}).value();
  ASSERT_THAT(shown, SizeIs(1));
  ASSERT_THAT(shown[0].notes, SizeIs(2));
  EXPECT_EQ(shown[0].notes[0].user, "someone");
  EXPECT_EQ(shown[0].job.comment, "slow");
  const std::vector<JobView> ended = Ask(ListHistory{}).value();
  ASSERT_THAT(ended, SizeIs(1));
  EXPECT_EQ(ended[0].comment, "slow");
}

TEST_F(HandlersTest, WhereThereArePricesEveryJobHasACostAndOneThatNeverRanIsNone) {
  const JobId job = Submit("a");
  EXPECT_THAT(Ask(CancelJobs{.jobs = {{job}}}).value().errors, SizeIs(0));
  const JobId live = Submit("b");
  EXPECT_EQ(Ask(ListHistory{}).value()[0].currency, "");
  prices_.Use({"EUR", {PriceStep()}});
  for (const JobView& view : Ask(ListHistory{}).value()) {
    EXPECT_EQ(view.currency, "EUR");
    EXPECT_EQ(view.cost, Cost());
    EXPECT_THAT(view.attempts, SizeIs(0));
  }
  EXPECT_EQ(Ask(ShowJob{{live}}).value()[0].job.currency, "EUR");
  const std::vector<JobView> used = Ask(ListUse{}).value();
  ASSERT_THAT(used, SizeIs(1)) << "what waits has used nothing";
  EXPECT_EQ(used[0].id, job);
  EXPECT_EQ(used[0].currency, "EUR");
}

TEST_F(HandlersTest, ANoteOfNoNameForOperatorsOrOfNoJobIsRefused) {
  const JobId job = Submit("a");
  EXPECT_TRUE(absl::IsInvalidArgument(Ask(NoteJob{{job}, {{"Colour", "red"}}}).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(Ask(NoteJob{{job}, {{"Comment", "a\nb"}}}).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(
      Ask(NoteJob{{job}, {{"Comment", std::string(1U << 16U, 'x')}}}).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(Ask(NoteJob{{job}, {}}).status()));
  EXPECT_TRUE(absl::IsPermissionDenied(Ask(NoteJob{{job}, {{"AdminComment", "x"}}}).status()));
  EXPECT_TRUE(absl::IsNotFound(Ask(NoteJob{{JobId(77)}, {{"Comment", "x"}}}).status()));
  EXPECT_THAT(Ask(ShowJob{{job}}).value()[0].notes, SizeIs(0));
}

TEST_F(HandlersTest, AJobThatIsNowhereIsNotFound) {
  const absl::Status status = Ask(ExplainJob{{JobId(77)}}).status();
  EXPECT_TRUE(absl::IsNotFound(status));
  EXPECT_THAT(status.message(), HasSubstr("job 77: no such job"));
}

TEST_F(HandlersTest, TheClusterSaysItsNameAndItsNodes) {
  Register();
  const ClusterStatus ping = Ask(Ping{}).value();
  EXPECT_EQ(ping.cluster, "here");
  EXPECT_EQ(ping.nodes, 1U);
  EXPECT_TRUE(Ask(DrainNode{"node1", true, "repair"}).ok());
  const NodeList listed = Ask(ListNodes{{"node1"}, false}).value();
  ASSERT_THAT(listed.nodes, SizeIs(1));
  EXPECT_EQ(listed.nodes[0].reason, "repair");
  EXPECT_TRUE(absl::IsNotFound(Ask(ListNodes{{"node9"}, false}).status()));
}

TEST_F(HandlersTest, TheClusterSaysItsLicensesAndHowManyAreHeld) {
  EXPECT_THAT(Ask(Ping{}).value().licenses, SizeIs(0));
  SchedulerConfig config;
  config.licenses = {{"ansys", 4}, {"matlab", 1}};
  std::promise<absl::Status> configured;
  controller_->Configure(config, ConfigurePolicy(),
                         [&configured](const core::Transition&, const absl::Status& status) {
                           configured.set_value(status);
                         });
  ASSERT_TRUE(configured.get_future().get().ok());
  EXPECT_THAT(Ask(Ping{}).value().licenses,
              ElementsAre(LicenseState{"ansys", 4, 0}, LicenseState{"matlab", 1, 0}));
}

TEST_F(HandlersTest, HealthIsOfNodesThatThereAre) {
  Register();
  EXPECT_THAT(Ask(ListHealth{}).value(), SizeIs(1));
  EXPECT_TRUE(absl::IsNotFound(Ask(ListHealth{{"absent"}, 0}).status()));
}

TEST_F(HandlersTest, AlertsAreThoseThatLast) {
  EXPECT_THAT(Ask(ListAlerts{}).value(), SizeIs(0));
  Alert alert;
  alert.rule = "NodeSilent";
  alert.subject = "n1";
  controller_->Take(SettleAlerts{{alert}}, [](const core::Transition&, const absl::Status&) {});
  EXPECT_THAT(Ask(ListAlerts{}).value(), ElementsAre(alert));
}

TEST_F(HandlersTest, AChangeOfPolicyIsListedAndInItsHistory) {
  caller_.powers.operates = true;
  const auto changed = Ask(ChangePolicy{PolicyVerb::kAdd, PolicyKind::kAccount, "physics", {}});
  EXPECT_TRUE(changed.ok()) << changed.status();
  EXPECT_THAT(Ask(ListPolicy{{PolicyKind::kAccount}}).value(), SizeIs(1));
  EXPECT_THAT(Ask(PolicyHistory{{}, "physics", 0}).value(), SizeIs(1));
  EXPECT_EQ(Ask(ListShares{}).value().algorithm, "fair-tree");
}

TEST_F(HandlersTest, AStepOfAJobThatIsNotThereIsRefused) {
  AttachStep attach;
  attach.job = JobId(77);
  EXPECT_TRUE(absl::IsNotFound(Ask(attach).status()));
}

TEST_F(HandlersTest, ATuningIsKeptAndOneWithoutAKernelIsNot) {
  Tuning tuning;
  EXPECT_TRUE(absl::IsInvalidArgument(Ask(PutTuning{tuning}).status()));
  tuning.kernel = "matmul";
  tuning.shape = "64";
  tuning.type = "f32";
  tuning.architecture = "any";
  tuning.choice = "{}";
  EXPECT_TRUE(Ask(PutTuning{tuning}).ok());
  EXPECT_THAT(Ask(ListTunings{}).value(), SizeIs(1));
}

TEST_F(HandlersTest, WhatNothingServesEndsTheProcessAtStart) {
  EXPECT_DEATH(methods_->CheckComplete(), "broken invariant")
      << "tokens and metrics are not served";
}

}  // namespace
}  // namespace muster::daemon
