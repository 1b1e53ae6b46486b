#include "cli/frame/own_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace muster::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::StartsWith;

TEST(OwnCommand, NamesTheControllerThatWasNamed) {
  const Environment environment;
  const std::vector<Verb> verbs;
  Invocation invocation{.environment = environment, .verbs = verbs, .values = {}, .arguments = {}};
  EXPECT_THAT(*OwnCommand(invocation, "exec"), ElementsAre(*OwnProgram(), "exec"));
  invocation.values = {{"state", "here"}, {"controller", "c:1"}};
  const std::vector<std::string> command = *OwnCommand(invocation, "exec");
  EXPECT_THAT(command,
              ElementsAre(StartsWith("/"), "exec", "--controller=c:1", StartsWith("--state=/")));
}

}  // namespace
}  // namespace muster::cli
