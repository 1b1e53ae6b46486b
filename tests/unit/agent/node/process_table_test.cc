#include "agent/node/process_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace muster::agent {
namespace {

TEST(ProcessTable, ThisProcessDescendsFromItsParent) {
  const ProcessTable table = ReadProcessTable("/proc");
  std::unordered_map<pid_t, pid_t> known;
  EXPECT_EQ(RootOf(getpid(), {getppid()}, table, known), getppid());
  std::unordered_map<pid_t, pid_t> others;
  EXPECT_EQ(RootOf(getpid(), {getpid()}, table, others), 0) << "nothing descends from itself";
}

TEST(ProcessTable, OfARootAllThatDescendsFromItIsListedAndOfOneThatIsGoneNothing) {
  ProcessTable table;
  const auto add = [&](pid_t pid, pid_t parent) { table[pid][kParent] = parent; };
  add(10, 1);
  add(11, 10);
  add(12, 11);
  add(20, 1);
  const auto below = ProcessesBelow({10, 20, 30}, table);
  ASSERT_EQ(below.size(), 2U);
  EXPECT_THAT(below.at(10), ::testing::UnorderedElementsAre(11, 12));
  EXPECT_TRUE(below.at(20).empty());
}

TEST(ProcessTable, ANameIsANumberAsAWholeOrNone) {
  EXPECT_EQ(PidOf("12"), 12);
  EXPECT_EQ(PidOf("12a"), std::nullopt);
  EXPECT_EQ(PidOf(""), std::nullopt);
  EXPECT_EQ(PidOf("self"), std::nullopt);
}

TEST(ProcessTable, WhatIsNotThereIsNot) {
  EXPECT_TRUE(ReadProcessTable("/nowhere").empty());
  EXPECT_EQ(ReadProcStat("/nowhere/stat"), std::nullopt);
}

}  // namespace
}  // namespace muster::agent
