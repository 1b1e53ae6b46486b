#include "scheduler/core/state/tables/job_table.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <set>

#include "tests/unit/scheduler/core/builders.h"

namespace muster::core {
namespace {

using testing::Normal;
using testing::Tasks;

// `count` elements with every second index from 10 on.
UntouchedElements Elements(std::uint64_t first, std::uint32_t count) {
  JobSpec spec = Normal(Tasks(1));
  spec.array = ArraySpec{{{10, 10 + 2 * (count - 1), 2}}, 0};
  Job job;
  job.id = JobId(first);
  job.submission = JobId(first);
  job.array_index = 10;
  job.spec = std::make_shared<const JobSpec>(std::move(spec));
  return UntouchedElements{std::move(job), count};
}

Job Plain(std::uint64_t id, const std::string& user = "ann") {
  Job job;
  job.id = JobId(id);
  job.submission = job.id;
  JobSpec spec = Normal(Tasks(1));
  spec.user.name = user;
  job.spec = std::make_shared<const JobSpec>(std::move(spec));
  return job;
}

using Runs = std::vector<std::pair<std::uint64_t, std::uint32_t>>;

Runs RunsOf(const JobTable& table) {
  Runs runs;
  table.ForEachRun(
      [&](const Job& job, std::uint32_t count) { runs.emplace_back(job.id.value(), count); });
  return runs;
}

TEST(JobTable, AWalkEndsWhenItsVisitorHasEnough) {
  JobTable table;
  for (const std::uint64_t id : {1, 2, 3}) {
    table.Add(Plain(id));
  }
  table.Add(Elements(4, 5));
  std::vector<std::uint64_t> seen;
  table.ForEachRunWhile([&](const Job& job, std::uint32_t) {
    seen.push_back(job.id.value());
    return seen.size() < 2;
  });
  EXPECT_EQ(seen, (std::vector<std::uint64_t>{1, 2}));
}

TEST(JobTable, HoldsTheUntouchedElementsOfAnArrayInOneRun) {
  JobTable table;
  table.Add(Plain(1));
  table.Add(Elements(2, 1'000'000));
  EXPECT_EQ(table.size(), 1'000'001U);
  EXPECT_EQ(table.untouched(), 1'000'000U);
  EXPECT_EQ(RunsOf(table), (Runs{{1, 1}, {2, 1'000'000}}));
  const Job* last = table.Find(JobId(1'000'001));
  ASSERT_NE(last, nullptr);
  EXPECT_EQ(last->id, JobId(1'000'001));
  EXPECT_EQ(last->array_index, 10U + 2 * 999'999);
  EXPECT_EQ(last->submission, JobId(2));
  EXPECT_EQ(table.Find(JobId(1'000'002)), nullptr);
}

TEST(JobTable, ATouchedElementIsKeptByItself) {
  JobTable table;
  table.Add(Elements(5, 10));
  Job* job = table.Touch(JobId(8));
  ASSERT_NE(job, nullptr);
  EXPECT_EQ(job->array_index, 16U);
  job->held = true;
  EXPECT_EQ(RunsOf(table), (Runs{{5, 3}, {8, 1}, {9, 6}}));
  EXPECT_TRUE(table.Find(JobId(8))->held);
  EXPECT_FALSE(table.Find(JobId(9))->held);
  EXPECT_EQ(table.untouched(), 9U);
  EXPECT_EQ(table.Touch(JobId(8)), job);
  EXPECT_EQ(table.Touch(JobId(15)), nullptr);
}

TEST(JobTable, AnArrayEatenFromTheFrontStaysOneRun) {
  JobTable table;
  table.Add(Elements(1, 100));
  for (std::uint64_t id = 1; id < 100; ++id) {
    table.Erase(JobId(id));
    EXPECT_EQ(RunsOf(table), (Runs{{id + 1, static_cast<std::uint32_t>(100 - id)}}));
  }
  table.Erase(JobId(100));
  EXPECT_TRUE(table.empty());
  EXPECT_EQ(table.NextFrom(JobId(1)), std::nullopt);
}

TEST(JobTable, ManyUntouchedElementsGoAtOnce) {
  JobTable table;
  table.Add(Elements(1, 100));
  table.Touch(JobId(50));
  EXPECT_EQ(table.UntouchedFrom(JobId(10)), 40U);
  EXPECT_EQ(table.UntouchedFrom(JobId(50)), 0U);
  table.EraseUntouched(JobId(10), 40);
  EXPECT_EQ(RunsOf(table), (Runs{{1, 9}, {50, 1}, {51, 50}}));
  EXPECT_EQ(table.size(), 60U);
}

// Against a count of all.
void CheckUsers(const JobTable& table) {
  std::map<std::string, std::uint64_t> counted = {{"ann", 0}, {"bob", 0}};
  for (const auto& [id, job] : table) {
    ++counted[job.spec->user.name];
  }
  for (const auto& [user, count] : counted) {
    RC_ASSERT(table.OfUser(user) == count);
  }
}

// Against a map that keeps every job by itself.
RC_GTEST_PROP(JobTable, AgreesWithATableThatKeepsEachJobByItself, ()) {
  JobTable table;
  std::map<JobId, std::uint32_t> nice;
  std::uint64_t next = 1;
  const int turns = *rc::gen::inRange(1, 60);
  for (int turn = 0; turn < turns; ++turn) {
    const JobId some(*rc::gen::inRange<std::uint64_t>(1, next + 1));
    switch (*rc::gen::inRange(0, 4)) {
      case 0: {
        const std::uint32_t count = *rc::gen::inRange(1U, 12U);
        table.Add(Elements(next, count));
        for (std::uint32_t i = 0; i < count; ++i) {
          nice[JobId(next++)] = 0;
        }
        break;
      }
      case 1:
        nice[JobId(next)] = 0;
        table.Add(Plain(next++, *rc::gen::element<std::string>("ann", "bob")));
        break;
      case 2:
        if (nice.contains(some)) {
          table.Touch(some)->requeues = ++nice[some];
        }
        break;
      default:
        if (nice.erase(some) > 0) {
          table.Erase(some);
        }
    }
    RC_ASSERT(table.size() == nice.size());
    std::map<JobId, std::uint32_t> seen;
    for (const auto& [id, job] : table) {
      RC_ASSERT(job.id == id);
      RC_ASSERT((seen.empty() || seen.rbegin()->first < id));
      seen[id] = job.requeues;
    }
    RC_ASSERT(seen == nice);
    CheckUsers(table);
    const Job* found = table.Find(some);
    RC_ASSERT((found != nullptr) == nice.contains(some));
    RC_ASSERT(table.contains(some) == nice.contains(some));
    const auto after = nice.lower_bound(some);
    RC_ASSERT(table.NextFrom(some) ==
              (after == nice.end() ? std::nullopt : std::optional(after->first)));
  }
}

}  // namespace
}  // namespace muster::core
