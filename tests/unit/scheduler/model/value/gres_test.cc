// Countable things of a node: how they are spelled, and how one list is taken from another.

#include "scheduler/model/value/gres.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(Gres, ListsAreSortedByName) {
  const absl::StatusOr<GresList> list = ParseGresList("scratch:4,licence");
  ASSERT_TRUE(list.ok()) << list.status();
  EXPECT_EQ(ToText(*list), "licence:1,scratch:4");
  EXPECT_EQ(CountOf(*list, "scratch"), 4U);
  EXPECT_EQ(CountOf(*list, "none"), 0U);
  EXPECT_FALSE(ParseGresList("scratch:many").ok());
}

TEST(Gres, WhatIsTakenIsGone) {
  GresList list = {{"scratch", 4}};
  TakeFrom(list, {{"scratch", 4}});
  EXPECT_TRUE(list.empty());
  AddTo(list, {{"scratch", 2}});
  EXPECT_EQ(ToText(list), "scratch:2");
}

}  // namespace
}  // namespace muster
