#include "scheduler/core/handle/attempts/outcome.h"

#include <gtest/gtest.h>

#include "tests/unit/scheduler/core/builders.h"

namespace muster::core {
namespace {

NodeRun Over(EndCause cause, ExitStatus status = ExitStatus(), std::string text = "") {
  NodeRun run;
  run.phase = RunPhase::kEnded;
  run.cause = cause;
  run.status = status;
  run.text = std::move(text);
  return run;
}

constexpr ExitStatus kOk{};
constexpr ExitStatus kThree{3, 0};
constexpr ExitStatus kTerm{0, 15};

Outcome Of(JobKind kind, std::vector<NodeRun> runs, EndCause ending = EndCause::kNone,
           const std::string& ending_text = "") {
  JobSpec spec;
  spec.kind = kind;
  Attempt attempt;
  attempt.ending = ending;
  attempt.ending_text = ending_text;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    NodeAllocation part;
    part.name = absl::StrCat("n", i + 1);
    attempt.allocation.nodes.push_back(part);
  }
  attempt.runs = std::move(runs);
  return OutcomeOf(spec, attempt);
}

TEST(Outcome, ABatchJobEndsAsItsScriptDid) {
  EXPECT_EQ(Of(JobKind::kBatch, {Over(EndCause::kExited)}).state, JobState::kCompleted);
  const Outcome failed = Of(JobKind::kBatch, {Over(EndCause::kExited, kThree)});
  EXPECT_EQ(failed.state, JobState::kFailed);
  EXPECT_EQ(failed.status, kThree);
  EXPECT_EQ(Of(JobKind::kBatch, {Over(EndCause::kExited, kTerm)}).state, JobState::kFailed);
}

TEST(Outcome, AFailureSaysWhichRankMetWhichErrorOfAGpuAndASuccessDoesNot) {
  NodeRun other = Over(EndCause::kJobEnding, kTerm);
  other.gpu_errors = {"rank 3 on n2 met XID 79 on GPU GPU-a",
                      "rank 4 on n2 met XID 45 on GPU GPU-b"};
  EXPECT_EQ(Of(JobKind::kBatch, {Over(EndCause::kExited, kThree), other}).text,
            "rank 3 on n2 met XID 79 on GPU GPU-a");
  EXPECT_EQ(Of(JobKind::kBatch, {Over(EndCause::kTimeLimit), other}).text,
            "n1: reached its time limit; rank 3 on n2 met XID 79 on GPU GPU-a");
  EXPECT_EQ(Of(JobKind::kBatch, {Over(EndCause::kExited), other}, EndCause::kJobEnding).text, "");
}

TEST(Outcome, OtherNodesOfABatchJobThatWereToldToEndDoNotSpoilIt) {
  EXPECT_EQ(Of(JobKind::kBatch, {Over(EndCause::kExited), Over(EndCause::kJobEnding, kTerm)},
               EndCause::kJobEnding)
                .state,
            JobState::kCompleted);
}

TEST(Outcome, EachFailureOfANodeHasItsState) {
  const struct {
    EndCause cause;
    JobState state;
    const char* text;
  } rows[] = {
      {EndCause::kNodeRebooted, JobState::kNodeFail, "n1: the node rebooted"},
      {EndCause::kNodeLostRecord, JobState::kNodeFail,
       "n1: the node's agent came back without its record of the job"},
      {EndCause::kOutOfMemory, JobState::kOutOfMemory, "n1: out of memory"},
      {EndCause::kTimeLimit, JobState::kTimeout, "n1: reached its time limit"},
      {EndCause::kPrologFailed, JobState::kNodeFail, "n1: the prolog failed"},
      {EndCause::kLaunchFailed, JobState::kFailed, "n1: could not be started"},
      {EndCause::kLostSupervisor, JobState::kFailed, "n1: its supervisor died"},
  };
  for (const auto& row : rows) {
    for (const JobKind kind : {JobKind::kBatch, JobKind::kRun}) {
      const Outcome outcome = Of(kind, {Over(row.cause)});
      EXPECT_EQ(outcome.state, row.state) << row.text;
      EXPECT_EQ(outcome.text, row.text);
    }
  }
  EXPECT_EQ(Of(JobKind::kBatch, {Over(EndCause::kLaunchFailed, kOk, "no such directory")}).text,
            "n1: no such directory");
}

TEST(Outcome, TheWorstNodeDecides) {
  const Outcome outcome =
      Of(JobKind::kBatch, {Over(EndCause::kLaunchFailed), Over(EndCause::kNodeRebooted)});
  EXPECT_EQ(outcome.state, JobState::kNodeFail);
  EXPECT_EQ(outcome.text, "n2: the node rebooted");
}

TEST(Outcome, ACancelledJobSaysWhoCancelledIt) {
  const Outcome outcome = Of(JobKind::kBatch, {Over(EndCause::kCancelled, kTerm)},
                             EndCause::kCancelled, "cancelled by ada");
  EXPECT_EQ(outcome.state, JobState::kCancelled);
  EXPECT_EQ(outcome.text, "cancelled by ada");
  EXPECT_EQ(Of(JobKind::kBatch, {Over(EndCause::kNeverStarted)}, EndCause::kCancelled).state,
            JobState::kCancelled);
}

TEST(Outcome, AScriptThatEndedBeforeTheCancelReachedItEndedByItself) {
  EXPECT_EQ(Of(JobKind::kBatch, {Over(EndCause::kExited)}, EndCause::kCancelled).state,
            JobState::kCompleted);
  EXPECT_EQ(Of(JobKind::kBatch, {Over(EndCause::kExited, kThree)}, EndCause::kCancelled).state,
            JobState::kFailed);
}

TEST(Outcome, ARunEndsAsTheRanksThatFailedByThemselves) {
  const Outcome outcome =
      Of(JobKind::kRun, {Over(EndCause::kJobEnding, kTerm), Over(EndCause::kExited, kThree)},
         EndCause::kJobEnding);
  EXPECT_EQ(outcome.state, JobState::kFailed);
  EXPECT_EQ(outcome.status, kThree);
}

TEST(Outcome, ARunIsACompleteSuccessOnlyWhenEveryNodeEndedInOrder) {
  EXPECT_EQ(Of(JobKind::kRun, {Over(EndCause::kExited), Over(EndCause::kExited)}).state,
            JobState::kCompleted);
  EXPECT_EQ(Of(JobKind::kRun, {Over(EndCause::kExited), Over(EndCause::kNeverStarted)},
               EndCause::kCancelled)
                .state,
            JobState::kCancelled);
  EXPECT_EQ(Of(JobKind::kRun, {Over(EndCause::kExited), Over(EndCause::kNeverStarted)},
               EndCause::kJobEnding)
                .state,
            JobState::kFailed);
}

TEST(Outcome, IsTerminalWhateverEveryNodeSays) {
  for (int kind = 0; kind < 2; ++kind) {
    for (int a = 0; a <= 10; ++a) {
      for (int b = 0; b <= 10; ++b) {
        for (const EndCause ending :
             {EndCause::kNone, EndCause::kCancelled, EndCause::kJobEnding}) {
          const Outcome outcome =
              Of(static_cast<JobKind>(kind),
                 {Over(static_cast<EndCause>(a)), Over(static_cast<EndCause>(b))}, ending);
          EXPECT_TRUE(IsTerminal(outcome.state));
          if (outcome.state == JobState::kCompleted) {
            EXPECT_EQ(static_cast<EndCause>(a), EndCause::kExited);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace muster::core
