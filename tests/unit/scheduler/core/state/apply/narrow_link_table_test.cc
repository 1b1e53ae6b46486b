#include "scheduler/core/state/apply/narrow_link_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler/model/machine/narrow_link.h"

namespace muster::core {
namespace {

using ::testing::ElementsAre;

TEST(NarrowLinkTable, KeepsEachLinkOnceByNameAndFindsItInEitherOrder) {
  const NarrowLink late{"leaf2", "leaf3", "cable", "ada", Time(Duration(5))};
  NarrowLink early{"leaf1", "leaf3", "port", "ada", Time(Duration(6))};
  NarrowLinkTable table;
  table.Load({late, early});
  EXPECT_THAT(table.all(), ElementsAre(early, late));
  early.reason = "both ports";
  table.Put(early);
  EXPECT_THAT(table.all(), ElementsAre(early, late));
  ASSERT_NE(table.Find("leaf3", "leaf1"), nullptr);
  EXPECT_EQ(table.Find("leaf3", "leaf1")->reason, "both ports");
  EXPECT_EQ(table.Find("leaf1", "leaf2"), nullptr);
  table.Erase(late);
  table.Erase(late);
  EXPECT_THAT(table.all(), ElementsAre(early));
}

}  // namespace
}  // namespace muster::core
