#include "scheduler/model/value/fetch_variables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::StartsWith;

TEST(FetchVariables, OnlyWhatProgramsThatFetchNeedIsTaken) {
  const std::vector<std::string> environment = {
      "AWS_SECRET=x", "HOME=/home/ada", "PATH=/evil", "https_proxy=http://p:1", "HOMER=d", "USER"};
  EXPECT_THAT(FetchVariables(environment),
              ElementsAre("HOME=/home/ada", "https_proxy=http://p:1", "USER"));
  EXPECT_THAT(FetchEnvironment({"PATH=/evil", "HOME=/home/ada"}),
              ElementsAre(StartsWith("PATH=/usr/"), "HOME=/home/ada"));
}

}  // namespace
}  // namespace muster
