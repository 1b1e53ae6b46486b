#include "agent/supervisor/attempt/container_order.h"

#include <gtest/gtest.h>

namespace muster::agent {
namespace {

TEST(ContainerOrderTest, AnOrderAndItsAnswerArriveAsTheyWereSent) {
  ContainerOrder order;
  order.spec = {.image = "alpine:3", .mounts = {{"/a", "/b", true}}, .writable = true};
  order.settings = {"/usr/bin/crun", "/var/cache", 1ULL << 40U, {{"/opt", "/opt", false}}};
  order.attempt = "7.1";
  order.shared = {"/state/attempts/7.1"};
  order.gpus = {{3, "GPU-x"}};
  order.device_files = {"/dev/nvidia3"};
  order.settings.fetch_patience = 7;
  order.settings.squashfuse = false;
  order.rank_program = "/usr/libexec/muster/muster-rank";
  order.saved.rootfs = "/var/cache/7/images/a/rootfs";
  EXPECT_EQ(*DecodeContainerOrder(EncodeContainerOrder(order)), order);
  const ContainerMade made{"", "sha256:ab", {"A=1"}, "/w", {"/init"}, "/r", "/c", true};
  EXPECT_EQ(*DecodeContainerMade(EncodeContainerMade(made)), made);
  EXPECT_FALSE(DecodeContainerMade("\x0a\x7fno").ok());
}

TEST(ContainerOrderTest, WithoutTheProgramBesideUsNoContainerIsMade) {
  EXPECT_EQ(FindContainerProgram("/no/such/bin/muster-supervisor"), "");
}

}  // namespace
}  // namespace muster::agent
