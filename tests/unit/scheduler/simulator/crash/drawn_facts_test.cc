#include "scheduler/simulator/crash/drawn_facts.h"

#include <gtest/gtest.h>

#include <set>

namespace muster::sim {
namespace {

TEST(DrawnFacts, CheckpointsGoOnWhereThoseBeforeThemEnded) {
  RandomSequence random(1);
  CheckpointRecord record;
  Time now{Duration(1'000'000)};
  for (int i = 0; i < 300; ++i) {
    now += Duration(5'000);
    const CheckpointRecord next = NextCheckpoint(record, AttemptNumber(1), 0, now, random);
    EXPECT_GE(next.count, record.count);
    EXPECT_GE(next.begun, record.begun);
    EXPECT_LE(next.begun, now);
    record = next;
  }
  EXPECT_GT(record.count, 200U);
}

TEST(DrawnFacts, PartsEndInEveryWayInTheEnd) {
  RandomSequence random(1);
  JobSpec spec;
  spec.progress_timeout = Duration(1);
  std::set<EndCause> causes;
  for (int i = 0; i < 500; ++i) {
    RunEnded ended;
    AddToEnd(spec, random, &ended);
    causes.insert(ended.cause);
  }
  EXPECT_EQ(causes, (std::set<EndCause>{EndCause::kExited, EndCause::kOutOfMemory, EndCause::kHung,
                                        EndCause::kLostSupervisor}));
}

TEST(DrawnFacts, AReportAnswersItsOrder) {
  RandomSequence random(1);
  HealthOrder order;
  order.number = 4;
  EXPECT_EQ(DrawHealthReport(order, random).number, 4U);
}

}  // namespace
}  // namespace muster::sim
