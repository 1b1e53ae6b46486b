// What is read of the controller's metrics.

#include "cli/controller/streams/metric_calls.h"

#include <gtest/gtest.h>

namespace muster::cli {
namespace {

TEST(Metrics, TheFirstValueOfAFamilyOrAFreshOne) {
  Metrics metrics;
  metrics.families["muster_jobs"] = {{{"waiting"}, 3, 0}, {{"running"}, 5, 0}};
  metrics.families["empty"];
  EXPECT_EQ(metrics.First("muster_jobs").value, 3);
  EXPECT_EQ(metrics.First("empty").value, 0);
  EXPECT_EQ(metrics.First("none").count, 0U);
}

}  // namespace
}  // namespace muster::cli
