// What --test-only says.

#include "cli/slurm/submit/forecast_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace muster::cli::slurm {
namespace {

class ForecastLine : public ::testing::Test {
 protected:
  int Tell(const StartForecast& forecast) {
    const Environment environment;
    return TellForecast({environment, "srun", {}, out_, err_}, forecast, request_);
  }
  JobRequest request_;
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(ForecastLine, NamesThePartitionAndTheNodesOnStderr) {
  request_.spec.request.tasks = 4;
  request_.spec.request.cpus_per_task = 2;
  StartForecast forecast;
  forecast.start = Time(std::chrono::seconds(1));
  forecast.nodes = {"n1", "n2"};
  EXPECT_EQ(Tell(forecast), 0);
  EXPECT_EQ(out_.str(), "");
  EXPECT_THAT(err_.str(),
              ::testing::MatchesRegex("srun: Job 0 to start at 19..-..-..T..:..:.. using "
                                      "8 processors on nodes n.1-2. in partition main\n"));
}

TEST_F(ForecastLine, AJobThatNeverFitsIsAFailure) {
  StartForecast forecast;
  forecast.never = true;
  EXPECT_EQ(Tell(forecast), 1);
  EXPECT_EQ(err_.str(), "allocation failure: Requested node configuration is not available\n");
}

}  // namespace
}  // namespace muster::cli::slurm
