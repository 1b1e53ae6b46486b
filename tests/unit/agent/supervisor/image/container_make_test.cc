#include "agent/supervisor/image/container_make.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "agent/supervisor/image/system/own_namespaces.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::agent {
namespace {

using ::testing::HasSubstr;

std::string Refused(const ContainerOrder& order) {
  return std::string(MakeContainer(order, {}).status().message());
}

TEST(ContainerMake, WhatTheUserGaveIsLookedAtBeforeAnythingIsMade) {
  const TempDirectory directory;
  ContainerOrder order;
  order.settings = {"/no/such/runtime", directory.path() + "/cache", 1 << 20, {}};
  std::filesystem::create_directory(order.settings.cache);
  order.spec.image = "oci:" + directory.path() + "/none";
  order.spec.mounts = {{directory.path() + "/no-data", "/data", true}};
  EXPECT_THAT(Refused(order), HasSubstr("--container-mounts: cannot read "));
  EXPECT_TRUE(std::filesystem::is_empty(order.settings.cache));
  order.spec.mounts.clear();
  EXPECT_THAT(Refused(order), HasSubstr(absl::StrCat("image ", order.spec.image, ": ")));
}

// In a child, which nobody else is then in the namespaces of.
TEST(ContainerMake, AUserMayLayFilesOverOthersInNamespacesOfHisOwn) {
  const TempDirectory directory;
  for (const char* part : {"lower", "upper", "work", "merged"}) {
    std::filesystem::create_directory(absl::StrCat(directory.path(), "/", part));
  }
  std::ofstream(directory.path() + "/lower/file") << "below";
  const std::string at = directory.path() + "/merged";
  const pid_t child = fork();
  if (child == 0) {
    if (!EnterOwnNamespaces().ok() ||
        !MountLayers(directory.path() + "/lower", directory.path() + "/upper",
                     directory.path() + "/work", at)
             .ok()) {
      _exit(2);
    }
    std::ofstream(at + "/file") << "changed";
    _exit(ShowControlGroups().ok() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  if (WEXITSTATUS(status) == 2) {
    GTEST_SKIP() << "SKIPPED: NO USER NAMESPACES HERE, or no layers in them";
  }
  EXPECT_EQ(status, 0);
  EXPECT_FALSE(std::filesystem::exists(at + "/file")) << "nothing is mounted outside";
  EXPECT_TRUE(std::filesystem::exists(directory.path() + "/upper/file"));
  EXPECT_EQ(std::filesystem::file_size(directory.path() + "/lower/file"), 5U);
}

}  // namespace
}  // namespace muster::agent
