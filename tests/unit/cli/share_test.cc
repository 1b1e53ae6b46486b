// muster share, the program itself, on files.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/unit/cli/program.h"
#include "tests/unit/cli/render/samples.h"

namespace muster::cli {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::HasSubstr;

const std::string kTree = MUSTER_FIXTURES "/cli/share_tree.json";

TEST(Share, TheFairTreeIsATable) {
  const ProgramEnd end = RunMuster({"share", "--from", kTree});
  EXPECT_EQ(end.code, 0);
  EXPECT_EQ(end.err, "");
  EXPECT_EQ(end.out, samples::Golden("share_fair_tree.txt"));
  EXPECT_EQ(RunMuster({"share", "--from", kTree, "--algorithm", "fair-tree"}).out, end.out);
}

TEST(Share, TheClassicFactorIsATableWithoutLevels) {
  const ProgramEnd end = RunMuster({"share", "--from", kTree, "--algorithm", "classic"});
  EXPECT_EQ(end.code, 0);
  EXPECT_EQ(end.out, samples::Golden("share_classic.txt"));
}

TEST(Share, TheDocumentHasAUserALine) {
  const ProgramEnd end = RunMuster({"share", "--from", kTree, "--json"});
  EXPECT_EQ(end.code, 0);
  EXPECT_EQ(end.out, samples::Golden("share_fair_tree.json"));
  const Json document = Json::parse(end.out);
  EXPECT_EQ(document["users"].size(), 6U);
  EXPECT_EQ(document["users"][0]["user"], "u1");
  EXPECT_EQ(document["users"][5]["level_fs"], "inf");
  EXPECT_EQ(document["accounts"].size(), 7U);
  for (const char* key :
       {"user", "account", "norm_shares", "norm_usage", "level_fs", "fairshare"}) {
    EXPECT_TRUE(document["users"][0].contains(key)) << key;
  }
}

TEST(Share, TheClassicDocumentHasNoLevels) {
  const ProgramEnd end = RunMuster({"share", "--from", kTree, "--json", "--algorithm", "classic"});
  const Json document = Json::parse(end.out);
  EXPECT_EQ(document["algorithm"], "classic");
  EXPECT_TRUE(document["users"][0]["level_fs"].is_null());
  EXPECT_NEAR(document["users"][0]["fairshare"].get<double>(), 0.408479, 5e-7);
}

TEST(Share, WhatIsWrongIsOneLine) {
  const TempDirectory directory;
  ASSERT_TRUE(WriteFileAtomically(directory / "bad.json", "{\"accounts\":[],\"users\":[1]}").ok());
  const ProgramEnd bad = RunMuster({"share", "--json", "--from", directory / "bad.json"});
  EXPECT_EQ(bad.code, 1);
  EXPECT_EQ(bad.out, "");
  EXPECT_EQ(bad.err, "muster share: " + (directory / "bad.json") +
                         ": /users/0: 1 where a user should be: use {\"name\":…}\n");
  const ProgramEnd missing = RunMuster({"share", "--from", directory / "none.json"});
  EXPECT_EQ(missing.code, 1);
  EXPECT_THAT(missing.err, HasSubstr("No such file or directory: name a readable file"));
  EXPECT_EQ(RunMuster({"share", "--from", directory.path()}).code, 1);
}

TEST(Share, BadUsageIsOneLine) {
  const ProgramEnd runs = RunMuster({"share", "--explain", "ada", "--from", kTree});
  EXPECT_EQ(runs.code, 2);
  EXPECT_EQ(runs.err, "muster share: --explain: a file has no runs; leave out --from\n");
  const ProgramEnd algorithm = RunMuster({"share", "--algorithm", "drf", "--from", kTree});
  EXPECT_EQ(algorithm.code, 2);
  EXPECT_EQ(algorithm.err,
            "muster share: --algorithm: \"drf\" is not one: use fair-tree or classic\n");
  EXPECT_EQ(RunMuster({"share", "extra", "--from", kTree}).code, 2);
}

}  // namespace
}  // namespace muster::cli
