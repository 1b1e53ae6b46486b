#include "agent/remove_tree.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "scheduler/runtime/file.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster {
namespace {

namespace fs = std::filesystem;

TEST(RemoveTreeTest, ADirectoryGoesWithItsContent) {
  const TempDirectory temp;
  fs::create_directories(temp / "a/b/c");
  ASSERT_TRUE(WriteFileAtomically(temp / "a/b/file", "text").ok());
  EXPECT_TRUE(RemoveTree(temp / "a").ok());
  EXPECT_FALSE(fs::exists(temp / "a"));
  EXPECT_TRUE(RemoveTree(temp / "a").ok()) << "absent is no error";
}

TEST(RemoveTreeTest, WhatALinkPointsToStays) {
  const TempDirectory temp;
  fs::create_directories(temp / "outside");
  ASSERT_TRUE(WriteFileAtomically(temp / "outside/file", "text").ok());
  fs::create_directories(temp / "a");
  fs::create_directory_symlink(temp / "outside", temp / "a/link");
  fs::create_hard_link(temp / "outside/file", temp / "a/hard");
  EXPECT_TRUE(RemoveTree(temp / "a").ok());
  EXPECT_FALSE(fs::exists(temp / "a"));
  EXPECT_EQ(ReadFile(temp / "outside/file").value(), "text");
  fs::create_directory_symlink(temp / "outside", temp / "link");
  EXPECT_TRUE(RemoveTree(temp / "link").ok()) << "the link itself";
  EXPECT_TRUE(fs::exists(temp / "outside/file"));
}

TEST(RemoveTreeTest, WhatIsNestedTooDeepIsAnErrorAndNotACrash) {
  const TempDirectory temp;
  std::string path = temp / "a";
  for (int i = 0; i < 70; ++i) {
    path += "/d";
  }
  fs::create_directories(path);
  EXPECT_FALSE(RemoveTree(temp / "a").ok());
}

}  // namespace
}  // namespace muster
