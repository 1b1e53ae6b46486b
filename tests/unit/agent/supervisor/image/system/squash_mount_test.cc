#include "agent/supervisor/image/system/squash_mount.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <functional>

#include "agent/supervisor/image/system/own_namespaces.h"
#include "agent/supervisor/image/system/tool_run.h"
#include "scheduler/runtime/file.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::agent {
namespace {

class SquashMountTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!FindTool("squashfuse").ok() || !FindTool("mksquashfs").ok() ||
        access("/dev/fuse", R_OK | W_OK) != 0) {
      GTEST_SKIP()
          << "SKIPPED: NO squashfuse (apt-get install squashfuse), mksquashfs or /dev/fuse";
    }
    std::ofstream(directory_.path() + "/file") << "text";
    const ToolRun run{.command = {"mksquashfs", directory_.path() + "/file", Image(), "-quiet",
                                  "-no-progress", "-all-root"},
                      .environment = {},
                      .limit = std::chrono::minutes(1)};
    ASSERT_TRUE(RunTool(run).ok());
    ASSERT_EQ(mkdir(At().c_str(), 0755), 0);
  }
  std::string Image() const { return directory_.path() + "/image.sqsh"; }
  std::string At() const { return directory_.path() + "/at"; }
  // The exit status of a child that does that, as this is of no use afterwards.
  static int InChild(const std::function<int()>& work) {
    const pid_t child = fork();
    if (child == 0) {
      _exit(work());
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  const TempDirectory directory_;
};

TEST_F(SquashMountTest, ItsFilesAreSeenInNamespacesOfOurOwnAndNowhereElse) {
  EXPECT_EQ(InChild([this] {
              const std::optional<SquashMount> mount = SquashMount::Prepare(Image());
              if (!mount.has_value() || !EnterOwnNamespaces().ok()) {
                return 2;
              }
              if (!mount->MountAt(At()).ok() || unlink(Image().c_str()) != 0) {
                return 3;
              }
              return ReadFile(At() + "/file").value_or("") == "text" ? 0 : 4;
            }),
            0);
  EXPECT_NE(access((At() + "/file").c_str(), F_OK), 0);
}

TEST_F(SquashMountTest, WhatIsNotAllRootsIsNotMounted) {
  std::ofstream(Image(), std::ios::trunc) << "no image";
  EXPECT_FALSE(SquashMount::Prepare(Image()).has_value());
  EXPECT_FALSE(SquashMount::Prepare(directory_.path() + "/none").has_value());
}

TEST_F(SquashMountTest, AFileThatIsBrokenIsSaidToBe) {
  EXPECT_EQ(InChild([this] {
              const std::optional<SquashMount> mount = SquashMount::Prepare(Image());
              std::fstream file(Image(), std::ios::in | std::ios::out);
              file.seekp(0);
              file << "not a squashfs any more";
              file.close();
              if (!mount.has_value() || !EnterOwnNamespaces().ok()) {
                return 2;
              }
              const absl::Status mounted = mount->MountAt(At());
              return mounted.message().find("squashfuse: ") == 0 ? 0 : 3;
            }),
            0);
}

}  // namespace
}  // namespace muster::agent
