#include "scheduler/runtime/program/program_search.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster {
namespace {

class FindAlongTest : public ::testing::Test {
 protected:
  std::string Make(const std::string& directory, std::filesystem::perms mode) {
    std::filesystem::create_directories(Path(directory));
    std::string file = Path(directory) + "/tool";
    std::ofstream(file) << "#!/bin/sh\n";
    std::filesystem::permissions(file, mode);
    return file;
  }
  [[nodiscard]] std::string Path(const std::string& directory) const { return home_ / directory; }
  TempDirectory home_;
};

TEST_F(FindAlongTest, TheFirstDirectoryThatHasItWins) {
  const std::string first = Make("a", std::filesystem::perms::owner_all);
  const std::string second = Make("b", std::filesystem::perms::owner_all);
  EXPECT_EQ(FindAlong("tool", "/nowhere:" + Path("b") + ":" + Path("a")), second);
  EXPECT_EQ(FindAlong("tool", Path("a") + ":" + Path("b")), first);
  EXPECT_EQ(FindAlong("other", Path("a") + ":" + Path("b")), "");
}

TEST_F(FindAlongTest, WhatCannotBeExecutedIsPassedOver) {
  Make("a", std::filesystem::perms::owner_read);
  std::filesystem::create_directories(home_ / "b/tool");
  const std::string last = Make("c", std::filesystem::perms::owner_all);
  EXPECT_EQ(FindAlong("tool", Path("a") + ":" + Path("b") + ":" + Path("c")), last);
}

TEST_F(FindAlongTest, ADirectoryThatDependsOnOursIsPassedOver) {
  Make("a", std::filesystem::perms::owner_all);
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(home_.path());
  EXPECT_EQ(FindAlong("tool", "a:.::./a"), "");
  std::filesystem::current_path(before);
}

TEST(SystemPath, HasAShell) {
  EXPECT_NE(FindAlong("sh", kSystemPath), "");
}

}  // namespace
}  // namespace muster
