#include "cli/request/container/image_digest.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <chrono>

#include "absl/strings/str_cat.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::cli {
namespace {

TEST(ImageDigest, ARegistryThatNeverAnswersLeavesTheImageToTheNode) {
  const UniqueFd silent(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  ASSERT_EQ(bind(silent.get(), reinterpret_cast<const sockaddr*>(&address), size), 0);
  ASSERT_EQ(listen(silent.get(), 4), 0);
  ASSERT_EQ(getsockname(silent.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  const std::string image = absl::StrCat("127.0.0.1:", ntohs(address.sin_port), "/team/app:v1");
  ContainerSpec container{.image = image};
  const auto begun = std::chrono::steady_clock::now();
  const absl::StatusOr<std::string> machine =
      PinImage({"HOME=/"}, std::chrono::milliseconds(300), &container);
  ASSERT_TRUE(machine.ok());
  EXPECT_EQ(*machine, "");
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(10));
  EXPECT_EQ(container.image, image);
}

TEST(ImageDigest, WhatIsPinnedOrOfNoRegistryIsNotAskedFor) {
  for (const std::string image : {"oci:/images:v1", "/image.sqsh", "app@sha256:ab"}) {
    ContainerSpec container{.image = image};
    EXPECT_TRUE(PinImage({}, std::chrono::milliseconds(1), &container).ok());
    EXPECT_EQ(container.image, image);
  }
}

TEST(ImageDigest, AnIndexNamesTheMachinesThatItHasImagesFor) {
  EXPECT_THAT(MachinesIn(R"({"manifests": [{"platform": {"architecture": "amd64"}},
                                           {"platform": {"architecture": "arm64"}}]})"),
              ::testing::ElementsAre("amd64", "arm64"));
  for (const char* other : {"", "{", "[]", R"({"config": {}})", R"({"manifests": [{}]})",
                            R"({"manifests": [{"platform": {"architecture": 7}}]})"}) {
    EXPECT_THAT(MachinesIn(other), ::testing::IsEmpty()) << other;
  }
}

}  // namespace
}  // namespace muster::cli
