#include "agent/supervisor/image/system/squash_file.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "agent/supervisor/image/system/tool_run.h"
#include "scheduler/runtime/file.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::agent {
namespace {

class SquashFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!FindTool("mksquashfs").ok()) {
      GTEST_SKIP() << "SKIPPED: NO mksquashfs (apt-get install squashfs-tools)";
    }
    std::ofstream(directory_.path() + "/file") << "text";
  }
  // A squashfs file of that one file, made with these options.
  std::string Make(const std::string& name, const std::vector<std::string>& options) {
    std::string path = absl::StrCat(directory_.path(), "/", name);
    ToolRun run{
        .command = {"mksquashfs", directory_.path() + "/file", path, "-quiet", "-no-progress"},
        .environment = {},
        .limit = std::chrono::minutes(1)};
    run.command.insert(run.command.end(), options.begin(), options.end());
    EXPECT_TRUE(RunTool(run).ok());
    return path;
  }

  const TempDirectory directory_;
};

TEST_F(SquashFileTest, OnlyOneThatIsAllOfRootIsKnownToBe) {
  EXPECT_TRUE(IsAllOfRoot(Make("root", {"-all-root"})));
  EXPECT_TRUE(IsAllOfRoot(Make("pressed", {"-all-root", "-comp", "zstd"})));
  EXPECT_FALSE(IsAllOfRoot(Make("user", {"-force-uid", "7", "-force-gid", "7"})));
  EXPECT_FALSE(IsAllOfRoot(Make("two", {"-force-uid", "0", "-force-gid", "7"})));
}

TEST_F(SquashFileTest, WhateverTheBytesAreTheyAreReadSafely) {
  const std::string text = *ReadFile(Make("whole", {"-all-root"}));
  const std::string path = directory_.path() + "/broken";
  EXPECT_FALSE(IsAllOfRoot(path));
  EXPECT_FALSE(IsAllOfRoot(directory_.path()));
  for (std::size_t size = 0; size < 96; ++size) {
    std::ofstream(path, std::ios::trunc) << text.substr(0, size);
    EXPECT_FALSE(IsAllOfRoot(path)) << size;
  }
  for (std::size_t at = 28; at < 56; ++at) {  // where what it is, and its tables, are said
    std::string changed = text;
    changed[at] = static_cast<char>(changed[at] ^ 0x55);
    std::ofstream(path, std::ios::trunc) << changed;
    IsAllOfRoot(path);
  }
}

}  // namespace
}  // namespace muster::agent
