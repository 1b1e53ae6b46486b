#include "cli/images/image_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Pair;

absl::StatusOr<ImageWords> Read(std::vector<std::string> arguments,
                                std::map<std::string, std::string> values = {},
                                std::vector<std::string> variables = {}) {
  const Environment environment{std::move(variables)};
  const std::vector<Verb> verbs;
  return ReadImageWords({environment, verbs, std::move(values), std::move(arguments)}, "/home/ada");
}

TEST(ImageWordsTest, APullIsOneRankOnEachNode) {
  const absl::StatusOr<ImageWords> words =
      Read({"pull", "oci:images:v1"}, {{"nodelist", "n[1-3]"}, {"partition", "gpu"}});
  ASSERT_TRUE(words.ok()) << words.status();
  EXPECT_THAT(words->run, IsSupersetOf({Pair("container-image", "oci:/home/ada/images:v1"),
                                        Pair("nodelist", "n[1-3]"), Pair("nodes", "3"),
                                        Pair("ntasks-per-node", "1"), Pair("partition", "gpu")}));
}

TEST(ImageWordsTest, APullInsideAJobIsAStepOnItsNodesThatWaitsForNoOther) {
  const absl::StatusOr<ImageWords> words =
      Read({"pull", "a:1"}, {}, {"MUSTER_JOB_ID=7", "MUSTER_JOB_NUM_NODES=3"});
  ASSERT_TRUE(words.ok()) << words.status();
  EXPECT_THAT(words->run,
              IsSupersetOf({Pair("nodes", "3"), Pair("ntasks", "3"), Pair("overlap", "")}));
  EXPECT_FALSE(words->run.contains("ntasks-per-node"));
}

TEST(ImageWordsTest, WhatGoesIsNamed) {
  const absl::StatusOr<ImageWords> words =
      Read({"prune", "a:1"},
           {{"older-than", "7d"}, {"container-name", "dev,old"}, {"nodelist", "n1,n2"}});
  ASSERT_TRUE(words.ok()) << words.status();
  EXPECT_THAT(words->prune.images, ElementsAre("a:1"));
  EXPECT_THAT(words->prune.containers, ElementsAre("dev", "old"));
  EXPECT_THAT(words->prune.nodes, ElementsAre("n1", "n2"));
  EXPECT_EQ(words->prune.unused_for, std::chrono::hours(7 * 24));
  EXPECT_FALSE(words->prune.all);
}

TEST(ImageWordsTest, WhatMeansNothingIsRefusedInOneLine) {
  const struct {
    std::vector<std::string> arguments;
    std::map<std::string, std::string> values;
    const char* why;
  } cases[] = {
      {{"drop"}, {}, "\"drop\": expected list, pull or prune"},
      {{"list", "a:1"}, {}, "list takes no IMAGE"},
      {{"list"}, {{"all", ""}}, "--all: does not go with list"},
      {{"list"}, {{"nodelist", "n[1"}}, "--nodelist: "},
      {{"pull"}, {}, "pull: takes one IMAGE"},
      {{"pull", "a:1", "b:1"}, {}, "pull: takes one IMAGE"},
      {{"pull", "UPPER"}, {}, "\"UPPER\" is no image"},
      {{"prune"}, {}, "prune: say what goes"},
      {{"prune", ""}, {}, "IMAGE: is empty"},
      {{"prune", "a:1"}, {{"all", ""}}, "--all: takes no IMAGE"},
      {{"prune"}, {{"older-than", "soon"}}, "--older-than: "},
      {{"prune"}, {{"older-than", "0s"}}, "--older-than: give an age"},
      {{"prune", "a:1"}, {{"nodes", "2"}}, "--nodes: does not go with prune"},
  };
  for (const auto& each : cases) {
    const absl::Status status = Read(each.arguments, each.values).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(each.why));
    EXPECT_EQ(status.message().find('\n'), std::string::npos);
  }
}

}  // namespace
}  // namespace muster::cli
