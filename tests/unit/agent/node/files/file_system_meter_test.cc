#include "agent/node/files/file_system_meter.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/runtime/file.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::agent {
namespace {

using ::testing::IsEmpty;

constexpr Bytes kMib = kMebibyte;
constexpr const char* kMounts =
    "27 1 254:0 / / rw - ext4 /dev/vda rw\n"
    "28 1 0:5 / /dev rw - devtmpfs devtmpfs rw\n"
    "40 27 0:40 / /data rw - nfs4 server:/data rw\n"
    "41 27 0:41 / /scratch rw - lustre mgs:/fs rw\n";

// The supervisor 10 with the processes 11 and 12, in a /proc of the test's own, whose links are
// open for reading and writing.
class FileSystemMeterTest : public ::testing::Test {
 protected:
  FileSystemMeterTest() {
    for (const int pid : {11, 12}) {
      std::filesystem::create_directories(directory_ / absl::StrCat(pid, "/fd"));
      std::ofstream(directory_ / absl::StrCat(pid, "/mountinfo")) << kMounts;
    }
    meter_.Look({{10, {}}});
  }
  void Open(int pid, int fd, const std::string& path) const {
    const std::filesystem::path link = directory_ / absl::StrCat(pid, "/fd/", fd);
    std::filesystem::remove(link);
    std::filesystem::create_symlink(path, link);
  }

  const TempDirectory directory_;
  FileSystemMeter meter_{directory_.path()};
};

TEST_F(FileSystemMeterTest, WhatAProcessReadIsOfTheFileSystemWhoseFilesItHasOpen) {
  Open(11, 0, "/dev/null");
  Open(11, 1, "pipe:[7]");
  Open(11, 3, "/data/set/part-1 (deleted)");
  Open(12, 3, "/scratch/out");
  Open(12, 4, "/scratch/log");
  auto uses = meter_.Look({{10, {{11, 0, kMib * 5, Bytes()}, {12, 0, Bytes(), kMib * 3}}}});
  EXPECT_EQ(uses[10], (std::vector<FileSystemUse>{{"/data", kMib * 5, Bytes()},
                                                  {"/scratch", Bytes(), kMib * 3}}))
      << "since they began";
  uses = meter_.Look({{10, {{11, 0, kMib * 6, Bytes()}, {12, 0, Bytes(), kMib * 3}}}});
  EXPECT_EQ(uses[10], (std::vector<FileSystemUse>{{"/data", kMib, Bytes()}}));
}

TEST_F(FileSystemMeterTest, WhatIsNotClearIsOfNone) {
  Open(11, 3, "/data/set");
  Open(11, 4, "/scratch/other");
  EXPECT_THAT(meter_.Look({{10, {{11, 0, kMib, Bytes()}}}}), IsEmpty()) << "two file systems";
  Open(11, 4, "/dev/shm");
  EXPECT_THAT(meter_.Look({{10, {{11, 500, kMib * 9, Bytes()}}}}), IsEmpty())
      << "it has waited for a child, whose bytes these may be";
  EXPECT_THAT(meter_.Look({{10, {{11, 500, kMib * 9 + Bytes(1), Bytes()}}}}), IsEmpty())
      << "hardly anything";
  EXPECT_THAT(meter_.Look({{10, {{12, 0, kMib, Bytes()}}}}), IsEmpty()) << "no file at all";
  EXPECT_THAT(meter_.Look({{10, {{13, 0, kMib, Bytes()}}}}), IsEmpty()) << "it has ended";
}

TEST_F(FileSystemMeterTest, WhatAnEarlierMeterMayHaveCountedIsNotCountedAgain) {
  Open(11, 3, "/data/set");
  FileSystemMeter next(directory_.path());
  EXPECT_THAT(next.Look({{10, {{11, 0, kMib * 5, Bytes()}}}}), IsEmpty());
  EXPECT_EQ(next.Look({{10, {{11, 0, kMib * 7, Bytes()}}}})[10],
            (std::vector<FileSystemUse>{{"/data", kMib * 2, Bytes()}}));
}

// How much there is to read is for users to say.

TEST_F(FileSystemMeterTest, OfMoreFilesAndMountsThanAreReadNothingIsSaid) {
  for (int fd = 3; fd < FileSystemMeter::kFilesMost + 4; ++fd) {
    Open(11, fd, "/data/set");
  }
  Open(12, 3, "/scratch/out");
  std::filesystem::create_directories(directory_ / "12/ns");
  std::filesystem::create_symlink("mnt:[12]", directory_ / "12/ns/mnt");
  std::ofstream mounts(directory_ / "12/mountinfo", std::ios::app);
  for (std::size_t i = 0; i < FileSystemMeter::kMountBytesMost; i += 32) {
    mounts << "42 27 0:42 / /m" << i << " rw - nfs4 server:/m rw\n";
  }
  mounts.close();
  EXPECT_THAT(meter_.Look({{10, {{11, 0, kMib, Bytes()}, {12, 0, kMib, Bytes()}}}}), IsEmpty());
  std::filesystem::remove(directory_ / "11/fd/3");
  EXPECT_EQ(meter_.Look({{10, {{11, 0, kMib * 2, Bytes()}}}})[10],
            (std::vector<FileSystemUse>{{"/data", kMib, Bytes()}}));
}

TEST_F(FileSystemMeterTest, WhatALookHasNoTimeForIsTheNextOnes) {
  Open(11, 3, "/data/set");
  FileSystemMeter hurried(directory_.path(), Duration(0));
  hurried.Look({{10, {{11, 0, kMib, Bytes()}}}});
  EXPECT_THAT(hurried.Look({{10, {{11, 0, kMib * 5, Bytes()}}}}), IsEmpty());
}

TEST(FileSystemMeterHere, AFileOpenForReadingAloneIsReadFrom) {
  const TempDirectory directory;
  const std::string path = directory / "data";
  std::ofstream(path) << "text";
  int ready[2] = {-1, -1};
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    for (int fd = 0; fd < 1024; ++fd) {
      if (fd != ready[1]) {
        close(fd);
      }
    }
    if (open(path.c_str(), O_RDONLY) >= 0 && write(ready[1], "x", 1) == 1) {
      pause();
    }
    _exit(1);
  }
  char text = 0;
  ASSERT_EQ(read(ready[0], &text, 1), 1);
  close(ready[0]);
  close(ready[1]);
  FileSystemMeter meter;
  meter.Look({});
  const auto uses = meter.Look({{1, {{child, 0, kMib, kMib}}}});
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  const MountTable table(ReadFile("/proc/self/mountinfo").value_or(""));
  const Mount* const mount = table.Find(path);
  ASSERT_NE(mount, nullptr);
  if (!IsStorage(mount->type)) {
    EXPECT_THAT(uses, IsEmpty());
    GTEST_SKIP() << "its files are in memory";
  }
  ASSERT_EQ(uses.size(), 1U);
  EXPECT_EQ(uses.at(1), (std::vector<FileSystemUse>{{mount->point, kMib, Bytes()}}))
      << "nothing is open for writing";
}

}  // namespace
}  // namespace muster::agent
