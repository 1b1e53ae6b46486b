#include "daemon/store/rows/program_secret.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "tests/unit/daemon/store/store_rig.h"

namespace muster::daemon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* kKey = "API_KEY=8ab2e0c1-not-for-ever";
constexpr const char* kHost = "MUSTER_SUBMIT_HOST=login1";

Program SecretProgram(const std::string& script) {
  Program program = ProgramOf(script);
  program.argv = {"--fast"};
  program.environment = {"HOME=/home/ann", kKey, kHost};
  return program;
}

JobSubmitted SecretSubmission(std::uint64_t first) {
  JobSubmitted event = Submitted(first, "");
  event.program = SecretProgram("#!/bin/sh\ntrue\n");
  return event;
}

class ProgramSecretTest : public StoreTest {
 protected:
  void End(std::uint64_t job, std::uint64_t submission) {
    Batch end = make_.Small();
    end.ended = {Ended(job, submission, "ann", "COMPLETED", 50)};
    Commit(end);
  }
  Program ReadProgram(std::uint64_t job) {
    const absl::StatusOr<Program> program = store_->ReadProgram(JobId(job));
    EXPECT_TRUE(program.ok()) << program.status();
    return program.value_or(Program());
  }
};

TEST_F(ProgramSecretTest, ASubmissionIsReadWholeByAnyOfItsJobs) {
  Open();
  JobSubmitted event = SubmittedArray(10, {{0, 2, 1}}, 3);
  event.program = SecretProgram("#!/bin/sh\ntrue\n");
  Commit(make_.Of({SecretSubmission(1), event}));
  for (const std::uint64_t job : {10, 12}) {
    const absl::StatusOr<JobSubmitted> found = store_->ReadSubmission(JobId(job));
    ASSERT_TRUE(found.ok()) << found.status();
    EXPECT_EQ(found->first, JobId(10));
    EXPECT_EQ(found->count, 3U);
    EXPECT_EQ(found->spec, event.spec);
    EXPECT_EQ(found->program, event.program);
  }
  for (const std::uint64_t job : {0, 2, 9, 13}) {
    EXPECT_TRUE(absl::IsNotFound(store_->ReadSubmission(JobId(job)).status())) << job;
  }
}

TEST_F(ProgramSecretTest, AnEndedJobHasNoEnvironmentAndNoScriptAndTheRestOfItsProgram) {
  Open();
  const JobSubmitted event = SecretSubmission(1);
  Commit(make_.Of({event}));
  EXPECT_EQ(ReadProgram(1), event.program);
  End(1, 1);
  const Program left = ReadProgram(1);
  EXPECT_THAT(left.script, IsEmpty());
  EXPECT_THAT(left.environment, ElementsAre(kHost));
  EXPECT_THAT(left.argv, ElementsAre("--fast"));
  EXPECT_EQ(left.work_dir, "/home/ann");
  EXPECT_EQ(std::get<JobSubmitted>(Entries()[0].event).program, left);
}

TEST_F(ProgramSecretTest, AScriptThatIsKeptStaysAndItsEnvironmentGoes) {
  Open(Scripts::kKept);
  Commit(make_.Of({SecretSubmission(1)}));
  End(1, 1);
  EXPECT_EQ(ReadProgram(1).script, "#!/bin/sh\ntrue\n");
  EXPECT_THAT(ReadProgram(1).environment, ElementsAre(kHost));
}

TEST_F(ProgramSecretTest, AnArraysProgramStaysUntilItsLastElementHasEnded) {
  Open();
  JobSubmitted event = SubmittedArray(1, {{0, 2, 1}}, 3);
  event.program = SecretProgram("#!/bin/sh\n");
  Commit(make_.Of({event}));
  End(1, 1);
  End(3, 1);
  EXPECT_EQ(ReadProgram(1), event.program);
  End(2, 1);
  EXPECT_THAT(ReadProgram(1).environment, ElementsAre(kHost));
}

TEST_F(ProgramSecretTest, ElementsThatEndTogetherEraseTheirProgram) {
  Open();
  JobSubmitted event = SubmittedArray(1, {{0, 99, 1}}, 100);
  event.program = SecretProgram("#!/bin/sh\n");
  Commit(make_.Of({event}));
  Batch end = make_.Small();
  end.ended = {Ended(1, 1, "ann", "CANCELLED", 50)};
  end.ended[0].detail.job.indices = {{0, 99, 1}};
  Commit(end);
  EXPECT_THAT(ReadProgram(1).script, IsEmpty());
}

TEST_F(ProgramSecretTest, JobsThatEndTogetherTakeNothingFromThoseBetweenThem) {
  Open();
  JobSubmitted array = SubmittedArray(3, {{0, 2, 1}}, 3);
  array.program = SecretProgram("#!/bin/sh\n");
  Commit(make_.Of(
      {SecretSubmission(1), SecretSubmission(2), array, SecretSubmission(6), SecretSubmission(7)}));
  Batch end = make_.Small();
  for (const std::uint64_t job : {1, 2, 3, 7}) {  // of the array its first element
    end.ended.push_back(Ended(job, job, "ann", "CANCELLED", 50));
  }
  Commit(end);
  for (const std::uint64_t job : {1, 2, 7}) {
    EXPECT_THAT(ReadProgram(job).environment, ElementsAre(kHost)) << job;
  }
  EXPECT_EQ(ReadProgram(3), array.program);
  EXPECT_EQ(ReadProgram(6), SecretSubmission(6).program);
  EXPECT_EQ(Count("SELECT count(*) FROM history"), 4);
  EXPECT_EQ(Count("SELECT CAST(sum(open) AS BIGINT) FROM submissions"), 3)
      << "two elements, and job 6";
  End(4, 3);
  End(5, 3);
  EXPECT_THAT(ReadProgram(3).environment, ElementsAre(kHost));
}

TEST_F(ProgramSecretTest, EveryComponentsSecretsStayUntilAllHaveEnded) {
  Open();
  JobSubmitted event = SecretSubmission(1);
  event.count = 2;
  event.spec.kind = JobKind::kRun;
  Component second{event.spec, SecretProgram("")};
  second.program.argv = {"second"};
  second.program.environment = {kKey, "RANK=1"};
  event.components = {second};
  Commit(make_.Of({event}));
  EXPECT_EQ(ReadProgram(2), second.program);
  EXPECT_EQ(Entries()[0].event, Event(event));
  End(1, 1);
  EXPECT_EQ(ReadProgram(2), second.program);
  End(2, 1);
  EXPECT_THAT(ReadProgram(2).environment, IsEmpty());
  EXPECT_THAT(ReadProgram(2).argv, ElementsAre("second"));
}

TEST_F(ProgramSecretTest, StepsLoseTheirEnvironmentsWithTheirJob) {
  Open();
  const StepStarted started{JobId(1),          AttemptNumber(1),      StepId(1), "", "a",
                            SecretProgram(""), AllocationOn("node1"), At(6)};
  const StepQueued queued{JobId(1), AttemptNumber(1),  StepId(2), "",
                          "b",      SecretProgram(""), {},        At(7)};
  const StepStarted others{JobId(2),          AttemptNumber(1),      StepId(1), "", "c",
                           SecretProgram(""), AllocationOn("node1"), At(8)};
  Commit(make_.Of({SecretSubmission(1), SecretSubmission(2), started, queued, others}));
  EXPECT_EQ(*store_->ReadStep(JobId(1), AttemptNumber(1), StepId(1)), started);
  EXPECT_EQ(store_->ReadStep(JobId(1), AttemptNumber(1), StepId(2))->program, queued.program);
  EXPECT_EQ(Entries()[2].event, Event(started));
  EXPECT_EQ(Entries()[3].event, Event(queued));
  End(1, 1);
  for (const std::uint32_t step : {1U, 2U}) {
    const auto read = store_->ReadStep(JobId(1), AttemptNumber(1), StepId(step));
    EXPECT_THAT(read->program.environment, ElementsAre(kHost)) << step;
    EXPECT_THAT(read->program.argv, ElementsAre("--fast")) << step;
  }
  EXPECT_EQ(*store_->ReadStep(JobId(2), AttemptNumber(1), StepId(1)), others);
}

TEST_F(ProgramSecretTest, NoPageOfTheFileHoldsWhatWasErased) {
  if (OnPostgres()) {
    GTEST_SKIP() << "of a database that others run, its vacuum decides";
  }
  Open();
  JobSubmitted event = SecretSubmission(1);
  event.program.script += std::string(20'000, '#') + kKey;
  const StepStarted step{JobId(1),          AttemptNumber(1),      StepId(1), "", "a",
                         SecretProgram(""), AllocationOn("node1"), At(6)};
  Commit(make_.Of({event, step}));
  const auto in_file = [&] {
    EXPECT_TRUE(store_->CheckpointAbove(0).ok());
    std::ifstream file(directory_.path() + "/state.db", std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  ASSERT_THAT(in_file(), HasSubstr(kKey)) << "the test looks at the wrong place";
  End(1, 1);
  EXPECT_THAT(in_file(), Not(HasSubstr(kKey)));
}

}  // namespace
}  // namespace muster::daemon
