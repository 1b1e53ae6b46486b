#include "proto/convert/snapshot.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "scheduler/core/plan/planner.h"
#include "tests/unit/scheduler/core/history.h"

namespace muster {
namespace {

using core::testing::History;

ReplayBundle ThereAndBack(const ReplayBundle& bundle) {
  wire::ReplayBundle out;
  ToWire(bundle, &out);
  wire::ReplayBundle in;
  EXPECT_TRUE(in.ParseFromString(out.SerializeAsString()));
  ReplayBundle back;
  const absl::Status status = FromWire(in, &back);
  EXPECT_TRUE(status.ok()) << status;
  return back;
}

TEST(SnapshotOnTheWire, MakesThePlanThatItMadeBefore) {
  std::uint64_t with_policy = 0;
  std::uint64_t with_reservations = 0;
  for (std::uint64_t seed = 1; seed <= 24; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    History history(seed);
    history.OnCycle([&](const Snapshot& snapshot, const SchedulerConfig& config, const Plan& plan) {
      ReplayBundle bundle{"1.0", snapshot, config, plan, {}};
      const ReplayBundle back = ThereAndBack(bundle);
      EXPECT_EQ(back.plan, plan);
      EXPECT_EQ(core::MakePlan(back.snapshot, back.config).hash, plan.hash)
          << "version " << snapshot.version.value();
      with_policy += snapshot.policy != nullptr ? 1 : 0;
      with_reservations += snapshot.promised.empty() ? 0 : 1;
    });
    for (int turn = 0; turn < 200; ++turn) {
      history.Turn();
    }
    ASSERT_EQ(history.problem(), "");
    ASSERT_FALSE(HasFailure());
  }
  EXPECT_GT(with_policy, 24U);
  EXPECT_GT(with_reservations, 24U);
}

TEST(SnapshotOnTheWire, AMachineOfManyNodesTravelsOnce) {
  Snapshot snapshot;
  const auto machine = std::make_shared<const Machine>();
  for (std::uint32_t id = 1; id <= 3; ++id) {
    NodeSnapshot& node = snapshot.nodes.emplace_back();
    node.id = NodeId(id);
    node.machine = machine;
  }
  wire::Snapshot out;
  ToWire(snapshot, &out);
  EXPECT_EQ(out.machines_size(), 1);
  Snapshot back;
  ASSERT_TRUE(FromWire(out, &back).ok());
  EXPECT_EQ(back.nodes[0].machine, back.nodes[2].machine);
}

TEST(SnapshotOnTheWire, ANodeWhoseMachineIsNotThereIsRefused) {
  wire::Snapshot message;
  message.add_nodes()->set_name("n1");
  Snapshot snapshot;
  EXPECT_EQ(FromWire(message, &snapshot).message(), "node n1: machine 0 of 0");
}

}  // namespace
}  // namespace muster
