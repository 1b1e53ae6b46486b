#include "scheduler/core/power/power_limits.h"

#include <gtest/gtest.h>

#include "scheduler/model/settings/power_class.h"

namespace muster::core {
namespace {

PowerClass ClassOf(const std::string& name, const std::string& nodes, std::uint32_t most_on) {
  PowerClass kind;
  kind.name = name;
  kind.nodes = nodes;
  kind.most_on = most_on;
  return kind;
}

TEST(PowerLimits, OnlyNodesOfAClassWithAMaximumHaveALimit) {
  const std::vector<PowerClass> classes = {ClassOf("cloud", "c[1-3]", 2), ClassOf("own", "n1", 0)};
  const PowerLimits limits(classes);
  EXPECT_TRUE(limits.any());
  ASSERT_NE(limits.Of("c2"), nullptr);
  EXPECT_EQ(limits.Of("c2")->name, "cloud");
  EXPECT_EQ(limits.Of("n1"), nullptr) << "as many as there are";
  EXPECT_EQ(limits.Of("c4"), nullptr) << "of no class";
}

TEST(PowerLimits, WithoutAMaximumThereIsNone) {
  const std::vector<PowerClass> classes = {ClassOf("own", "ALL", 0)};
  const PowerLimits limits(classes);
  EXPECT_FALSE(limits.any());
  EXPECT_EQ(limits.Of("n1"), nullptr);
}

}  // namespace
}  // namespace muster::core
