#include "cli/links/link_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/frame/verbs.h"

namespace muster::cli {
namespace {

TEST(LinkCheck, HealthHasItsOptions) {
  std::vector<std::string> names;
  for (const Option& option : HealthVerb().options) {
    names.push_back(option.name);
  }
  for (const Option& option : LinkOptions()) {
    EXPECT_THAT(names, ::testing::Contains(option.name));
  }
  EXPECT_THAT(names, ::testing::Contains("links"));
}

}  // namespace
}  // namespace muster::cli
