#include "scheduler/model/job/container.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster {
namespace {

using ::testing::HasSubstr;

std::string Refused(const ContainerSpec& container) {
  return std::string(CheckContainer(container).message());
}

TEST(Container, WhatAnImageIsFollowsFromHowItIsCalled) {
  EXPECT_EQ(KindOf("nvcr.io/nvidia/pytorch:23.01-py3"), ImageKind::kRegistry);
  EXPECT_EQ(KindOf("docker://alpine"), ImageKind::kRegistry);
  EXPECT_EQ(KindOf("/images/a.sqsh"), ImageKind::kSquashfs);
  EXPECT_EQ(KindOf("oci:/images/a"), ImageKind::kOciLayout);
  EXPECT_EQ(KindOf("docker-archive:/images/a.tar"), ImageKind::kDockerArchive);
  EXPECT_EQ(KindOf("bundle:/b"), ImageKind::kBundle);
}

TEST(Container, TheTagOfALayoutIsNoPartOfItsPath) {
  EXPECT_EQ(ImagePath("oci:/images/a:3.1"), "/images/a");
  EXPECT_EQ(ImageTag("oci:/images/a:3.1"), "3.1");
  EXPECT_EQ(ImagePath("oci:/images:old/a"), "/images:old/a");
  EXPECT_EQ(ImageTag("oci:/images:old/a"), "");
  EXPECT_EQ(ImagePath("nvcr.io#nvidia/pytorch:23"), "nvcr.io/nvidia/pytorch:23");
}

TEST(Container, AnImagesMarkIsOfItsUserAndItsDigest) {
  const std::uint64_t mark = MarkOfImage(1000, "team/app:v1@sha256:01");
  EXPECT_NE(mark, 0U);
  EXPECT_EQ(MarkOfImage(1000, "docker://other/name@sha256:01"), mark);
  EXPECT_NE(MarkOfImage(1001, "team/app:v1@sha256:01"), mark);
  EXPECT_NE(MarkOfImage(1000, "team/app:v1@sha256:02"), mark);
  EXPECT_NE(MarkOfImage(1000, "/a/x.sqsh"), MarkOfImage(1000, "/b/x.sqsh"));
  EXPECT_NE(MarkOfImage(1000, "oci:/a@1"), MarkOfImage(1000, "oci:/b@1"));
  EXPECT_EQ(MarkOfImage(1000, ""), 0U);
  EXPECT_EQ(MarkOfImage(1000, "bundle:/b"), 0U);
}

TEST(Container, APathThatIsNotWholeIsBelowTheSubmittersDirectory) {
  EXPECT_EQ(WithAbsolutePath("a.sqsh", "/home/ada"), "/home/ada/a.sqsh");
  EXPECT_EQ(WithAbsolutePath("oci:a:1", "/home/ada"), "oci:/home/ada/a:1");
  EXPECT_EQ(WithAbsolutePath("oci:/a:1", "/home/ada"), "oci:/a:1");
  EXPECT_EQ(WithAbsolutePath("alpine:3", "/home/ada"), "alpine:3");
}

TEST(Container, WhatIsNoImageIsRefusedByItsOption) {
  EXPECT_EQ(Refused({}), "");
  EXPECT_EQ(Refused({.image = "alpine:3"}), "");
  EXPECT_THAT(Refused({.image = "-v"}), HasSubstr("--container-image: "));
  EXPECT_THAT(Refused({.image = "a b"}), HasSubstr("is no image"));
  EXPECT_THAT(Refused({.image = "oci:images"}), HasSubstr("does not begin with /"));
  EXPECT_THAT(Refused({.image = "a\nb"}), HasSubstr("--container-image"));
}

TEST(Container, AReferenceIsANameWithATagAndADigest) {
  const std::string digest(64, 'a');
  for (const std::string image :
       {"alpine", "alpine:3.20", "docker://localhost/a", "Reg.example:5000/team/my__app-x:V1_2",
        "nvcr.io#nvidia/pytorch:24.01-py3"}) {
    EXPECT_EQ(Refused({.image = image}), "");
    EXPECT_EQ(Refused({.image = image + "@sha256:" + digest}), "");
  }
  for (const std::string image :
       {"Alpine", "team//app", "/app", "app/", "app:", "app:-x", "app:1:2", "app@", "app@sha256:ab",
        "app@md5:ab", "reg.example:5000/", "app.:1"}) {
    EXPECT_THAT(Refused({.image = image}), HasSubstr("is no image")) << image;
  }
  EXPECT_THAT(Refused({.image = "a:" + std::string(129, 'x')}), HasSubstr("is no image"));
  EXPECT_THAT(Refused({.image = "app@sha256:" + digest + "@sha256:" + digest}),
              HasSubstr("is no image"));
}

TEST(Container, ItsOtherOptionsNeedAnImage) {
  EXPECT_THAT(Refused({.image = "", .writable = true}), HasSubstr("--container-image: "));
}

TEST(Container, AMountIsFromAWholePathToAPlaceBelowTheRoot) {
  EXPECT_EQ(Refused({.image = "a", .mounts = {{"/data", "/data", true}}}), "");
  EXPECT_THAT(Refused({.image = "a", .mounts = {{"data", "/data", true}}}),
              HasSubstr("--container-mounts: "));
  EXPECT_THAT(Refused({.image = "a", .mounts = {{"/data", "/", true}}}), HasSubstr("below /"));
  EXPECT_THAT(Refused({.image = "a", .mounts = {{"/data", "/a/../..", true}}}),
              HasSubstr("below /"));
  EXPECT_EQ(ToText(ContainerMount{"/data", "/d", true}), "/data:/d:ro");
}

TEST(Container, NamesAreBounded) {
  EXPECT_THAT(Refused({.image = "a", .name = "../up"}), HasSubstr("--container-name: "));
  EXPECT_THAT(Refused({.image = "a", .env = {"A=1"}}), HasSubstr("--container-env: "));
  EXPECT_THAT(Refused({.image = "a", .work_dir = "here"}), HasSubstr("--container-workdir: "));
}

}  // namespace
}  // namespace muster
