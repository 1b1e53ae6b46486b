#include "agent/supervisor/pmix/pmix_wire.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Ranks 0 and 2 are here.
PmixStepConfig ThreeRanks() {
  PmixStepConfig step;
  step.nspace = "muster.1.1.0";
  step.nodes = {"node1", "node2"};
  step.node_of_rank = {0, 1, 0};
  step.local_cpusets = {"0", "1"};
  step.universe_size = 3;
  return step;
}

std::string FrameOf(const google::protobuf::MessageLite& message) {
  std::string bytes;
  AppendFrame(message, &bytes);
  return bytes;
}

std::string Refusal(const wire::PmixReply& reply) {
  return std::string(CheckPmixReply(reply, ThreeRanks()).message());
}

TEST(PmixFrames, ArriveWholeHoweverTheyArePieced) {
  wire::PmixReply first;
  first.set_step(1);
  first.mutable_abort()->set_message("why");
  wire::PmixReply second;
  second.set_step(2);
  const std::string bytes = FrameOf(first) + FrameOf(second);
  for (std::size_t piece = 1; piece <= bytes.size(); ++piece) {
    PmixFrameReader reader;
    std::vector<std::string> frames;
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      ASSERT_TRUE(reader.Take(std::string_view(bytes).substr(at, piece), &frames).ok());
    }
    EXPECT_THAT(frames, ElementsAre(first.SerializeAsString(), second.SerializeAsString()));
  }
}

TEST(PmixFrames, OneThatIsTooLargeIsRefusedBeforeItIsKept) {
  PmixFrameReader reader;
  std::vector<std::string> frames;
  EXPECT_FALSE(reader.Take(std::string_view("\xff\xff\xff\x7f", 4), &frames).ok());
  EXPECT_THAT(frames, IsEmpty());
}

TEST(PmixRequests, AStepArrivesAsItWas) {
  const PmixStepConfig step = ThreeRanks();
  const PmixStepConfig again = StepOf(StartRequest(step));
  EXPECT_EQ(again.nspace, step.nspace);
  EXPECT_EQ(again.nodes, step.nodes);
  EXPECT_EQ(again.node_of_rank, step.node_of_rank);
  EXPECT_EQ(again.local_cpusets, step.local_cpusets);
  EXPECT_EQ(again.universe_size, step.universe_size);
}

TEST(PmixReplies, RanksAreThoseOfThisNode) {
  wire::PmixReply reply;
  reply.set_connected(2);
  EXPECT_EQ(Refusal(reply), "");
  reply.set_connected(1);
  EXPECT_EQ(Refusal(reply), "no rank 1 here");
  reply.set_finalized(3);
  EXPECT_EQ(Refusal(reply), "no rank 3 here");
  reply.mutable_abort()->set_rank(1);
  EXPECT_EQ(Refusal(reply), "no rank 1 here");
  reply.mutable_abort()->set_rank(0);
  EXPECT_EQ(Refusal(reply), "");
  reply.mutable_abort()->set_message(std::string(5000, 'x'));
  EXPECT_THAT(Refusal(reply), HasSubstr("long message"));
  reply.mutable_modex()->set_rank(1);  // another node's, which is asked for
  EXPECT_EQ(Refusal(reply), "");
  reply.mutable_modex()->set_rank(3);
  EXPECT_EQ(Refusal(reply), "the step has no rank 3");
}

TEST(PmixReplies, AFenceIsAmongRanksOfTheStep) {
  wire::PmixReply reply;
  reply.mutable_fence()->add_ranks(1);
  EXPECT_EQ(Refusal(reply), "");
  reply.mutable_fence()->add_ranks(3);
  EXPECT_EQ(Refusal(reply), "the step has no rank 3");
  for (int i = 0; i < 3; ++i) {
    reply.mutable_fence()->add_ranks(0);
  }
  EXPECT_THAT(Refusal(reply), HasSubstr("more ranks than the step has"));
}

TEST(PmixReplies, VariablesArePmixsForEachRankHere) {
  wire::PmixReply reply;
  wire::PmixStarted& started = *reply.mutable_started();
  started.add_ranks()->add_variables("PMIX_RANK=0");
  EXPECT_THAT(Refusal(reply), HasSubstr("1 ranks instead of 2"));
  wire::PmixRankVariables& second = *started.add_ranks();
  second.add_variables("OMPI_COMM_WORLD_RANK=2");
  second.add_variables("JSM_JSRUN_PORT=1");
  EXPECT_EQ(Refusal(reply), "");
  for (const std::string& variable :
       {std::string("LD_PRELOAD=/evil.so"), std::string("PMIX_RANK"), std::string("PMIX_A-B=1"),
        std::string("PMIX_A=1\0LD_PRELOAD=2", 21), "PMIX_A=" + std::string(9000, 'x'),
        std::string()}) {
    wire::PmixReply changed = reply;
    changed.mutable_started()->mutable_ranks(1)->add_variables(variable);
    EXPECT_THAT(Refusal(changed), HasSubstr("not PMIx's")) << variable;
  }
  for (int i = 0; i < 300; ++i) {
    second.add_variables("PMIX_RANK=2");
  }
  EXPECT_THAT(Refusal(reply), HasSubstr("too many variables"));
}

TEST(PmixReplies, AnEmptyOneIsNone) {
  EXPECT_THAT(Refusal(wire::PmixReply()), HasSubstr("no known kind"));
}

}  // namespace
}  // namespace muster::agent
