#include "agent/node/files/mount_counters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::agent {
namespace {

using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::UnorderedElementsAre;

// A /proc and a /sys/kernel/debug of the test's own.
class MountCountersTest : public ::testing::Test {
 protected:
  void Write(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = directory_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  void SetNfs(int read, int written) const {
    Write("proc/self/mountstats",
          absl::StrCat("device /dev/vda mounted on / with fstype ext4\n"
                       "device server:/export mounted on /my\\040data with fstype nfs4 "
                       "statvers=1.1\n\topts:\trw,vers=4.2\n\tage:\t77\n\tbytes:\t900 800 700 600 ",
                       read, " ", written,
                       " 3 4\n\tRPC iostats version: 1.1\n"
                       "device proc mounted on /proc with fstype proc\n"));
  }
  void SetLustre(const std::string& client, int read) const {
    Write(client + "/stats",
          absl::StrCat("snapshot_time             1700000000.5 secs.nsecs\n"
                       "read_bytes                12 samples [bytes] 4096 1048576 ",
                       read,
                       "\nwrite_bytes               3 samples [bytes] 1 2 5 11\n"
                       "open                      9 samples [regs]\n"));
  }
  [[nodiscard]] std::map<std::string, MountCounters> Read() const {
    return ReadMountCounters(directory_ / "proc", directory_ / "debug");
  }

  const TempDirectory directory_;
};

TEST_F(MountCountersTest, NfsCountsWhatWentToAndFromTheServer) {
  SetNfs(4096, 512);
  const auto counters = Read();
  ASSERT_THAT(counters, UnorderedElementsAre(Key("/my data")));
  EXPECT_EQ(counters.at("/my data").read, Bytes(4096));
  EXPECT_EQ(counters.at("/my data").written, Bytes(512));
}

TEST_F(MountCountersTest, LustreIsFoundByTheNameOfItsFileSystem) {
  Write("proc/self/mountinfo",
        "40 27 0:40 / /scratch rw - lustre 10.0.0.1@tcp:10.0.0.2@tcp:/scratch rw\n"
        "41 27 0:41 / /home rw - lustre mgs@o2ib:/home-2/users rw\n"
        "42 27 0:42 / /twice rw - lustre mgs@o2ib:/twice rw\n"
        "43 27 0:43 / /again rw - lustre mgs@o2ib:/twice rw\n");
  SetLustre("proc/fs/lustre/llite/scratch-ffff8b7c2b0c8000", 8'388'608);
  SetLustre("debug/lustre/llite/home-2-ffff8b7c2b0c9000", 7);
  SetLustre("debug/lustre/llite/twice-ffff8b7c2b0ca000", 7);
  SetLustre("debug/lustre/llite/gone-ffff8b7c2b0cb000", 7);
  const auto counters = Read();
  ASSERT_THAT(counters, UnorderedElementsAre(Key("/scratch"), Key("/home")))
      << "of one that is mounted twice nobody knows which";
  EXPECT_EQ(counters.at("/scratch").read, Bytes(8'388'608));
  EXPECT_EQ(counters.at("/scratch").written, Bytes(5));
  EXPECT_EQ(counters.at("/home").read, Bytes(7));
}

TEST_F(MountCountersTest, TwoLooksSayWhatMountsDidInBetween) {
  MountMeter meter(directory_ / "proc", directory_ / "debug");
  EXPECT_THAT(meter.Look(), IsEmpty()) << "no such mounts";
  SetNfs(1000, 5000);
  EXPECT_THAT(meter.Look(), IsEmpty()) << "what was before is nobody's";
  SetNfs(1500, 100);
  EXPECT_EQ(meter.Look(), (std::vector<FileSystemUse>{{"/my data", Bytes(500), Bytes(0)}}))
      << "a counter that went down began again";
}

}  // namespace
}  // namespace muster::agent
