#include "daemon/agents/image_shares.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/core/handle/submit/required_feature.h"
#include "tests/unit/daemon/controller/controller_rig.h"

namespace muster::daemon {
namespace {

using testing::ControllerTest;

// Nodes without agents: what they are asked is kept.
class ImageSharesTest : public ControllerTest {
 protected:
  void SetUp() override {
    ControllerTest::SetUp();
    shares_ = std::make_unique<ImageShares>(*controller_, questions_, log_);
  }
  void TearDown() override {
    ControllerTest::TearDown();
    shares_.reset();
  }
  NodeId Join(const std::string& name, bool containers = true) {
    RegisterAgent command;
    command.registration.name = name;
    command.registration.instance = name;
    command.registration.boot_id = "boot";
    command.registration.machine = testing::SmallMachine();
    if (containers) {
      command.registration.features = {core::kContainerFeature};
    }
    return Take(std::move(command)).first.node;
  }
  static wire::ImageWanted Wanted() {
    wire::ImageWanted wanted;
    wanted.set_image("app:v1@" + Digest());
    wanted.set_digest(Digest());
    wanted.add_addresses("10.0.0.1:7");
    wanted.set_token("secret");
    return wanted;
  }
  static std::string Digest() { return "sha256:" + std::string(64, 'a'); }
  // "NODE VERDICT" of what was asked last, once all that was begun is through.
  std::string Asked() {
    LiveJobs();
    LiveJobs();
    LiveJobs();
    return std::exchange(asked_, "");
  }
  std::string Want(NodeId node) {
    shares_->WantForUser(node, user_, Wanted());
    return Asked();
  }

  const User user_{1000, 1000, "someone"};
  std::string asked_;
  wire::NodeQuestion question_;
  NodeQuestions questions_{[this](NodeId node, const wire::NodeQuestion& question) {
    const wire::ImageGive& give = question.images().give();
    absl::StrAppend(&asked_, asked_.empty() ? "" : ", ", node.value(), " ",
                    wire::ImageVerdict_Name(give.verdict()).substr(14));
    question_ = question;
    return true;
  }};
  std::unique_ptr<ImageShares> shares_;
};

TEST_F(ImageSharesTest, WhereNoOtherNodeHasContainersAnImageIsFetchedAndNotKept) {
  const NodeId one = Join("n1");
  Join("n2", /*containers=*/false);
  EXPECT_EQ(Want(one), "1 ALONE");
  EXPECT_EQ(question_.images().give().wanted().token(), "secret");
  EXPECT_EQ(question_.images().user().uid(), 1000U);
}

TEST_F(ImageSharesTest, TheFirstFetchesAndGivesToTheNext) {
  const NodeId one = Join("n1");
  const NodeId two = Join("n2");
  EXPECT_EQ(Want(one), "1 FETCH");
  EXPECT_EQ(Want(two), "1 GIVE");
  EXPECT_EQ(question_.images().give().wanted().addresses(0), "10.0.0.1:7");
}

TEST_F(ImageSharesTest, AnotherUsersImageIsFetchedByThatUser) {
  const NodeId one = Join("n1");
  const NodeId two = Join("n2");
  EXPECT_EQ(Want(one), "1 FETCH");
  shares_->WantForUser(two, User{1001, 1001, "other"}, Wanted());
  EXPECT_EQ(Asked(), "2 FETCH");
}

TEST_F(ImageSharesTest, ANodeThatCannotGiveItIsNotAskedAgain) {
  const NodeId one = Join("n1");
  const NodeId two = Join("n2");
  EXPECT_EQ(Want(one), "1 FETCH");
  EXPECT_EQ(Want(two), "1 GIVE");
  wire::NodeQuestionReply answer;
  answer.set_number(question_.number());
  answer.set_code(static_cast<int>(absl::StatusCode::kFailedPrecondition));
  questions_.Take(one, answer);
  EXPECT_EQ(Asked(), "2 FETCH");
}

TEST_F(ImageSharesTest, ANodeSpeaksForAttemptsOfItsOwnAlone) {
  const NodeId one = Join("n1");
  const NodeId two = Join("n2");
  const JobId job = Submit("token");
  const NodeId runs = door_.AwaitLaunch(job).node;
  wire::AttemptImageWanted wanted;
  wanted.set_job(job.value());
  wanted.set_attempt(1);
  *wanted.mutable_wanted() = Wanted();
  shares_->WantForAttempt(runs == one ? two : one, wanted);
  EXPECT_EQ(Asked(), "");
  wanted.set_attempt(2);
  shares_->WantForAttempt(runs, wanted);
  EXPECT_EQ(Asked(), "");
  wanted.set_attempt(1);
  shares_->WantForAttempt(runs, wanted);
  EXPECT_EQ(Asked(), absl::StrCat(runs.value(), " FETCH"));
}

TEST_F(ImageSharesTest, WordsThatNoProcessOfOursSaysAreNotPassedOn) {
  EXPECT_TRUE(CheckWanted(Wanted()).ok());
  std::vector<wire::ImageWanted> bad(5, Wanted());
  bad[0].set_digest("sha256:a");
  bad[1].clear_addresses();
  bad[2].set_token("");
  bad[3].add_addresses(std::string(1000, '1'));
  bad[4].set_token(std::string(1000, '1'));
  const NodeId one = Join("n1");
  for (const wire::ImageWanted& each : bad) {
    EXPECT_TRUE(absl::IsInvalidArgument(CheckWanted(each)));
    shares_->WantForUser(one, user_, each);
  }
  EXPECT_EQ(Asked(), "");
}

}  // namespace
}  // namespace muster::daemon
