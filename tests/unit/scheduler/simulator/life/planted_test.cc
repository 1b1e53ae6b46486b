#include "scheduler/simulator/life/planted.h"

#include <gtest/gtest.h>

#include <set>
#include <string_view>

namespace muster::sim {
namespace {

TEST(Planted, EachDefectHasANameOfItsOwn) {
  std::set<std::string_view> names;
  std::set<LifeDefect> defects;
  for (const LifeDefectRow& row : kLifeDefects) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_TRUE(defects.insert(row.defect).second) << row.name;
    EXPECT_EQ(LifeDefectOf(row.name), row.defect);
  }
  EXPECT_FALSE(LifeDefectOf("none").has_value());
}

TEST(Planted, WhatTheStateDoesNotKnowIsLeftAsItIs) {
  const core::ClusterState state;
  for (const LifeDefectRow& row : kLifeDefects) {
    Registration registration;
    registration.name = "node1";
    registration.boot_id = "boot";
    Plant(row.defect, state, &registration);
    EXPECT_EQ(registration.boot_id, "boot");
    NodeId node(1);
    Report report{JobId(1), AttemptNumber(1), 7, RunEnded()};
    EXPECT_TRUE(Plant(row.defect, state, &node, &report));
    EXPECT_EQ(node, NodeId(1));
    EXPECT_EQ(report.index, 7U);
  }
}

}  // namespace
}  // namespace muster::sim
