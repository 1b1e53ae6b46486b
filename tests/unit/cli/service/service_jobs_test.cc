#include "cli/service/service_jobs.h"

#include <gtest/gtest.h>

namespace muster::cli {
namespace {

TEST(ServiceJobsTest, AServiceThatIsNotThereIsNamedInALine) {
  EXPECT_EQ(NoSuchService("web").message(),
            "\"web\": no such service runs; muster service list names them");
}

}  // namespace
}  // namespace muster::cli
