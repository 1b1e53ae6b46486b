#include "agent/node/network/fabric_ports.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::agent {
namespace {

using std::chrono::seconds;

// A /sys/class/infiniband of the test's own.
class FabricPortsTest : public ::testing::Test {
 protected:
  void Set(const std::string& port, const std::string& name, const std::string& text) const {
    const std::filesystem::path path = directory_ / absl::StrCat(port, "/", name);
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text << "\n";
  }
  void SetData(const std::string& port, std::uint64_t sent, std::uint64_t received) const {
    Set(port, "counters/port_xmit_data", absl::StrCat(sent));
    Set(port, "counters/port_rcv_data", absl::StrCat(received));
  }

  const TempDirectory directory_;
};

TEST_F(FabricPortsTest, APortCountsDataInUnitsOfFourBytes) {
  SetData("mlx5_0/ports/1", 1000, 250);
  Set("mlx5_0/ports/1", "rate", "100 Gb/sec (4X EDR)");
  Set("mlx5_0/ports/1", "counters/symbol_error", "2");
  Set("mlx5_0/ports/1", "counters/link_downed", "1");
  Set("mlx5_0/ports/1", "counters/port_xmit_wait", "99999");
  Set("mlx5_0/ports/1", "hw_counters/out_of_sequence", "7");
  Set("mlx5_1/ports/1", "state", "1: DOWN");
  const auto ports = ReadFabricPorts(directory_.path());
  ASSERT_EQ(ports.size(), 1U) << "one that says no data has none";
  const FabricPort& port = ports.at("mlx5_0/1");
  EXPECT_EQ(port.sent, Bytes(4000));
  EXPECT_EQ(port.received, Bytes(1000));
  EXPECT_DOUBLE_EQ(port.bytes_per_second, 12.5e9);
  EXPECT_EQ(port.errors, 3U);
  EXPECT_EQ(port.retries, 7U);
}

TEST_F(FabricPortsTest, WhatPortsDidBetweenTwoLooksAddsUp) {
  FabricMeter meter(directory_.path());
  EXPECT_FALSE(meter.Look().has_value()) << "no ports";
  for (const char* const port : {"mlx5_0/ports/1", "mlx5_1/ports/1"}) {
    SetData(port, 1'000'000, 1'000'000);
    Set(port, "rate", "8 Gb/sec");
    Set(port, "counters/symbol_error", "5");
  }
  EXPECT_FALSE(meter.Look().has_value()) << "what they did before is nobody's";
  SetData("mlx5_0/ports/1", 1'000'000 + 500'000'000, 1'000'001);
  SetData("mlx5_1/ports/1", 1'000'002, 1'000'000 + 750'000'000);
  Set("mlx5_1/ports/1", "counters/symbol_error", "6");
  const auto use = meter.Look();
  ASSERT_TRUE(use.has_value());
  EXPECT_EQ(use->sent, Bytes(2'000'000'008));
  EXPECT_EQ(use->received, Bytes(3'000'000'004));
  EXPECT_EQ(use->busy, seconds(3)) << "3 GB at 1 GB/s, the busiest port's";
  EXPECT_EQ(use->errors, 1U);
  EXPECT_EQ(use->retries, std::nullopt) << "what no port counts is not nothing";
}

TEST_F(FabricPortsTest, CountersThatBeginAgainAddNothing) {
  FabricMeter meter(directory_.path());
  SetData("hfi1_0/ports/1", 1000, 1000);
  meter.Look();
  SetData("hfi1_0/ports/1", 10, 2000);
  const auto use = meter.Look();
  ASSERT_TRUE(use.has_value());
  EXPECT_EQ(use->sent, Bytes(0));
  EXPECT_EQ(use->received, Bytes(4000));
  EXPECT_EQ(use->busy, Duration(0)) << "a port that does not say its rate";
}

}  // namespace
}  // namespace muster::agent
