#include "scheduler/base/contains.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace muster {
namespace {

TEST(Contains, FindsAValueInAnyList) {
  const std::array<std::string_view, 2> names = {"a", "b"};
  EXPECT_TRUE(Contains(names, std::string("b")));
  EXPECT_FALSE(Contains(names, "c"));
  EXPECT_FALSE(Contains(std::vector<std::string>(), "a"));
}

TEST(Contains, AnEmptyListOfWantedThingsAdmitsAll) {
  EXPECT_TRUE(Admits(std::vector<std::string>(), "a"));
  EXPECT_TRUE(Admits(std::vector<std::string>{"a"}, "a"));
  EXPECT_FALSE(Admits(std::vector<std::string>{"b"}, "a"));
}

}  // namespace
}  // namespace muster
