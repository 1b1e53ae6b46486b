#include "scheduler/core/share/running_charges.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

#include "scheduler/core/share/live_shares.h"
#include "tests/unit/scheduler/core/builders.h"

namespace muster::core {
namespace {

using testing::At;

RunningJob AnyRun(std::uint64_t id) {
  auto spec = std::make_shared<JobSpec>();
  spec->account = *rc::gen::element<std::string>("", "root", "physics");
  spec->user.name = *rc::gen::element<std::string>("ada", "bob", "eve");
  RunningJob job;
  job.id = JobId(id);
  job.spec = spec;
  job.started = At(*rc::gen::inRange<std::int64_t>(0, 3'000'000));
  job.billing = BillingRate(*rc::gen::inRange<std::uint64_t>(0, 10'000'000'000));
  return job;
}

// As they are charged when they end: one after the other.
std::map<std::pair<std::string, std::string>, DecayedUsage> OneByOne(const Snapshot& snapshot) {
  std::map<std::pair<std::string, std::string>, DecayedUsage> used;
  for (const AccountUsage& usage : snapshot.usage.used) {
    used[{usage.account, usage.user}] = usage.usage;
  }
  for (const RunningJob& job : snapshot.running) {
    const std::string account = job.spec->account.empty() ? "root" : job.spec->account;
    DecayedUsage& usage = used[{account, job.spec->user.name}];
    usage = Charge(usage, {job.id, job.billing, job.started + job.suspended, snapshot.now},
                   snapshot.usage.half_life);
  }
  return used;
}

TEST(RunningCharges, AreThoseOfEachRunByItselfToTheLastBitWhateverWasKept) {
  const bool holds = rc::check([] {
    RunningCharges kept;
    Snapshot snapshot;
    std::uint64_t next = 1;
    Time now = At(0);
    for (int cycle = 0; cycle < 8; ++cycle) {
      now += std::chrono::seconds(*rc::gen::inRange<std::int64_t>(-1000, 900'000));
      snapshot.now = now;
      snapshot.usage.half_life =
          std::chrono::hours(*rc::gen::element<std::int64_t>(0, 10, 10, 10, 24 * 7));
      std::erase_if(snapshot.running,
                    [](const RunningJob&) { return *rc::gen::inRange(0, 3) == 0; });
      for (int more = *rc::gen::inRange(0, 5); more > 0; --more) {
        snapshot.running.push_back(AnyRun(next++));
      }
      if (!snapshot.running.empty() && *rc::gen::inRange(0, 3) == 0) {
        snapshot.running.front().suspended += std::chrono::seconds(100);
      }
      snapshot.usage.used.clear();
      if (*rc::gen::inRange(0, 2) == 0) {
        const std::int64_t later = *rc::gen::inRange(0, 5) == 0 ? 1 : 0;
        RunningCharges fresh;
        fresh.Of(snapshot);
        AccountUsage used;
        used.account = "physics";
        used.user = "ada";
        used.usage = UsageOf(12345, fresh.period() + later);
        snapshot.usage.used.push_back(used);
      }
      const LiveShares shares = LiveSharesOf(snapshot, kept);
      const auto expected = OneByOne(snapshot);
      RC_ASSERT(shares.positions.size() == expected.size());
      for (const auto& [owner, usage] : expected) {
        RC_ASSERT(shares.tree.associations[shares.positions.at(owner)].usage == usage);
      }
      const LiveShares fresh = LiveSharesOf(snapshot);
      RC_ASSERT(fresh.positions == shares.positions);
    }
  });
  EXPECT_TRUE(holds);
}

}  // namespace
}  // namespace muster::core
