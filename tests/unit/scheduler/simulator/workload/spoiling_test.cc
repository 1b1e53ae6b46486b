#include "scheduler/simulator/workload/spoiling.h"

#include <gtest/gtest.h>

#include "scheduler/model/job/job_spec.h"

namespace muster::sim {
namespace {

TEST(Spoiling, OneMemberChangesMostlyAndEachInTheEnd) {
  RandomSequence random(1);
  int changed = 0;
  int nested = 0;
  for (int i = 0; i < 2000; ++i) {
    JobSpec spec;
    spec.request.layout.emplace();
    const JobSpec before = spec;
    SpoilOne(random, &spec);
    changed += spec == before ? 0 : 1;
    nested += spec.request.layout.has_value() && spec.request.layout != before.request.layout;
  }
  EXPECT_GT(changed, 1000);
  EXPECT_GT(nested, 50);
}

}  // namespace
}  // namespace muster::sim
