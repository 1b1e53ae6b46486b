// muster slurm.

#include <gtest/gtest.h>

#include "cli/frame/verbs.h"

namespace muster::cli::slurm {
namespace {

TEST(SlurmVerb, HasOneCommandAndNamesIt) {
  const Environment environment;
  const std::vector<Verb> verbs;
  const Verb verb = SlurmVerb();
  const absl::StatusOr<int> code = verb.run(
      {.environment = environment, .verbs = verbs, .values = {}, .arguments = {"remove", "/x"}});
  EXPECT_EQ(code.status(),
            absl::InvalidArgumentError("\"remove\" is not a slurm command: use install"));
}

TEST(SlurmVerb, SaysWhereTheFrontEndShouldBe) {
  const Environment environment;
  const std::vector<Verb> verbs;
  const absl::StatusOr<int> code = SlurmVerb().run(
      {.environment = environment, .verbs = verbs, .values = {}, .arguments = {"install", "/x"}});
  EXPECT_TRUE(absl::IsNotFound(code.status()));
  EXPECT_NE(std::string(code.status().message()).find("install muster-slurm beside muster"),
            std::string::npos);
}

}  // namespace
}  // namespace muster::cli::slurm
