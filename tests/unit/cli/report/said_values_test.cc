#include "cli/report/said_values.h"

#include <gtest/gtest.h>

namespace muster::cli {
namespace {

absl::Status Said(std::vector<std::string> words, std::vector<std::string> environment = {},
                  std::map<std::string, std::string> options = {}) {
  const Environment shell(std::move(environment));
  const std::vector<Verb> verbs;
  return ReportValues({shell, verbs, std::move(options), std::move(words)}).status();
}

TEST(SaidValuesTest, WordsThatAreNoneAndPlacesOutsideOfAJobAreRefused) {
  EXPECT_TRUE(absl::IsInvalidArgument(Said({"loss=x"})));
  EXPECT_TRUE(absl::IsInvalidArgument(Said({"loss=1"}, {}, {{"json", ""}})));
  EXPECT_TRUE(absl::IsFailedPrecondition(Said({"loss=1"})));
  EXPECT_TRUE(absl::IsUnavailable(Said({"loss=1"}, {"MUSTER_REPORT_SOCKET=/there/is/no/socket"})));
}

}  // namespace
}  // namespace muster::cli
