#include "tests/faults/forgetful_disk.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdint>
#include <set>
#include <string>

namespace muster {
namespace {

constexpr std::uint64_t kSeeds = 200;

DiskAttributes File() {
  DiskAttributes attributes;
  attributes.mode = S_IFREG | 0600;
  return attributes;
}

DiskAttributes Directory() {
  DiskAttributes attributes;
  attributes.mode = S_IFDIR | 0700;
  return attributes;
}

DiskNodePtr MakeFile(ForgetfulDisk& disk, const std::string& path, const std::string& text) {
  DiskNodePtr made;
  EXPECT_EQ(disk.Make(path, File(), "", &made), 0);
  ForgetfulDisk::Write(*made, 0, text);
  return made;
}

// Over many cuts of a disk that `prepare` has filled: what `look` finds.
template <typename Prepare, typename Look>
std::set<std::string> Outcomes(Prepare prepare, Look look) {
  std::set<std::string> found;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    ForgetfulDisk disk;
    prepare(disk);
    disk.Lose(seed);
    found.insert(look(disk));
  }
  return found;
}

std::string TextOf(const ForgetfulDisk& disk, const std::string& path) {
  const DiskNodePtr node = disk.Find(path);
  return node == nullptr ? "absent" : node->data;
}

TEST(ForgetfulDisk, WhatIsSyncedWithItsNameStays) {
  const auto found = Outcomes(
      [](ForgetfulDisk& disk) {
        disk.Sync(*MakeFile(disk, "/a", "text"));
        disk.Sync(*disk.Find("/"));
      },
      [](const ForgetfulDisk& disk) { return TextOf(disk, "/a"); });
  EXPECT_EQ(found, std::set<std::string>{"text"});
}

TEST(ForgetfulDisk, AFileWhoseNameWasNotSyncedMayBeGone) {
  const auto found = Outcomes([](ForgetfulDisk& disk) { disk.Sync(*MakeFile(disk, "/a", "text")); },
                              [](const ForgetfulDisk& disk) { return TextOf(disk, "/a"); });
  EXPECT_EQ(found, (std::set<std::string>{"absent", "text"}));
}

TEST(ForgetfulDisk, ANameThatIsThereMayBeOfAFileWithoutItsBytes) {
  const auto found = Outcomes(
      [](ForgetfulDisk& disk) {
        MakeFile(disk, "/a", "text");
        disk.Sync(*disk.Find("/"));
      },
      [](const ForgetfulDisk& disk) { return TextOf(disk, "/a"); });
  EXPECT_EQ(found, (std::set<std::string>{"", std::string(4, '\0'), "text"}));
}

TEST(ForgetfulDisk, ARenameIsWholeOrNotAtAll) {
  const auto found = Outcomes(
      [](ForgetfulDisk& disk) {
        disk.Sync(*MakeFile(disk, "/a", "old"));
        disk.Sync(*disk.Find("/"));
        disk.Sync(*MakeFile(disk, "/b", "new"));
        EXPECT_EQ(disk.Rename("/b", "/a", true), 0);
      },
      [](const ForgetfulDisk& disk) { return TextOf(disk, "/a") + "," + TextOf(disk, "/b"); });
  EXPECT_EQ(found, (std::set<std::string>{"new,absent", "old,absent", "old,new"}));
}

TEST(ForgetfulDisk, ASyncOfADirectoryMakesItsNamesDurableButNotItsOwn) {
  const auto found = Outcomes(
      [](ForgetfulDisk& disk) {
        EXPECT_EQ(disk.Make("/d", Directory(), ""), 0);
        disk.Sync(*MakeFile(disk, "/d/a", "text"));
        disk.Sync(*disk.Find("/d"));
      },
      [](const ForgetfulDisk& disk) { return TextOf(disk, "/d") + TextOf(disk, "/d/a"); });
  EXPECT_EQ(found, (std::set<std::string>{"absentabsent", "text"}));
}

TEST(ForgetfulDisk, ChangesOfOneNameKeepTheirOrder) {
  const auto found = Outcomes(
      [](ForgetfulDisk& disk) {
        disk.Sync(*MakeFile(disk, "/a", "1"));
        EXPECT_EQ(disk.Unlink("/a"), 0);
        disk.Sync(*MakeFile(disk, "/a", "2"));
      },
      [](const ForgetfulDisk& disk) { return TextOf(disk, "/a"); });
  EXPECT_EQ(found, (std::set<std::string>{"1", "2", "absent"}));
}

TEST(ForgetfulDisk, AWriteIsTornBetweenPieces) {
  const std::string before(8192, 'o');
  const std::string after(8192, 'n');
  const auto found = Outcomes(
      [&](ForgetfulDisk& disk) {
        const DiskNodePtr node = MakeFile(disk, "/a", before);
        disk.Sync(*node);
        disk.Sync(*disk.Find("/"));
        ForgetfulDisk::Write(*node, 0, after);
      },
      [](const ForgetfulDisk& disk) { return TextOf(disk, "/a"); });
  EXPECT_EQ(found.count(before), 1U);
  EXPECT_EQ(found.count(after), 1U);
  EXPECT_GT(found.size(), 20U);
  for (const std::string& text : found) {
    ASSERT_EQ(text.size(), before.size());
    for (std::size_t at = 0; at < text.size(); ++at) {
      ASSERT_EQ(text[at], text[at - at % 512]) << "torn within 512 bytes";
    }
  }
}

TEST(ForgetfulDisk, APieceIsLeftInAnyOfItsVersions) {
  const auto found = Outcomes(
      [](ForgetfulDisk& disk) {
        const DiskNodePtr node = MakeFile(disk, "/a", "0");
        disk.Sync(*node);
        disk.Sync(*disk.Find("/"));
        ForgetfulDisk::Write(*node, 0, "1");
        ForgetfulDisk::Write(*node, 0, "2");
      },
      [](const ForgetfulDisk& disk) { return TextOf(disk, "/a"); });
  EXPECT_EQ(found, (std::set<std::string>{"0", "1", "2"}));
}

TEST(ForgetfulDisk, WhatWasRemovedMayComeBackUntilItsDirectoryIsSynced) {
  const auto prepare = [](ForgetfulDisk& disk) {
    disk.Sync(*MakeFile(disk, "/a", "text"));
    disk.Sync(*disk.Find("/"));
    EXPECT_EQ(disk.Unlink("/a"), 0);
  };
  const auto look = [](const ForgetfulDisk& disk) { return TextOf(disk, "/a"); };
  EXPECT_EQ(Outcomes(prepare, look), (std::set<std::string>{"absent", "text"}));
  const auto synced = [&](ForgetfulDisk& disk) {
    prepare(disk);
    disk.Sync(*disk.Find("/"));
  };
  EXPECT_EQ(Outcomes(synced, look), std::set<std::string>{"absent"});
}

TEST(ForgetfulDisk, ASeedLeavesTheSameDisk) {
  const auto left = [](std::uint64_t seed) {
    ForgetfulDisk disk;
    MakeFile(disk, "/a", std::string(100000, 'a'));
    const DiskLoss loss = disk.Lose(seed);
    return TextOf(disk, "/a") + std::to_string(loss.names) + " " + std::to_string(loss.pieces);
  };
  for (std::uint64_t seed = 1; seed < 20; ++seed) {
    EXPECT_EQ(left(seed), left(seed));
  }
}

TEST(ForgetfulDisk, ItRefusesAsAFileSystemDoes) {
  ForgetfulDisk disk;
  MakeFile(disk, "/a", "text");
  EXPECT_EQ(disk.Make("/d", Directory(), ""), 0);
  MakeFile(disk, "/d/b", "text");
  EXPECT_EQ(disk.Make("/a", File(), ""), -EEXIST);
  EXPECT_EQ(disk.Make("/e/a", File(), ""), -ENOENT);
  EXPECT_EQ(disk.RemoveDirectory("/d"), -ENOTEMPTY);
  EXPECT_EQ(disk.RemoveDirectory("/a"), -ENOTDIR);
  EXPECT_EQ(disk.Unlink("/d"), -EISDIR);
  EXPECT_EQ(disk.Link("/d", "/f"), -EPERM);
  EXPECT_EQ(disk.Rename("/a", "/d/b", false), -EEXIST);
  EXPECT_EQ(disk.Rename("/a", "/d", true), -EISDIR);
}

}  // namespace
}  // namespace muster
