#include "scheduler/model/value/joined_rank.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(JoinedRank, WhatIsWrittenIsReadBack) {
  for (const JoinedRank& joined :
       {JoinedRank{}, JoinedRank{StepId(2), 5}, JoinedRank{StepId(), 0}}) {
    EXPECT_EQ(FindJoined({"HOME=/root", ToVariable(joined), "A=b"}), joined) << ToVariable(joined);
  }
}

TEST(JoinedRank, OtherVariablesSayNothing) {
  EXPECT_EQ(FindJoined({}), std::nullopt);
  for (const char* other : {"MUSTER_EXEC_JOINS=", "MUSTER_EXEC_JOINS=2", "MUSTER_EXEC_JOINS=a.b",
                            "MUSTER_EXEC_JOINS=-1.0", "XMUSTER_EXEC_JOINS=job",
                            "MUSTER_EXEC_JOINS=4294967296.0", "MUSTER_EXEC_JOINS=1."}) {
    EXPECT_EQ(FindJoined({other}), std::nullopt) << other;
  }
}

}  // namespace
}  // namespace muster
