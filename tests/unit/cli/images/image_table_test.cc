#include "cli/images/image_table.h"

#include <gtest/gtest.h>

#include "scheduler/model/request/image_questions.h"

namespace muster::cli {
namespace {

constexpr Time kNow{Duration(1'800'000'000'000)};

NodeImage Image(const std::string& node, const std::string& name, const std::string& digest) {
  NodeImage image;
  image.node = node;
  image.name = name;
  image.digest = digest;
  image.size = Bytes(std::uint64_t{8} << 20);
  image.used = kNow - std::chrono::hours(2);
  return image;
}

TEST(ImageTableTest, AnImageOfSeveralNodesIsOneLine) {
  ImageTable images;
  images.images = {Image("n1", "alpine:3.20@sha256:0123456789abcdef", "sha256:0123456789abcdef"),
                   Image("n2", "alpine:3.20@sha256:0123456789abcdef", "sha256:0123456789abcdef"),
                   Image("n3", "/i/a.sqsh", "file-1-2-3")};
  images.images[2].in_use = true;
  images.silent = {"node n4: its agent is not connected"};
  EXPECT_EQ(PrintImages(images, kNow, Style()),
            "IMAGE        DIGEST         SIZE  USED         NODES\n"
            "/i/a.sqsh    -             8 MiB  in use       n3\n"
            "alpine:3.20  0123456789ab  8 MiB  2:00:00 ago  n[1-2]\n"
            "node n4: its agent is not connected\n");
}

TEST(ImageTableTest, ANamedContainerIsCalledOne) {
  ImageTable images;
  images.images = {Image("n1", "", "sha256:0123456789abcdef")};
  images.images[0].container = "dev";
  images.images[0].used = kNoTime;
  EXPECT_EQ(PrintImages(images, kNow, Style()),
            "IMAGE          DIGEST         SIZE  USED  NODES\n"
            "container dev  0123456789ab  8 MiB  -     n1\n");
}

TEST(ImageTableTest, CopiesOfDataAreCalledByTheirSources) {
  ImageTable copies;
  copies.images = {Image("n1", "/data/a@b", "data-1"), Image("n2", "/data/a@b", "data-1")};
  EXPECT_EQ(PrintCopies(copies, kNow, Style()),
            "SOURCE      SIZE  USED         NODES\n"
            "/data/a@b  8 MiB  2:00:00 ago  n[1-2]\n");
  EXPECT_EQ(PrintPruned(copies, /*data=*/true), "/data/a@b: removed from n[1-2] (16 MiB)\n");
}

TEST(ImageTableTest, WhatWentAndWhatStayedIsSaid) {
  ImageTable images;
  images.images = {Image("n1", "a:1", "sha256:a"), Image("n2", "a:1", "sha256:a"),
                   Image("n3", "b:\x1b[1", "sha256:b")};
  images.images[2].in_use = true;
  EXPECT_EQ(PrintPruned(images),
            "a:1: removed from n[1-2] (16 MiB)\nb:\\x1b[1: in use on n3, stays\n");
}

TEST(ImageTableTest, ANameIsFoundWithTheDigestThatItWasPinnedTo) {
  const std::vector<NodeImage> images = {Image("n1", "a:1@sha256:aa", "sha256:aa"),
                                         Image("n1", "a:2", "sha256:bb")};
  EXPECT_EQ(ImagesNamed(images, "a:1").size(), 1U);
  EXPECT_EQ(ImagesNamed(images, "a:1@sha256:aa").size(), 1U);
  EXPECT_EQ(ImagesNamed(images, "a:3").size(), 0U);
}

}  // namespace
}  // namespace muster::cli
