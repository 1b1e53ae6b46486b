#include "checkpoint/session/regions.h"

#include <gmock/gmock.h>

#include <cstring>
#include <string>
#include <vector>

#include "tests/unit/checkpoint/store_files.h"

namespace muster::checkpoint {
namespace {

class RegionsTest : public StoreFiles {
 protected:
  // A shard that holds what `regions` hold now.
  Shard Written(const Regions& regions) {
    Result<Store> store = Store::Open(Disk::Real(), directory_.string());
    EXPECT_FALSE(store.value.LockForWriting().failed());
    const Result<GatheredRegions> gathered = regions.Gather();
    EXPECT_TRUE(gathered.ok()) << gathered.error.text;
    Manifest manifest;
    manifest.job = "job7";
    manifest.generation = Begin(&store.value).value;
    manifest.shards.push_back(
        store.value.Write({"job7", manifest.generation, 0, 1}, gathered.value.bytes).value);
    EXPECT_FALSE(store.value.Commit(manifest).failed());
    Result<Shard> shard = store.value.OpenShard(manifest, 0);
    EXPECT_TRUE(shard.ok()) << shard.error.text;
    return std::move(shard.value);
  }
  Regions regions_{Disk::Real()};
};

TEST_F(RegionsTest, MemoryOfAllKindsComesBackAsItWasGathered) {
  int here = 1;
  std::string device = "on the device";
  const fs::path file = directory_ / "model";
  Spill(file, "first");
  ASSERT_FALSE(regions_.Add("here", &here, sizeof here).failed());
  ASSERT_FALSE(regions_
                   .AddElsewhere("device",
                                 {[&](void* host) {
                                    std::memcpy(host, device.data(), device.size());
                                    return Error();
                                  },
                                  [&](const void* host) {
                                    std::memcpy(device.data(), host, device.size());
                                    return Error();
                                  }},
                                 device.size())
                   .failed());
  ASSERT_FALSE(regions_.AddFile("model", file.string()).failed());
  const Shard shard = Written(regions_);
  here = 2;
  device = "is forgotten.";
  Spill(file, "second and longer");
  EXPECT_FALSE(regions_.Check(shard).failed());
  ASSERT_EQ(regions_.Restore(shard).text, "");
  EXPECT_EQ(here, 1);
  EXPECT_EQ(device, "on the device");
  EXPECT_EQ(Slurp(file), "first");
}

TEST_F(RegionsTest, ShortFilesStayWhereTheirBytesAreReadFrom) {
  std::vector<std::string> names;
  for (int i = 0; i < 100; ++i) {
    names.push_back("file" + std::to_string(i));
    Spill(directory_ / names.back(), std::to_string(i));
    ASSERT_FALSE(regions_.AddFile(names.back(), (directory_ / names.back()).string()).failed());
  }
  const Result<GatheredRegions> gathered = regions_.Gather();
  ASSERT_EQ(gathered.value.bytes.size(), 100U);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const RegionBytes& bytes = gathered.value.bytes[i];
    EXPECT_EQ(bytes.name, names[i]);
    EXPECT_EQ(std::string(static_cast<const char*>(bytes.bytes), bytes.size), std::to_string(i));
  }
}

TEST_F(RegionsTest, ARegionNeedsANewNameAndSomethingToHold) {
  int value = 0;
  EXPECT_EQ(regions_.Add("a/b", &value, sizeof value).fault, Fault::kUsage);
  EXPECT_EQ(regions_.Add("null", nullptr, 1).fault, Fault::kUsage);
  EXPECT_EQ(regions_.AddFile("file", "").fault, Fault::kUsage);
  EXPECT_FALSE(regions_.Add("empty", nullptr, 0).failed());
  EXPECT_EQ(regions_.AddFile("empty", "x").text, "empty: is protected already");
}

TEST_F(RegionsTest, AShardWithOtherRegionsIsRefused) {
  int value = 0;
  ASSERT_FALSE(regions_.Add("value", &value, sizeof value).failed());
  const Shard shard = Written(regions_);
  Regions more(Disk::Real());
  ASSERT_FALSE(more.Add("other", &value, sizeof value).failed());
  EXPECT_EQ(more.Check(shard).text, "other: is not in the checkpoint");
  Regions larger(Disk::Real());
  double wide = 0;
  ASSERT_FALSE(larger.Add("value", &wide, sizeof wide).failed());
  EXPECT_EQ(larger.Check(shard).text, "value: has 4 bytes in the checkpoint and 8 here");
}

TEST_F(RegionsTest, WhatCannotBeReadIsNamed) {
  ASSERT_FALSE(regions_.AddFile("model", (directory_ / "absent").string()).failed());
  EXPECT_EQ(regions_.Gather().error.text,
            (directory_ / "absent").string() + ": No such file or directory");
  Regions device(Disk::Real());
  const auto refuse = [] { return MakeError(Fault::kSystem, "refused"); };
  ASSERT_FALSE(
      device
          .AddElsewhere("weights",
                        {[&](void*) { return refuse(); }, [&](const void*) { return refuse(); }}, 8)
          .failed());
  EXPECT_EQ(device.Gather().error.text, "weights: refused");
}

}  // namespace
}  // namespace muster::checkpoint
