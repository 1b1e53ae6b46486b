#include "cli/service/replica/replica_place.h"

#include <gtest/gtest.h>

#include <set>

namespace muster::cli {
namespace {

TEST(ReplicaPlaceTest, ItsPortsAreDifferent) {
  const auto ports = FreePorts(16);
  ASSERT_TRUE(ports.ok());
  EXPECT_EQ(std::set(ports->begin(), ports->end()).size(), 16U);
  EXPECT_EQ(std::set(ports->begin(), ports->end()).count(0), 0U);
}

TEST(ReplicaPlaceTest, BesideTheControllerItIsTheLoopback) {
  for (const char* text : {"unix:/run/muster.sock", "localhost:6820", "127.0.0.1:6820"}) {
    EXPECT_EQ(*OwnAddress(*ParseAddress(text)), "127.0.0.1");
  }
}

TEST(ReplicaPlaceTest, AControllerThatHasNoAddressIsAnError) {
  EXPECT_FALSE(OwnAddress(*ParseAddress("no-such-host.invalid:6820")).ok());
}

}  // namespace
}  // namespace muster::cli
