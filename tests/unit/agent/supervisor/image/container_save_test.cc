#include "agent/supervisor/image/container_save.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::agent {
namespace {

using ::testing::HasSubstr;

TEST(ContainerSave, AFileThatIsThereIsNotSavedOver) {
  const TempDirectory here;
  const std::string path = here.path() + "/saved.sqsh";
  EXPECT_TRUE(CheckSaveTarget("").ok());
  EXPECT_TRUE(CheckSaveTarget(path).ok());
  std::ofstream(path) << "mine";
  ContainerOrder order;
  order.spec.save = path;
  order.saved.rootfs = here.path();
  EXPECT_THAT(std::string(SaveContainer(order, {}).message()), HasSubstr(path + " exists"));
  EXPECT_EQ(std::filesystem::file_size(path), 4U);
}

TEST(ContainerSave, ADirectoryThatIsNotThereIsNamed) {
  const TempDirectory here;
  EXPECT_THAT(std::string(CheckSaveTarget(here.path() + "/none/saved.sqsh").message()),
              HasSubstr("--container-save: cannot write to " + here.path() + "/none on this node"));
}

}  // namespace
}  // namespace muster::agent
