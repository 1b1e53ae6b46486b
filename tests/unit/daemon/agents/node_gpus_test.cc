#include "daemon/agents/node_gpus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/unit/scheduler/core/builders.h"

namespace muster::daemon {
namespace {

using core::testing::At;
using ::testing::IsEmpty;
using ::testing::SizeIs;

GpuSample Sample(const std::string& gpu, std::uint64_t power_mw, std::optional<int> celsius) {
  GpuSample sample;
  sample.gpu = gpu;
  sample.power_mw = power_mw;
  sample.celsius = celsius;
  return sample;
}

wire::UsageSamples UsedBy(std::uint32_t pid, const std::string& program = "python") {
  wire::UsageSamples message;
  wire::GpuOccupant& occupant = *message.mutable_users_of_gpus()->add_occupants();
  occupant.set_gpu(1);
  occupant.set_pid(pid);
  occupant.set_user("alice");
  occupant.set_program(program);
  occupant.set_memory(12);
  return message;
}

TEST(NodeGpusTest, WhoUsesGpusIsNewsWhereTheStateHasItOtherwise) {
  core::testing::World world;
  const NodeId node = world.AddNode("n1", {.gpus = 2});
  const auto said = ReadGpuOccupants(node, UsedBy(4711));
  ASSERT_TRUE(said.has_value());
  EXPECT_EQ(said->occupants, (GpuOccupants{{1, 4711, "alice", "python", Bytes(12)}}));
  const auto news = NewsOf(said, world.state);
  ASSERT_TRUE(news.has_value());
  world.Take(*news);
  EXPECT_FALSE(NewsOf(said, world.state).has_value());
  EXPECT_TRUE(NewsOf(ReadGpuOccupants(node, UsedBy(4712)), world.state).has_value());
  EXPECT_FALSE(NewsOf(ReadGpuOccupants(NodeId(9), UsedBy(4711)), world.state).has_value());
}

TEST(NodeGpusTest, ANodeThatDoesNotSayHasNotSaidThatNoProcessIsThere) {
  EXPECT_FALSE(ReadGpuOccupants(NodeId(1), wire::UsageSamples()).has_value());
  wire::UsageSamples none;
  none.mutable_users_of_gpus();
  const auto said = ReadGpuOccupants(NodeId(1), none);
  ASSERT_TRUE(said.has_value());
  EXPECT_THAT(said->occupants, IsEmpty());
}

TEST(NodeGpusTest, ANodeIsBelievedForShortNamesAndForAMostOfProcesses) {
  const auto named = ReadGpuOccupants(NodeId(1), UsedBy(1, std::string(65, 'x')));
  EXPECT_EQ(named->occupants[0].program, "?");
  wire::UsageSamples many;
  for (std::uint32_t i = 0; i <= kGpuOccupantsMax; ++i) {
    *many.mutable_users_of_gpus()->add_occupants() = UsedBy(i).users_of_gpus().occupants(0);
  }
  EXPECT_THAT(ReadGpuOccupants(NodeId(1), many)->occupants, SizeIs(kGpuOccupantsMax));
}

TEST(NodeGpusTest, ANodesGpusAreAddedUpAndTheHottestSpeaksForAll) {
  NodeGpus gpus;
  GpuSample first = Sample("GPU-a", 300'000, 41);
  first.memory_used = Bytes(600);
  first.busy_percent = 80;
  first.energy_mj = 5'000;
  first.corrected_ecc = 17;
  first.xids = 0;
  GpuSample second = Sample("GPU-b", 200'000, 63);
  second.memory_used = Bytes(300);
  second.busy_percent = 100;
  second.energy_mj = 700;
  gpus.Take(NodeId(1), {first, second}, At(0));
  gpus.Take(NodeId(2), {Sample("GPU-c", 1, std::nullopt)}, At(0));
  const std::map<NodeId, GpuSums> sums = gpus.Sums();
  ASSERT_THAT(sums, SizeIs(2));
  GpuSums one;
  one.power_mw = 500'000;
  one.memory_used = 900;
  one.busy_percent = 180;
  one.energy_mj = 5'700;
  one.corrected_ecc = 17;
  one.xids = 0;
  one.hottest = 63;
  EXPECT_EQ(sums.at(NodeId(1)), one) << "nobody told of uncorrected errors: there is no number";
  GpuSums two;
  two.power_mw = 1;
  EXPECT_EQ(sums.at(NodeId(2)), two);
}

TEST(NodeGpusTest, TheNewestReportReplacesTheOneBeforeAndANodeThatIsGoneHasNone) {
  NodeGpus gpus;
  gpus.Take(NodeId(1), {Sample("GPU-a", 300, 41), Sample("GPU-b", 300, 41)}, At(0));
  gpus.Take(NodeId(1), {Sample("GPU-a", 100, 41)}, At(10));
  EXPECT_EQ(gpus.Sums().at(NodeId(1)).power_mw, 100U);
  gpus.Forget(NodeId(1));
  EXPECT_THAT(gpus.Sums(), IsEmpty());
  gpus.Take(NodeId(1), {Sample("GPU-a", 100, 41)}, At(20));
  gpus.Take(NodeId(1), {}, At(30));
  EXPECT_THAT(gpus.Sums(), IsEmpty()) << "it has none any more";
}

TEST(NodeGpusTest, AWarningSaysSinceWhenAndEndsWithTheHour) {
  NodeGpus gpus;
  GpuSample gpu = Sample("GPU-a", 1, 40);
  gpu.uncorrected_ecc = 0;
  gpu.xids = 0;
  gpus.Take(NodeId(1), {gpu}, At(0));
  EXPECT_THAT(gpus.WarningsOf(NodeId(1), At(0)), IsEmpty());
  gpu.xid = 79;
  gpu.xids = 1;
  gpus.Take(NodeId(1), {gpu}, At(100));
  gpus.Take(NodeId(1), {gpu}, At(200));
  const std::vector<Warning> warnings = gpus.WarningsOf(NodeId(1), At(200));
  ASSERT_THAT(warnings, SizeIs(1));
  EXPECT_EQ(warnings[0].rule, "GpuXid");
  EXPECT_EQ(warnings[0].since, At(100));
  EXPECT_THAT(gpus.WarningsOf(NodeId(1), At(3701)), IsEmpty());
}

TEST(NodeGpusTest, ALinkThatWentDownIsAWarningAndAnErrorOfWhoHasTheGpu) {
  NodeGpus gpus;
  GpuSample gpu = Sample("GPU-a", 1, 40);
  gpu.lost_links = 0;
  gpus.Take(NodeId(1), {gpu}, At(0));
  EXPECT_THAT(gpus.WarningsOf(NodeId(1), At(0)), IsEmpty());
  gpu.lost_links = 2;
  gpus.Take(NodeId(1), {gpu}, At(100));
  const std::vector<Warning> warnings = gpus.WarningsOf(NodeId(1), At(7200));
  ASSERT_THAT(warnings, SizeIs(1));
  EXPECT_EQ(warnings[0].rule, "GpuLinkLost");
  EXPECT_EQ(warnings[0].text, "GPU GPU-a: 2 NVLinks that were up are down");
  EXPECT_EQ(warnings[0].since, At(100));
  EXPECT_EQ(gpus.ErrorsSince(NodeId(1), At(50)).at("GPU-a").text,
            "a lost link (2 NVLinks that were up are down)");
  EXPECT_THAT(gpus.ErrorsSince(NodeId(1), At(150)), IsEmpty());
}

TEST(NodeGpusTest, WhatIsNotInTheMessageIsNotNothing) {
  wire::UsageSamples message;
  wire::GpuSample& told = *message.add_gpus();
  told.set_gpu("GPU-a");
  told.set_memory_used(0);
  told.set_temperature(-3);
  const std::vector<GpuSample> samples = ReadGpuSamples(message);
  ASSERT_THAT(samples, SizeIs(1));
  EXPECT_EQ(samples[0].gpu, "GPU-a");
  EXPECT_EQ(samples[0].memory_used, Bytes(0));
  EXPECT_EQ(samples[0].celsius, -3);
  EXPECT_EQ(samples[0].power_mw, std::nullopt);
  EXPECT_EQ(samples[0].uncorrected_ecc, std::nullopt);
  EXPECT_EQ(samples[0].xids, std::nullopt);
}

TEST(NodeGpusTest, ANodeIsBelievedForSoManyGpusAndForNamesOfThatLength) {
  wire::UsageSamples message;
  message.add_gpus()->set_gpu(std::string(300, 'x'));
  for (std::size_t i = 0; i < 2 * NodeGpus::kGpusMax; ++i) {
    message.add_gpus()->set_gpu(absl::StrCat("GPU-", i));
  }
  const std::vector<GpuSample> samples = ReadGpuSamples(message);
  ASSERT_THAT(samples, SizeIs(NodeGpus::kGpusMax));
  EXPECT_EQ(samples.front().gpu, "GPU-0");
}

const SteadyTime kStart = SteadyTime() + std::chrono::seconds(1000);

TakeGpuOccupants Of(const std::string& program) {
  GpuOccupant one;
  one.program = program;
  return {NodeId(1), {one}};
}

TEST(RareOccupants, TheFirstIsDueAtOnceAndOfManyTheNewestOnceInAWhile) {
  RareOccupants rare;
  EXPECT_FALSE(rare.Due(kStart).has_value()) << "nothing was said";
  rare.Say(Of("a"));
  EXPECT_EQ(rare.Due(kStart).value().occupants, Of("a").occupants);
  SteadyTime now = kStart;
  int due = 0;
  std::optional<TakeGpuOccupants> last;
  for (int i = 0; i < 100'000; ++i) {
    now += std::chrono::milliseconds(1);
    rare.Say(Of(i % 2 == 0 ? "b" : "c"));
    if (std::optional<TakeGpuOccupants> found = rare.Due(now)) {
      ++due;
    }
  }
  EXPECT_EQ(due, 20) << "of 100,000 in 100 s";
  rare.Say(Of("d"));
  EXPECT_FALSE(rare.Due(now).has_value());
  EXPECT_EQ(rare.Due(now + RareOccupants::kEvery).value().occupants, Of("d").occupants)
      << "the newest is not lost";
}

TEST(RareOccupants, WhatIsAsTheStateSaysAgainIsNotHandedOver) {
  RareOccupants rare;
  rare.Say(Of("a"));
  rare.Due(kStart);
  rare.Say(Of("b"));
  rare.Say(std::nullopt);
  EXPECT_FALSE(rare.Due(kStart + std::chrono::seconds(60)).has_value());
}

}  // namespace
}  // namespace muster::daemon
