#include "scheduler/simulator/questions/drawn_places.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>

namespace muster::sim {
namespace {

TEST(DrawnPlaces, NoRankIsGivenWhatIsTakenOrNumberedTwice) {
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    RandomSequence random(seed);
    EXPECT_EQ(WrongPlace(random), std::nullopt) << seed;
  }
}

}  // namespace
}  // namespace muster::sim
