#include "cli/run/cmd_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::cli {
namespace {

using ::testing::HasSubstr;

// `muster run` where there is no controller.
class RunCommandTest : public ::testing::Test {
 protected:
  absl::Status Run(std::map<std::string, std::string> values, std::vector<std::string> command) {
    values["state"] = directory_.path();
    const std::vector<Verb> no_verbs;
    return RunCommand({.environment = environment_,
                       .verbs = no_verbs,
                       .values = std::move(values),
                       .arguments = std::move(command)},
                      [](const RankSource&, std::string_view) { ADD_FAILURE() << "nothing ran"; })
        .status();
  }

  const TempDirectory directory_;
  const Environment environment_{{"PATH=/bin"}};
};

TEST_F(RunCommandTest, ComesBackWithARefusalWhereNoControllerIs) {
  const absl::Status status = Run({}, {"true"});
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr(directory_.path()));
}

TEST_F(RunCommandTest, LooksAtOptionsProgramAndProfilerFirst) {
  EXPECT_EQ(Run({{"ntasks", "none"}}, {"true"}).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Run({{"profile", "gdb"}}, {"true"}).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Run({}, {"no-such-program"}).code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace muster::cli
