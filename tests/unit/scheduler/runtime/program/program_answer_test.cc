#include "scheduler/runtime/program/program_answer.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace muster {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

absl::StatusOr<ProgramAnswer> Shell(const std::string& script, AnswerStreams streams,
                                    milliseconds patience = seconds(60)) {
  SpawnRequest request;
  request.program = "/bin/sh";
  request.arguments = {"sh", "-c", script};
  request.environment = {"PATH=/usr/bin:/bin", "WORD=x"};
  return AnswerOf(std::move(request), streams, patience);
}

TEST(ProgramAnswer, IsWhatItSaidAndWhetherItSucceeded) {
  const auto good = Shell("echo $WORD; echo y >&2", AnswerStreams::kOutput);
  ASSERT_TRUE(good.ok());
  EXPECT_EQ(good->text, "x\n");
  EXPECT_TRUE(good->success);
  const auto bad = Shell("echo $WORD; echo y >&2; exit 3", AnswerStreams::kBoth);
  ASSERT_TRUE(bad.ok());
  EXPECT_EQ(bad->text, "x\ny\n");
  EXPECT_FALSE(bad->success);
}

TEST(ProgramAnswer, OneThatClosesItsOutputAndGoesOnIsKilled) {
  const auto begun = std::chrono::steady_clock::now();
  const auto quiet =
      Shell("echo one; exec >&- 2>&-; exec sleep 1000", AnswerStreams::kBoth, milliseconds(500));
  ASSERT_TRUE(quiet.ok());
  EXPECT_EQ(quiet->text, "one\n");
  EXPECT_TRUE(quiet->late);
  EXPECT_FALSE(quiet->success);
  EXPECT_LT(std::chrono::steady_clock::now() - begun, seconds(60));
}

TEST(ProgramAnswer, OneThatIsTooSlowIsKilledWithWhatItStarted) {
  const auto begun = std::chrono::steady_clock::now();
  const auto slow =
      Shell("echo one; sleep 1000 & sleep 1000", AnswerStreams::kOutput, milliseconds(100));
  ASSERT_TRUE(slow.ok());
  EXPECT_FALSE(slow->success);
  EXPECT_LT(std::chrono::steady_clock::now() - begun, seconds(60));
}

TEST(ProgramAnswer, OneThatSaysTooMuchIsCutOff) {
  const auto loud = Shell("yes", AnswerStreams::kOutput);
  ASSERT_TRUE(loud.ok());
  EXPECT_FALSE(loud->success);
}

TEST(ProgramAnswer, OneThatIsNotThereIsAnError) {
  SpawnRequest request;
  request.program = "/nowhere/program";
  request.arguments = {"program"};
  EXPECT_FALSE(AnswerOf(std::move(request), AnswerStreams::kOutput, seconds(1)).ok());
}

}  // namespace
}  // namespace muster
