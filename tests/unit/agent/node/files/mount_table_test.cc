#include "agent/node/files/mount_table.h"

#include <gtest/gtest.h>

#include <string>

namespace muster::agent {
namespace {

constexpr const char* kMounts =
    "22 27 0:21 / /proc rw,relatime - proc proc rw\n"
    "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n"
    "40 27 0:40 / /data rw,relatime shared:1 master:2 - nfs4 server:/data rw,vers=4.2\n"
    "41 27 254:1 / /data/my\\040files rw - xfs /dev/vdb rw\n"
    "this is no mount\n"
    "42 27 0:42 / /later rw - nfs old:/ rw\n"
    "43 42 0:43 / /later rw - lustre mgs:/fs rw\n";

TEST(MountTable, APathIsOnTheLongestMountAboveIt) {
  const MountTable table(kMounts);
  EXPECT_EQ(table.size(), 6U);
  ASSERT_NE(table.Find("/data/set/1"), nullptr);
  EXPECT_EQ(table.Find("/data/set/1")->point, "/data");
  EXPECT_EQ(table.Find("/data/set/1")->type, "nfs4");
  EXPECT_EQ(table.Find("/data/set/1")->source, "server:/data");
  EXPECT_EQ(table.Find("/data")->point, "/data");
  EXPECT_EQ(table.Find("/database")->point, "/");
  EXPECT_EQ(table.Find("/data/my files/x")->point, "/data/my files");
  EXPECT_EQ(table.Find("/later/x")->type, "lustre") << "what is mounted over another";
}

TEST(MountTable, WhereNothingIsMountedThereIsNoMount) {
  EXPECT_EQ(MountTable("").Find("/data"), nullptr);
  EXPECT_EQ(MountTable("40 27 0:40 / /data rw - nfs4 s:/ rw\n").Find("/other"), nullptr);
  EXPECT_EQ(MountTable("40 27 0:40 / /data rw -").size(), 0U);
}

TEST(MountTable, FilesInMemoryAreNoStorage) {
  EXPECT_TRUE(IsStorage("ext4"));
  EXPECT_TRUE(IsStorage("lustre"));
  EXPECT_TRUE(IsStorage("nfs4"));
  EXPECT_FALSE(IsStorage("tmpfs"));
  EXPECT_FALSE(IsStorage("devtmpfs"));
  EXPECT_FALSE(IsStorage("proc"));
}

}  // namespace
}  // namespace muster::agent
