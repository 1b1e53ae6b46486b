#include "daemon/store/accounting.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/store/job_store.h"
#include "tests/unit/daemon/store/store_rig.h"

namespace muster::daemon {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Jobs 1 and 2 (ann, bob), the array 10 with elements 5, 7, 9 of which 9 has not ended.
class AccountingTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto store = OpenStore(directory_.path());
    ASSERT_TRUE(store.ok()) << store.status();
    store_ = *std::move(store);
    Batch batch =
        make_.Of({Submitted(1, ""), Submitted(2, ""), SubmittedArray(10, {{5, 9, 2}}, 3)});
    batch.ended = {Ended(1, 1, "ann", "COMPLETED", 100), Ended(2, 2, "bob", "FAILED", 300),
                   Ended(10, 10, "ann", "FAILED", 200), Ended(11, 10, "ann", "COMPLETED", 400)};
    batch.ended[1].detail.job.account = "physics";
    batch.ended[2].detail.job.array_task_id = "5";
    batch.ended[3].detail.job.array_task_id = "7";
    batch.attempts = {AttemptOf(1, 2), AttemptOf(1, 1), AttemptOf(12, 1)};
    ASSERT_TRUE(store_->Commit({&batch, 1}).ok());
    auto accounting = Accounting::Open(*store_);
    ASSERT_TRUE(accounting.ok()) << accounting.status();
    accounting_ = *std::move(accounting);
  }
  std::vector<std::uint64_t> Ids(const HistoryFilter& filter) {
    auto views = accounting_->List(filter);
    EXPECT_TRUE(views.ok()) << views.status();
    std::vector<std::uint64_t> ids;
    for (const JobView& view : *views) {
      ids.push_back(view.id.value());
    }
    return ids;
  }
  std::vector<std::uint64_t> Shown(std::uint64_t id, const std::vector<std::uint32_t>& elements) {
    auto details = accounting_->Show(JobId(id), elements);
    EXPECT_TRUE(details.ok()) << details.status();
    std::vector<std::uint64_t> ids;
    for (const JobDetail& detail : *details) {
      ids.push_back(detail.job.id.value());
    }
    return ids;
  }
  TempDirectory directory_;
  std::unique_ptr<JobStore> store_;
  std::unique_ptr<Accounting> accounting_;
  BatchMaker make_;
};

TEST_F(AccountingTest, TellsWhatHasEndedOfTheJobsThatOthersDependOn) {
  const auto term = [](std::uint64_t job, std::optional<std::uint32_t> element) {
    return DependencyTerm{DependencyKind::kAfterOk, JobId(job), element, Duration(0)};
  };
  const auto targets = accounting_->Targets(
      {term(1, {}), term(10, {}), term(10, 7), term(10, 9), term(11, {}), term(99, {})});
  ASSERT_TRUE(targets.ok()) << targets.status();
  ASSERT_EQ(targets->size(), 6U);
  const auto counts = [&](std::size_t i) {
    return std::pair((*targets)[i].ended, (*targets)[i].failed);
  };
  EXPECT_EQ(counts(0), std::pair(1U, 0U));
  EXPECT_EQ((*targets)[0].started, At(2000)) << "the first attempt's start";
  EXPECT_EQ(counts(1), std::pair(2U, 1U));
  EXPECT_TRUE((*targets)[1].completed.Contains(7));
  EXPECT_TRUE((*targets)[1].others.Contains(5));
  EXPECT_EQ(counts(2), std::pair(1U, 0U));
  EXPECT_EQ(counts(3), std::pair(0U, 0U));
  EXPECT_EQ(counts(4), std::pair(1U, 0U));
  EXPECT_EQ(counts(5), std::pair(0U, 0U));
}

TEST_F(AccountingTest, TheNewestEndComesFirst) {
  EXPECT_THAT(Ids({}), ElementsAre(11, 2, 10, 1));
}

TEST_F(AccountingTest, EachFilterRestrictsAndTheyCombine) {
  HistoryFilter filter;
  filter.user = "ann";
  EXPECT_THAT(Ids(filter), ElementsAre(11, 10, 1));
  filter.states = {"COMPLETED", "TIMEOUT"};
  EXPECT_THAT(Ids(filter), ElementsAre(11, 1));
  filter.since = At(101);
  EXPECT_THAT(Ids(filter), ElementsAre(11));
  filter.states = {"COMPLETED", "FAILED"};
  filter.limit = 1;
  EXPECT_THAT(Ids(filter), ElementsAre(11));
  filter.jobs = {JobId(2)};
  EXPECT_THAT(Ids(filter), IsEmpty());
}

TEST_F(AccountingTest, AnArraysIdNamesItsElements) {
  HistoryFilter filter;
  filter.jobs = {JobId(10), JobId(2)};
  EXPECT_THAT(Ids(filter), ElementsAre(11, 2, 10));
  filter.jobs = {JobId(11)};
  EXPECT_THAT(Ids(filter), ElementsAre(11));
}

TEST_F(AccountingTest, WhoIsShownPartSeesTheirOwnAndThatOfTheirAccounts) {
  HistoryFilter filter;
  filter.shown = HistoryFilter::Shown{"ann", {}};
  EXPECT_THAT(Ids(filter), ElementsAre(11, 10, 1));
  filter.shown = HistoryFilter::Shown{"eve", {}};
  EXPECT_THAT(Ids(filter), IsEmpty());
  filter.shown->accounts = {"chemistry", "physics"};
  EXPECT_THAT(Ids(filter), ElementsAre(2));
  filter.jobs = {JobId(2), JobId(10)};
  EXPECT_THAT(Ids(filter), ElementsAre(2));
  filter.shown->user = "ann";
  filter.limit = 2;
  EXPECT_THAT(Ids(filter), ElementsAre(11, 2));
  filter.jobs.clear();
  filter.user = "bob";
  EXPECT_THAT(Ids(filter), ElementsAre(2));
}

TEST_F(AccountingTest, RunsAreAlikeOfOneProgramAtOneSize) {
  Batch batch = make_.Of({Submitted(20, ""), Submitted(21, ""), Submitted(22, ""),
                          Submitted(23, ""), Submitted(24, ""), Submitted(25, "")});
  for (std::uint64_t id = 20; id <= 25; ++id) {
    batch.ended.push_back(Ended(id, id, "ann", "COMPLETED", 1000 + id));
    batch.ended.back().detail.record = {"environment=1", "program=a"};
  }
  batch.ended[1].detail.record = {"program=b"};
  batch.ended[2].detail.job.cpus += 1;
  batch.ended[3].detail.job.restarts = 1;
  ASSERT_TRUE(store_->Commit({&batch, 1}).ok());
  const auto like = [&](std::uint64_t id) {
    const auto runs = accounting_->RunsLike(accounting_->Show(JobId(id), {})->front());
    EXPECT_TRUE(runs.ok()) << runs.status();
    std::vector<std::uint64_t> ids;
    for (const JobDetail& run : *runs) {
      ids.push_back(run.job.id.value());
    }
    return ids;
  };
  EXPECT_THAT(like(25), ElementsAre(20, 24, 25));
  EXPECT_THAT(like(24), ElementsAre(20, 24)) << "those that ended later are not there yet";
  EXPECT_THAT(like(21), ElementsAre(21));
}

TEST_F(AccountingTest, AFilterValueIsNeverReadAsSql) {
  HistoryFilter filter;
  filter.user = "x' OR '1'='1";
  EXPECT_THAT(Ids(filter), IsEmpty());
  filter.user.clear();
  filter.states = {"x') OR ('1'='1"};
  EXPECT_THAT(Ids(filter), IsEmpty());
}

TEST_F(AccountingTest, NoLimitMeansAll) {
  HistoryFilter filter;
  filter.limit = 0;
  EXPECT_EQ(Ids(filter).size(), 4U);
}

TEST_F(AccountingTest, ShowGivesTheAttemptsInOrder) {
  auto details = accounting_->Show(JobId(1), {});
  ASSERT_TRUE(details.ok()) << details.status();
  ASSERT_EQ(details->size(), 1U);
  JobDetail expected = Ended(1, 1, "ann", "COMPLETED", 100).detail;
  expected.attempts = {AttemptOf(1, 1).attempt, AttemptOf(1, 2).attempt};
  EXPECT_EQ((*details)[0], expected);
}

TEST_F(AccountingTest, ShowGivesAnArraysEndedElementsOrThoseThatAreNamed) {
  EXPECT_THAT(Shown(10, {}), ElementsAre(10, 11));
  EXPECT_THAT(Shown(10, {7, 9, 1000}), ElementsAre(11));
  EXPECT_THAT(Shown(11, {}), ElementsAre(11));
  EXPECT_THAT(Shown(12, {}), IsEmpty());
  EXPECT_THAT(Shown(999, {}), IsEmpty());
}

TEST_F(AccountingTest, EndedAttemptsOfALiveJobAreThere) {
  EXPECT_THAT(*accounting_->Attempts(JobId(12)), ElementsAre(AttemptOf(12, 1).attempt));
  EXPECT_THAT(*accounting_->Attempts(JobId(2)), IsEmpty());
}

TEST_F(AccountingTest, TheAttemptsOfManyJobsComeByJobWithoutTheirRanks) {
  std::vector<JobId> jobs;
  for (std::uint64_t id = 1; id <= 25'000; ++id) {
    jobs.emplace_back(id);
  }
  const auto attempts = accounting_->Attempts(jobs);
  ASSERT_TRUE(attempts.ok()) << attempts.status();
  ASSERT_EQ(attempts->size(), 2U);
  AttemptView first = AttemptOf(1, 1).attempt;
  EXPECT_FALSE(first.ranks.empty());
  first.ranks.clear();
  ASSERT_EQ(attempts->at(JobId(1)).size(), 2U);
  EXPECT_EQ(attempts->at(JobId(1))[0], first);
  EXPECT_EQ(attempts->at(JobId(12)).size(), 1U);
}

TEST_F(AccountingTest, TheBindingColumnCountsTheVerdicts) {
  auto database = LookInto(directory_.path());
  ASSERT_TRUE(database.ok());
  EXPECT_EQ(*(*database)->ReadInteger(
                "SELECT count(*) FROM attempts WHERE binding = 'differs 1, verified 1' "
                "AND nodes = 'node1,node2'"),
            3);
}

}  // namespace
}  // namespace muster::daemon
