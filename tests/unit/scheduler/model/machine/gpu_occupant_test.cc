#include "scheduler/model/machine/gpu_occupant.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(GpuOccupantText, NamesWhoUsesHowManyGpus) {
  const GpuOccupant alice{1, 4711, "alice", "python", Bytes(std::uint64_t{12} << 30U)};
  EXPECT_EQ(OccupiedText("n1", {}), "");
  EXPECT_EQ(OccupiedText("n1", {alice}),
            "1 GPU of node n1 is used by pid 4711 (alice, python, 12 GiB) outside Muster");
  GpuOccupant again = alice;
  again.gpu = 2;
  GpuOccupant other = again;
  other.pid = 4712;
  EXPECT_EQ(OccupiedText("n1", {alice, again, other}),
            "2 GPUs of node n1 are used by pid 4711 (alice, python, 12 GiB) and 1 other process "
            "outside Muster");
}

TEST(GpuOccupantText, MemoryThatIsNotKnownIsNotNothing) {
  EXPECT_EQ(OccupantText({0, 7, "1000", "a.out", Bytes()}), "pid 7 (1000, a.out)");
}

TEST(GpuOccupants, OnlyTheGpuOfAProcessIsOccupied) {
  const GpuOccupants occupants = {{1, 7, "a", "b", Bytes()}};
  EXPECT_TRUE(IsOccupied(occupants, 1));
  EXPECT_FALSE(IsOccupied(occupants, 0));
}

}  // namespace
}  // namespace muster
