#include "agent/supervisor/image/image_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::agent {
namespace {

TEST(ImageFile, ALinkOutOfAnImageLeadsToItsOwnFile) {
  const TempDirectory directory;
  const std::string root = directory.path() + "/rootfs";
  std::filesystem::create_directories(root + "/etc");
  std::ofstream(directory.path() + "/secret") << "outside";
  std::filesystem::create_symlink("../../../secret", root + "/etc/passwd");
  EXPECT_FALSE(ReadInRoot(root, "etc/passwd", 100).ok());
  std::ofstream(root + "/secret") << "inside";
  EXPECT_EQ(*ReadInRoot(root, "etc/passwd", 100), "inside");
  EXPECT_EQ(*ReadInRoot(root, "etc/passwd", 2), "in");
  EXPECT_FALSE(ReadInRoot(root, "etc", 100).ok());
}

TEST(ImageFile, AUserIsAddedWhereTheImageDoesNotKnowTheNumber) {
  EXPECT_EQ(WithEntry("root:x:0:0::/:/bin/sh\n", "ada:x:7:7::/:/bin/sh", 7),
            "ada:x:7:7::/:/bin/sh\nroot:x:0:0::/:/bin/sh\n");
  EXPECT_EQ(WithEntry("eve:x:7:7::/:/bin/sh\n", "ada:x:7:7::/:/bin/sh", 7),
            "eve:x:7:7::/:/bin/sh\n");
}

}  // namespace
}  // namespace muster::agent
