#include "daemon/agents/node_questions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace muster::daemon {
namespace {

using ::testing::HasSubstr;

class NodeQuestionsTest : public ::testing::Test {
 protected:
  void Ask(std::uint32_t node, std::uint32_t uid = 1000) {
    NodeQuestions::Question question{NodeId(node), absl::StrCat("n", node), uid, {}};
    questions_.Ask(std::move(question), [this](absl::StatusOr<wire::NodeQuestionReply> answer) {
      answers_.push_back(std::move(answer));
    });
  }
  static wire::NodeQuestionReply Answer(std::uint64_t number) {
    wire::NodeQuestionReply answer;
    answer.set_number(number);
    answer.mutable_output()->set_data("text");
    return answer;
  }

  bool connected_ = true;
  std::vector<wire::NodeQuestion> sent_;
  std::vector<absl::StatusOr<wire::NodeQuestionReply>> answers_;
  NodeQuestions questions_{[this](NodeId, const wire::NodeQuestion& question) {
    sent_.push_back(question);
    return connected_;
  }};
};

TEST_F(NodeQuestionsTest, AnAnswerReachesWhoAskedOnceAndFromThatNodeAlone) {
  Ask(1);
  Ask(1);
  ASSERT_EQ(sent_.size(), 2U);
  EXPECT_NE(sent_[0].number(), sent_[1].number());
  questions_.Take(NodeId(2), Answer(sent_[0].number()));
  EXPECT_TRUE(answers_.empty()) << "another node cannot answer";
  questions_.Take(NodeId(1), Answer(sent_[0].number()));
  questions_.Take(NodeId(1), Answer(sent_[0].number()));
  ASSERT_EQ(answers_.size(), 1U);
  ASSERT_TRUE(answers_[0].ok());
  EXPECT_EQ(answers_[0]->output().data(), "text");
}

TEST_F(NodeQuestionsTest, ARefusalNamesTheNode) {
  Ask(3);
  wire::NodeQuestionReply refusal;
  refusal.set_number(sent_[0].number());
  refusal.set_code(static_cast<int>(absl::StatusCode::kNotFound));
  refusal.set_text("/out: is not there");
  questions_.Take(NodeId(3), refusal);
  ASSERT_EQ(answers_.size(), 1U);
  EXPECT_EQ(answers_[0].status(), absl::NotFoundError("node n3: /out: is not there"));
}

TEST_F(NodeQuestionsTest, ANodeThatIsNotThereOrGoesEndsItsQuestions) {
  connected_ = false;
  Ask(1);
  ASSERT_EQ(answers_.size(), 1U);
  EXPECT_THAT(std::string(answers_[0].status().message()),
              HasSubstr("node n1: its agent is not connected"));
  connected_ = true;
  Ask(1);
  Ask(2);
  questions_.Lose(NodeId(1));
  EXPECT_EQ(answers_.size(), 2U);
  questions_.Take(NodeId(2), Answer(sent_[2].number()));
  EXPECT_EQ(answers_.size(), 3U);
}

TEST_F(NodeQuestionsTest, WhatIsNotAnsweredInTimeIsOver) {
  const auto now = std::chrono::steady_clock::now();
  Ask(1);
  questions_.Expire(now);
  EXPECT_TRUE(answers_.empty());
  questions_.Expire(now + NodeQuestions::kWithin + std::chrono::seconds(60));
  ASSERT_EQ(answers_.size(), 1U);
  EXPECT_TRUE(absl::IsDeadlineExceeded(answers_[0].status()));
  questions_.Take(NodeId(1), Answer(sent_[0].number()));
  EXPECT_EQ(answers_.size(), 1U) << "too late";
}

TEST_F(NodeQuestionsTest, OneUserCannotKeepAllQuestionsOpen) {
  for (std::size_t i = 0; i < NodeQuestions::kOpenOfUserMax; ++i) {
    Ask(1, 1000);
  }
  EXPECT_TRUE(answers_.empty());
  Ask(1, 1000);
  ASSERT_EQ(answers_.size(), 1U);
  EXPECT_TRUE(absl::IsResourceExhausted(answers_[0].status()));
  Ask(1, 1001);
  EXPECT_EQ(answers_.size(), 1U) << "another user's is taken";
  questions_.Take(NodeId(1), Answer(sent_[0].number()));
  Ask(1, 1000);
  EXPECT_EQ(answers_.size(), 2U) << "there is room again";
}

}  // namespace
}  // namespace muster::daemon
