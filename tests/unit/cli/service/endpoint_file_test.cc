#include "cli/service/endpoint_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::cli {
namespace {

TEST(EndpointFileTest, AFileIsReplacedAsAWholeAndOnlyWhenItChanges) {
  const TempDirectory directory;
  const std::string path = directory / "web.conf";
  const auto inode = [&path] {
    struct stat status = {};
    EXPECT_EQ(stat(path.c_str(), &status), 0);
    return status.st_ino;
  };
  EXPECT_TRUE(*ReplaceFile(path, "one\n"));
  const std::ifstream kept(path);  // so that no other file gets its number
  const auto before = inode();
  EXPECT_FALSE(*ReplaceFile(path, "one\n"));
  EXPECT_EQ(inode(), before);
  EXPECT_TRUE(*ReplaceFile(path, "two\n"));
  EXPECT_NE(inode(), before);
  EXPECT_FALSE(ReplaceFile(directory / "none/web.conf", "one\n").ok());
}

}  // namespace
}  // namespace muster::cli
