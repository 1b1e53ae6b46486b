#include "cli/request/container/container_paths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::cli {
namespace {

using ::testing::HasSubstr;

std::string Said(const ContainerSpec& container) {
  return std::string(CheckContainerPaths(container).message());
}

TEST(ContainerPaths, AnImageThatIsNotThereIsRefusedWhereItsDirectoryIsSeen) {
  const TempDirectory here;
  for (const std::string scheme : {"oci:", "docker-archive:", "bundle:"}) {
    EXPECT_THAT(Said({.image = scheme + here.path() + "/none"}),
                HasSubstr("--container-image: cannot read " + here.path() + "/none"));
  }
  EXPECT_THAT(Said({.image = here.path() + "/none.sqsh"}), HasSubstr("No such file"));
  EXPECT_EQ(Said({.image = here.path() + "/no/folder/none.sqsh"}), "") << "nodes may have it";
  EXPECT_EQ(Said({.image = "/none.sqsh"}), "") << "each machine has a root of its own";
  EXPECT_EQ(Said({.image = "alpine:3"}), "");
}

TEST(ContainerPaths, ADirectoryIsAnImageByWhatItHolds) {
  const TempDirectory here;
  EXPECT_THAT(Said({.image = "oci:" + here.path()}), HasSubstr("no OCI layout"));
  EXPECT_THAT(Said({.image = "bundle:" + here.path()}), HasSubstr("no OCI bundle"));
  std::ofstream(here.path() + "/index.json") << "{}";
  EXPECT_EQ(Said({.image = "oci:" + here.path() + ":v1"}), "");
}

TEST(ContainerPaths, AFileThatIsThereIsNotSavedOver) {
  const TempDirectory here;
  ContainerSpec container{.image = "alpine:3", .save = here.path() + "/saved.sqsh"};
  EXPECT_EQ(Said(container), "");
  std::filesystem::create_symlink("/nowhere", container.save);
  EXPECT_THAT(Said(container), HasSubstr("--container-save: " + container.save + " exists"));
}

}  // namespace
}  // namespace muster::cli
