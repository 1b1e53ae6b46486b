#include "scheduler/simulator/flat/prompt_queue.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <map>
#include <vector>

#include "scheduler/simulator/flat/conservative_queue.h"
#include "scheduler/simulator/flat/known_jobs.h"

namespace muster::sim {
namespace {

struct WorldJob {
  FlatJob job;
  Tick run = 0;  // at most its limit
  Tick start = kNever;
  Tick promised = kNever;
};

FlatPolicy Prompt(core::PromptRules rules) {
  FlatPolicy policy;
  policy.order = FlatOrder::kPrompt;
  policy.prompt = rules;
  return policy;
}

// Jobs in order of submission, one after the other through the queue, to the end of the last one.
class World {
 public:
  World(std::int64_t processors, const core::PromptRules& rules)
      : queue(Prompt(rules), processors, -1'000'000), processors_(processors) {}

  void Run(std::vector<WorldJob>& jobs) {
    std::size_t next = 0;
    std::multimap<Tick, std::uint32_t> ends;
    while (next < jobs.size() || !ends.empty() || queue.waiting() > 0) {
      Tick now = queue.NextWake();
      now = next < jobs.size() ? std::min(now, jobs[next].job.submit) : now;
      now = ends.empty() ? now : std::min(now, ends.begin()->first);
      ASSERT_NE(now, kNever);
      for (; !ends.empty() && ends.begin()->first == now; ends.erase(ends.begin())) {
        queue.End(ends.begin()->second);
        in_use_ -= jobs[ends.begin()->second].job.processors;
      }
      for (; next < jobs.size() && jobs[next].job.submit == now; ++next) {
        queue.Arrive(jobs[next].job);
      }
      for (const FlatStart& start : queue.RunCycle(now)) {
        WorldJob& job = jobs[start.handle];
        ASSERT_EQ(job.start, kNever);
        job.start = now;
        job.promised = start.promised;
        ends.emplace(now + job.run, start.handle);
        in_use_ += job.job.processors;
        ASSERT_LE(in_use_, processors_);
      }
      most_steps = std::max(most_steps, queue.steps());
    }
  }

  PromptQueue queue;
  std::size_t most_steps = 0;

 private:
  std::int64_t processors_;
  std::int64_t in_use_ = 0;
};

std::vector<WorldJob> AnyJobs(std::int64_t processors) {
  std::vector<WorldJob> jobs;
  Tick now = *rc::gen::inRange<Tick>(-50, 50);
  const auto count = *rc::gen::inRange<std::uint32_t>(1, 40);
  for (std::uint32_t i = 0; i < count; ++i) {
    now += *rc::gen::element<Tick>(0, 0, 1, 9, 100);
    WorldJob job;
    job.job.handle = i;
    job.job.submit = now;
    job.job.processors = *rc::gen::inRange<std::int64_t>(1, processors + 1);
    job.job.limit = *rc::gen::element<Tick>(1, 10, 60, 300, 5000);
    job.job.estimate = *rc::gen::inRange<Tick>(1, 2 * job.job.limit + 1);
    job.run = *rc::gen::inRange<Tick>(1, job.job.limit + 1);
    job.job.user = i % 3;
    jobs.push_back(job);
  }
  return jobs;
}

core::PromptRules AnyRules() {
  return {.stretch_permille = *rc::gen::element<std::int64_t>(0, 1000, 5000, 1'000'000),
          .patience = *rc::gen::element<std::int64_t>(0, 20, 500, 1'000'000),
          .backlog_permille = *rc::gen::element<std::int64_t>(0, 500, 3000),
          .slack = *rc::gen::element<std::int64_t>(0, 10, 400, 1'000'000)};
}

TEST(PromptQueue, KeepsEveryPromiseWhateverTheEstimatesSay) {
  const bool holds = rc::check([] {
    const auto processors = *rc::gen::inRange<std::int64_t>(1, 9);
    std::vector<WorldJob> jobs = AnyJobs(processors);
    World world(processors, AnyRules());
    world.Run(jobs);
    for (const WorldJob& job : jobs) {
      RC_ASSERT(job.start != kNever && job.start >= job.job.submit);
      RC_ASSERT(job.start <= job.promised);
    }
  });
  EXPECT_TRUE(holds);
}

// What is promised depends on those before alone: their limits, with their own slack before them,
// and what rounding adds.
TEST(PromptQueue, PromisesNoMoreThanTheWorkBeforeAndTheSlack) {
  const bool holds = rc::check([] {
    const auto processors = *rc::gen::inRange<std::int64_t>(1, 9);
    std::vector<WorldJob> jobs = AnyJobs(processors);
    core::PromptRules rules = AnyRules();
    World world(processors, rules);
    world.Run(jobs);
    Tick before = 0;
    for (const WorldJob& job : jobs) {
      RC_ASSERT(job.promised <= job.job.submit + 2 * before + (1 + job.job.handle) * rules.slack +
                                    64 * (1 + job.job.handle) + before / 2);
      before += job.job.limit;
    }
  });
  EXPECT_TRUE(holds);
}

// Limits that are written too short end the job, and move nobody's start past what he was promised.
TEST(PromptQueue, AUserWhoWritesShortLimitsBreaksNobodysPromise) {
  const bool holds = rc::check([] {
    const auto processors = *rc::gen::inRange<std::int64_t>(1, 9);
    std::vector<WorldJob> jobs = AnyJobs(processors);
    for (WorldJob& job : jobs) {
      if (job.job.user == 0) {
        job.job.limit = std::max<Tick>(1, job.job.limit / 10);
        job.job.estimate = std::min(job.job.estimate, job.job.limit);
        job.run = job.job.limit;  // killed
      }
    }
    World world(processors, AnyRules());
    world.Run(jobs);
    for (const WorldJob& job : jobs) {
      RC_ASSERT(job.start <= job.promised);
    }
  });
  EXPECT_TRUE(holds);
}

TEST(PromptQueue, AShortJobPassesALongOneAndALateOneDoesNot) {
  World world(
      1,
      {.stretch_permille = 1000, .patience = 1'000'000, .backlog_permille = 0, .slack = 1'000'000});
  std::vector<WorldJob> jobs = {
      {{.handle = 0, .processors = 1, .submit = 0, .estimate = 50, .limit = 50}, 50},
      {{.handle = 1, .processors = 1, .submit = 1, .estimate = 40, .limit = 40}, 40},
      {{.handle = 2, .processors = 1, .submit = 2, .estimate = 5, .limit = 5}, 5},
      {{.handle = 3, .processors = 1, .submit = 49, .estimate = 5, .limit = 5}, 5},
  };
  world.Run(jobs);
  EXPECT_EQ(jobs[2].start, 50);
  EXPECT_EQ(jobs[1].start, 55);
  EXPECT_EQ(jobs[3].start, 95);
}

TEST(PromptQueue, WhosePatienceIsOverGoesFirst) {
  World world(
      1,
      {.stretch_permille = 1'000'000, .patience = 15, .backlog_permille = 0, .slack = 1'000'000});
  std::vector<WorldJob> jobs = {
      {{.handle = 0, .processors = 1, .submit = 0, .estimate = 20, .limit = 20}, 20},
      {{.handle = 1, .processors = 1, .submit = 1, .estimate = 100, .limit = 100}, 100},
      {{.handle = 2, .processors = 1, .submit = 2, .estimate = 20, .limit = 20}, 20},
      {{.handle = 3, .processors = 1, .submit = 3, .estimate = 20, .limit = 20}, 20},
  };
  world.Run(jobs);
  EXPECT_EQ(jobs[1].start, 20);
  EXPECT_EQ(jobs[2].start, 120);
  EXPECT_EQ(jobs[3].start, 140);
}

TEST(PromptQueue, ABurstOfAHundredThousandEqualJobsCostsFewSteps) {
  World world(1000, {});
  std::vector<WorldJob> jobs(100'000);
  for (std::uint32_t i = 0; i < jobs.size(); ++i) {
    jobs[i].job = {.handle = i, .processors = 1, .submit = 0, .estimate = 600, .limit = 600};
    jobs[i].run = 300;
  }
  world.Run(jobs);
  EXPECT_LT(world.most_steps, 1000U);
  Tick last = 0;
  for (const WorldJob& job : jobs) {
    ASSERT_LE(job.start, job.promised);
    last = std::max(last, job.start);
  }
  EXPECT_EQ(last, 99 * 300);  // no processor was left idle
}

TEST(PromptQueue, LimitsOfAYearAreKeptBesideShortJobs) {
  World world(4, {});
  std::vector<WorldJob> jobs(60);
  for (std::uint32_t i = 0; i < jobs.size(); ++i) {
    const Tick limit = i % 3 == 0 ? 31'536'000 : 60;
    jobs[i].job = {.handle = i,
                   .processors = 1 + i % 4,
                   .submit = Tick{i} * 30,
                   .estimate = limit,
                   .limit = limit};
    jobs[i].run = limit;
  }
  world.Run(jobs);
  for (const WorldJob& job : jobs) {
    EXPECT_LE(job.start, job.promised);
  }
}

TEST(KnownJobs, AQueueGoesOnWhereItWasSavedAndRefusesOtherBytes) {
  PromptQueue first(Prompt({}), 4, 0);
  first.Arrive({.handle = 0, .processors = 4, .submit = 0, .estimate = 100, .limit = 100});
  first.Arrive({.handle = 1, .processors = 4, .submit = 0, .estimate = 50, .limit = 50});
  ASSERT_EQ(first.RunCycle(0).size(), 1U);
  PromptQueue second(Prompt({}), 4, 0);
  ASSERT_TRUE(second.Load(first.Save(), 0));
  EXPECT_EQ(second.waiting(), 1U);
  EXPECT_EQ(second.NextWake(), first.NextWake());
  EXPECT_EQ(second.Save(), first.Save());
  ConservativeQueue other({}, 4, 0);
  EXPECT_FALSE(PromptQueue(Prompt({}), 4, 0).Load(other.Save(), 0));
  EXPECT_FALSE(PromptQueue(Prompt({}), 4, 0).Load("short", 0));
}

}  // namespace
}  // namespace muster::sim
