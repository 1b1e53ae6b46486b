#include "scheduler/model/job/exit_status.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "scheduler/model/value/file_system_use.h"

namespace muster {
namespace {

TEST(UsageTest, PartsOfSeveralNodesAddUpButTheLargestProcessStaysTheLargest) {
  Usage whole;
  whole.user_cpu = Duration(10);
  whole.peak_memory = Bytes(5);
  whole.group_memory = Bytes(5);
  Usage part;
  part.user_cpu = Duration(3);
  part.peak_memory = Bytes(4);
  part.group_memory = Bytes(4);
  part.gpu_memory = Bytes(7);
  part.gpu_energy_mj = 9;
  whole.Add(part);
  EXPECT_EQ(whole.user_cpu, Duration(13));
  EXPECT_EQ(whole.peak_memory, Bytes(5));
  EXPECT_EQ(whole.group_memory, Bytes(9));
  EXPECT_EQ(whole.gpu_memory, Bytes(7));
  whole.Add(part);
  EXPECT_EQ(whole.gpu_memory, Bytes(7)) << "of one GPU, be it on any node";
  EXPECT_EQ(whole.gpu_energy_mj, 18U);
}

TEST(UsageTest, WhatOnePartCouldNotTellIsLeftToTheOthersAndWhatNoneCouldIsNotNothing) {
  Usage whole;
  whole.Add(Usage());
  EXPECT_EQ(whole.read_bytes, std::nullopt);
  Usage told;
  told.read_bytes = Bytes(0);
  told.io_blocked = Duration(5);
  whole.Add(told);
  whole.Add(Usage());
  EXPECT_EQ(whole.read_bytes, Bytes(0));
  whole.Add(told);
  EXPECT_EQ(whole.io_blocked, Duration(10));
  EXPECT_EQ(whole.sm_active, std::nullopt);
}

TEST(UsageTest, EveryAmountHasAPlaceOfItsOwnAndNoneIsLeftOut) {
  std::set<std::size_t> places;
  Usage::Amounts([&](auto... amount) { (places.insert(amount.place), ...); });
  constexpr std::size_t kAmounts = decltype(Usage::Amounts(CountFields{}))::value;
  EXPECT_EQ(places.size(), kAmounts);
  EXPECT_EQ(*places.rbegin(), kAmounts - 1);
  EXPECT_EQ(kFieldCount<Usage>, kAmounts + 1) << "and the file systems";
}

TEST(UsageTest, FileSystemsOfPartsAddUpByMountAndTheLargestStay) {
  Usage whole;
  Usage part;
  part.file_systems = {{"/data", Bytes(100), Bytes(0)}, {"/scratch", Bytes(0), Bytes(50)}};
  whole.Add(part);
  part.file_systems = {{"/scratch", Bytes(60), Bytes(0)}};
  whole.Add(part);
  EXPECT_EQ(whole.file_systems, (std::vector<FileSystemUse>{{"/scratch", Bytes(60), Bytes(50)},
                                                            {"/data", Bytes(100), Bytes(0)}}));
  for (std::uint64_t i = 0; i < 20; ++i) {
    part.file_systems = {{"/mnt/" + std::to_string(i), Bytes(i), Bytes(0)}};
    whole.Add(part);
  }
  EXPECT_EQ(whole.file_systems.size(), FileSystemUse::kMost);
  EXPECT_EQ(whole.file_systems[0].mount, "/scratch");
  EXPECT_EQ(whole.file_systems[2].mount, "/mnt/19");
}

}  // namespace
}  // namespace muster
