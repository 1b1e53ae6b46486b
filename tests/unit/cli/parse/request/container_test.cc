#include "cli/parse/request/container.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::cli {
namespace {

using ::testing::ElementsAre;

TEST(ContainerReader, AMountIsASourceAPlaceAndHowItIsSeen) {
  EXPECT_THAT(*ParseContainerMounts("/a:/b,/c:/d:ro,/e:/f:rw,/g"),
              ElementsAre(ContainerMount{"/a", "/b", false}, ContainerMount{"/c", "/d", true},
                          ContainerMount{"/e", "/f", false}, ContainerMount{"/g", "/g", false}));
  for (const char* text : {"", "/a:", ":/b", "/a:/b:xx", "/a:/b:ro:x", "/a:/b,"}) {
    EXPECT_FALSE(ParseContainerMounts(text).ok()) << text;
  }
}

TEST(ContainerReader, VariablesAreNamesByCommas) {
  EXPECT_THAT(*ParseVariableNames("A,B_2"), ElementsAre("A", "B_2"));
  EXPECT_FALSE(ParseVariableNames("A,,B").ok());
  EXPECT_FALSE(ParseVariableNames("A=1").ok());
}

TEST(ContainerReader, PathsOfTheNodeBecomeWhole) {
  ContainerSpec container{.image = "oci:images",
                          .mounts = {{"data", "/data", false}, {"/a", "/b", false}},
                          .save = "out.sqsh"};
  MakeAbsolute("/home/ada", &container);
  EXPECT_EQ(container.image, "oci:/home/ada/images");
  EXPECT_EQ(container.mounts[0].source, "/home/ada/data");
  EXPECT_EQ(container.mounts[1].source, "/a");
  EXPECT_EQ(container.save, "/home/ada/out.sqsh");
}

}  // namespace
}  // namespace muster::cli
