#include "scheduler/settings/mig_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "scheduler/model/settings/mig_class.h"

namespace muster {
namespace {

using ::testing::StartsWith;

absl::Status Read(const std::string& text, SchedulerConfig* config) {
  absl::StatusOr<ConfigFile> file = ConfigFile::Parse(text, "m.toml");
  if (!file.ok()) {
    return file.status();
  }
  absl::Status status = ReadMig(*file, *config);
  return status.ok() ? file->RefuseUnknownKeys() : status;
}

std::string ErrorOf(const std::string& text) {
  SchedulerConfig config;
  return std::string(Read(text, &config).message());
}

TEST(MigFile, AClassOfNodesIsReadWithItsLayouts) {
  SchedulerConfig config;
  const absl::Status status = Read(
      "[mig.dgx]\nnodes = \"dgx[01-08]\"\nlayouts = [\"3g.40gb,3g.40gb\", \"7*1g.10gb\"]\n"
      "[mig.rest]\nnodes = \"n1\"\n",
      &config);
  ASSERT_TRUE(status.ok()) << status;
  ASSERT_EQ(config.mig.size(), 2U);
  const MigClass& dgx = config.mig[0];
  EXPECT_EQ(dgx.nodes, "dgx[01-08]");
  ASSERT_EQ(config.mig[0].layouts.size(), 2U);
  EXPECT_EQ(config.mig[0].layouts[0].profiles, (std::vector<std::string>{"3g.40gb", "3g.40gb"}));
  EXPECT_EQ(config.mig[0].layouts[1].profiles, std::vector<std::string>(7, "1g.10gb"));
  EXPECT_TRUE(config.mig[1].layouts.empty());
}

TEST(MigFile, WhatIsWrongIsOneLineWithItsPlace) {
  EXPECT_THAT(ErrorOf("[mig]\nnodes = \"n1\"\n"), StartsWith("m.toml:2: mig.nodes: is no table"));
  EXPECT_THAT(ErrorOf("[mig.a]\nlayouts = [\"1g.10gb\"]\n"),
              StartsWith("m.toml:1: mig.a: say which nodes it is about"));
  EXPECT_THAT(ErrorOf("[mig.a]\nnodes = \"n[\"\n"), StartsWith("m.toml:2: mig.a.nodes: "));
  EXPECT_THAT(ErrorOf("[mig.a]\nnodes = \"n1\"\nlayouts = []\n"),
              StartsWith("m.toml:3: mig.a.layouts: is empty"));
  for (const char* layout : {"", "half", "0*1g.10gb", "99*1g.10gb", "1g.10gb,", "x*1g.10gb"}) {
    EXPECT_THAT(ErrorOf(std::string("[mig.a]\nnodes = \"n1\"\nlayouts = [\"") + layout + "\"]\n"),
                ::testing::HasSubstr("is no list of profiles"))
        << layout;
  }
  EXPECT_THAT(ErrorOf("[mig.a]\nnodes = \"n[1-4]\"\n[mig.b]\nnodes = \"n4\"\n"),
              StartsWith("m.toml:4: mig.b.nodes: n4 is in mig.a, too"));
  EXPECT_THAT(ErrorOf("[mig.a]\nnodes = \"ALL\"\n[mig.b]\nnodes = \"n4\"\n"),
              StartsWith("m.toml:2: mig.a.nodes: \"ALL\" leaves no node"));
  EXPECT_THAT(ErrorOf("[mig.a]\nnodes = \"n1\"\nlayout = [\"1g.10gb\"]\n"),
              StartsWith("m.toml:3: mig.a.layout"));
}

}  // namespace
}  // namespace muster
