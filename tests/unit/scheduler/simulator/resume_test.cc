// A simulation that is killed anywhere and resumed comes to the bytes of one that was not.

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/simulator/cluster/cluster_simulation.h"
#include "scheduler/simulator/decision_log.h"
#include "scheduler/simulator/flat/flat_simulation.h"
#include "scheduler/simulator/schedule/schedule_csv.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"
#include "tests/unit/scheduler/simulator/rows.h"

namespace muster::sim {
namespace {

using testing::Rows;

class Resume : public ::testing::Test {
 protected:
  // Few moments, long queues; sometimes a record that is out of order.
  std::string AnyTrace(std::int64_t processors) {
    const auto count = *rc::gen::inRange<std::int64_t>(5, 60);
    const auto longest = *rc::gen::element<std::int64_t>(12, 400);
    const bool unsorted = *rc::gen::inRange(0, 8) == 0;
    std::string text;
    std::int64_t submit = 0;
    for (std::int64_t id = 1; id <= count; ++id) {
      submit += *rc::gen::inRange<std::int64_t>(0, 20);
      const auto limit = *rc::gen::inRange<std::int64_t>(1, longest + 1);
      const auto run = *rc::gen::inRange<std::int64_t>(1, limit + 1);
      const auto size = *rc::gen::inRange<std::int64_t>(1, processors + 1);
      const auto user = *rc::gen::inRange<std::int64_t>(1, 4);
      absl::StrAppend(&text, id, " ", unsorted && id == count / 2 ? 0 : submit, " -1 ", run,
                      " -1 -1 -1 ", size, " ", limit, " -1 1 ", user, " 1 1 1 ", 1 + id % 2,
                      " -1 -1\n");
    }
    const std::string path = directory_ / "log.swf";
    std::ofstream(path, std::ios::trunc) << text;
    return path;
  }

  // Simulates with a log, cuts it anywhere, resumes: how often decisions were used.
  template <class Run, class Simulate>
  std::uint64_t Check(Run run, Simulate simulate) {
    const std::string path = directory_ / "decisions";
    std::filesystem::remove(path);
    Rows undisturbed;
    const auto expected = simulate(run, undisturbed);
    {
      auto log = DecisionLog::Create(path, "it", *rc::gen::element<std::size_t>(1, 40, 300));
      RC_ASSERT(log.ok());
      run.decisions = log->get();
      Rows first;
      RC_ASSERT(simulate(run, first) == expected);
      RC_ASSERT(first.table == undisturbed.table);
    }
    const auto size = std::filesystem::file_size(path);
    std::filesystem::resize_file(path, *rc::gen::inRange<std::uintmax_t>(30, size + 1));
    std::uint64_t used = 0;
    for (int again = 0; again < 2; ++again) {
      auto log = DecisionLog::Resume(path, "it");
      RC_ASSERT(log.ok());
      run.decisions = log->get();
      Rows second;
      RC_ASSERT(simulate(run, second) == expected);
      RC_ASSERT(second.table == undisturbed.table);
      used += (*log)->used();
    }
    return used;
  }

  TempDirectory directory_;
};

TEST_F(Resume, EveryPolicyOfIdenticalProcessorsGoesOnToTheSameBytes) {
  std::uint64_t used = 0;
  const bool holds = rc::check([this, &used] {
    FlatRun run;
    run.processors = *rc::gen::inRange<std::int64_t>(1, 9);
    run.trace = AnyTrace(run.processors);
    run.with_processors = true;
    run.policy.backfill =
        *rc::gen::element(Backfill::kNone, Backfill::kEasy, Backfill::kConservative);
    run.estimates = *rc::gen::element(Estimates::kRequested, Estimates::kExact, Estimates::kDouble,
                                      Estimates::kLastTwo, Estimates::kLearned);
    run.policy.estimates_fall_short = FallShort(run.estimates);
    run.instant = *rc::gen::element(InstantOrder::kEndsFirst, InstantOrder::kSubmitFirst);
    if (run.policy.backfill != Backfill::kConservative) {
      run.policy.order = *rc::gen::element(FlatOrder::kArrival, FlatOrder::kSjf, FlatOrder::kWfp3,
                                           FlatOrder::kFairshare, FlatOrder::kPrompt);
    }
    if (run.policy.backfill == Backfill::kEasy) {
      run.policy.candidates =
          *rc::gen::element(CandidateOrder::kQueue, CandidateOrder::kShortestFirst);
    }
    used += Check(run, [](const FlatRun& flat, Rows& table) {
      const auto result = SimulateFlat(flat, table);
      RC_ASSERT(result.ok());
      return std::tuple(result->jobs, result->ended, result->longest_queue, result->now);
    });
  });
  EXPECT_TRUE(holds);
  EXPECT_GT(used, 0U);
}

TEST_F(Resume, AClusterUnderTheLiveCodeGoesOnToTheSameBytesAndTheSameState) {
  std::uint64_t used = 0;
  const bool holds = rc::check([this, &used] {
    ClusterRun run;
    NodeClass alike;
    alike.count = *rc::gen::inRange<std::uint32_t>(1, 5);
    const auto cpus = *rc::gen::inRange<std::uint32_t>(1, 5);
    alike.machine = PlainMachine(cpus, 0, "", Bytes());
    alike.failures.mtbf_s = *rc::gen::element(0, 500);
    alike.failures.repair_s = 30;
    const auto processors = std::int64_t{alike.count} * cpus;
    if (*rc::gen::arbitrary<bool>()) {  // checkpoints that share a file system
      run.checkpoints = {.interval = 20, .cost = 0, .restart = 2, .size = 30};
      run.file_system = {.bandwidth = 40,
                         .per_node = *rc::gen::element<std::int64_t>(0, 25),
                         .writers = *rc::gen::inRange<std::uint32_t>(0, 3)};
    }
    run.nodes.push_back(std::move(alike));
    run.trace = AnyTrace(processors);
    run.config.backfill = *rc::gen::element(Backfill::kNone, Backfill::kEasy,
                                            Backfill::kConservative, Backfill::kHybrid);
    run.config.priority.weight_fairshare = *rc::gen::element(0U, 1000U);
    run.config.priority.weight_job_size = *rc::gen::element(0U, 1000U);
    for (const std::uint32_t tier : {1U, 2U}) {
      Partition partition;
      partition.name = absl::StrCat("p", tier);
      partition.is_default = tier == 1;
      partition.priority_tier = tier;
      partition.preempt_mode =
          *rc::gen::element(PreemptMode::kOff, PreemptMode::kRequeue, PreemptMode::kSuspend);
      run.policy.emplace_back(partition);
    }
    used += Check(run, [](const ClusterRun& cluster, Rows& table) {
      const auto result = SimulateCluster(cluster, table);
      RC_ASSERT(result.ok());
      return std::tuple(result->schedule.jobs, result->schedule.longest_queue, result->cycles,
                        result->preemptions, result->state_hash, result->failures.useful,
                        result->failures.shared);
    });
  });
  EXPECT_TRUE(holds);
  EXPECT_GT(used, 0U);
}

}  // namespace
}  // namespace muster::sim
