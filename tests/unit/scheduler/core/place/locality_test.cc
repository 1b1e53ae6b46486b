#include "scheduler/core/place/locality.h"

#include <gtest/gtest.h>

#include "scheduler/core/place/gpu_links.h"
#include "scheduler/core/place/nodes/network_span.h"
#include "tests/unit/scheduler/core/builders.h"

namespace muster::core {
namespace {

using testing::Cpus;

Machine TwoNodes() {
  Machine machine = testing::MakeMachine({.numa = 2, .cores = 2, .gpus = 2});
  machine.nics = {{"a0", "", 0}, {"a1", "", 0}, {"b0", "", 1}};
  return machine;
}

RankPlacement Rank(const std::string& cpus, NumaSet memory, std::vector<std::uint32_t> gpus) {
  return {0, Cpus(cpus), std::move(memory), std::move(gpus)};
}

TEST(Locality, ARankIsLocalWhenAllOfItIsOnOneNumaNode) {
  const Machine machine = TwoNodes();
  EXPECT_TRUE(IsLocal(machine, Rank("0-1", NumaSet::Of({0}), {0, 1})));
  EXPECT_FALSE(IsLocal(machine, Rank("0-1", NumaSet::Of({0}), {2})));
  EXPECT_FALSE(IsLocal(machine, Rank("0-1", NumaSet::Of({1}), {0})));
  EXPECT_FALSE(IsLocal(machine, Rank("0-1", NumaSet::Of({0, 1}), {})));
  EXPECT_FALSE(IsLocal(machine, Rank("1-2", NumaSet::Of({0}), {})));
}

TEST(Locality, AGpuThatSaysNoNumaNodeIsNotNearUnlessThereIsOne) {
  Machine machine = TwoNodes();
  machine.gpus[0].numa = kNowhere;
  EXPECT_FALSE(IsLocal(machine, Rank("0", NumaSet::Of({0}), {0})));
  Machine one = testing::MakeMachine({.numa = 1, .cores = 2, .gpus = 1});
  one.gpus[0].numa = kNowhere;
  EXPECT_TRUE(IsLocal(one, Rank("0", NumaSet::Of({0}), {0})));
}

TEST(Locality, NicsAreThoseOfTheGpusWayThenOfTheCores) {
  Machine machine = TwoNodes();
  machine.nic_links = {{0, 0, LinkKind::kNode, 0, 0},
                       {0, 1, LinkKind::kSwitch, 0, 0},
                       {0, 2, LinkKind::kSystem, 0, 0}};
  NodeAllocation part;
  part.ranks = {Rank("0", NumaSet::Of({0}), {0}), Rank("1", NumaSet::Of({0}), {1}),
                Rank("2", NumaSet::Of({1}), {2}), Rank("3", NumaSet::Of({1}), {}),
                Rank("0", NumaSet::Of({0}), {})};
  EXPECT_EQ(NearestNics(machine, part), (std::vector<std::uint32_t>{1, 0, 2, 2, 0}));
  machine.nics.clear();
  machine.nic_links.clear();
  EXPECT_EQ(NearestNics(machine, part), std::vector<std::uint32_t>(5, kNowhere));
}

TEST(Locality, TheWeakestLinkIsTheMachinesOwnOrItsNumaKind) {
  Machine machine = TwoNodes();
  EXPECT_FALSE(WeakestLink(machine, {0}).has_value());
  EXPECT_EQ(WeakestLink(machine, {0, 1})->kind, LinkKind::kNode);
  EXPECT_EQ(WeakestLink(machine, {2, 0, 1})->kind, LinkKind::kSystem);
  machine.gpu_links = {{0, 1, LinkKind::kNvLink, 4, 100'000}};
  EXPECT_EQ(WeakestLink(machine, {1, 0})->bandwidth, 100'000U);
  const GpuLinkTable table(machine);
  EXPECT_EQ(table.Quality(1, 0), LinkQuality(machine.gpu_links[0]));
  EXPECT_LT(table.Quality(1, 2), table.Quality(2, 3));
  EXPECT_EQ(table.Quality(3, 3), kNoLink);
}

TEST(NetworkSpan, ASpanIsTheLowestSwitchAboveAllNodes) {
  Network network;
  network.switches = {{"root", SwitchKind::kSwitch, kNowhere, 1, {10, 0}},
                      {"l0", SwitchKind::kSwitch, 0, 0, {20, 0}},
                      {"l1", SwitchKind::kSwitch, 0, 0, {30, 0}}};
  network.nodes = {
      {"a", 1, kNowhere, kNowhere}, {"b", 1, kNowhere, kNowhere}, {"c", 2, kNowhere, kNowhere}};
  const NetworkSpan near = SpanOf(network, {"a", "b"});
  EXPECT_EQ(near.top, 1U);
  EXPECT_EQ(near.bandwidth, 20U);
  const NetworkSpan far = SpanOf(network, {"c", "a", "b"});
  EXPECT_EQ(far.top, 0U);
  EXPECT_EQ(far.leaves, (std::vector<std::uint32_t>{1, 2}));
  EXPECT_EQ(far.bandwidth, 10U);
  EXPECT_FALSE(SpanOf(network, {"a", "z"}).known);
}

}  // namespace
}  // namespace muster::core
