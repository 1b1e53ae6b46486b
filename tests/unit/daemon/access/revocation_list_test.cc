#include "daemon/access/revocation_list.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "scheduler/runtime/file.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::daemon {
namespace {

TEST(RevocationList, IsReadAgainWheneverTheFileHasChanged) {
  const TempDirectory home;
  const std::string path = home / "revoked";
  const RevocationList list(path);
  EXPECT_EQ(*list.Now().value(), "") << "no file: none is revoked";
  ASSERT_TRUE(WriteFileAtomically(path, "a1 node1\n").ok());
  EXPECT_EQ(*list.Now().value(), "a1 node1\n");
  EXPECT_EQ(*list.Now().value(), "a1 node1\n");
  ASSERT_TRUE(WriteFileAtomically(path, "b2 node2\n").ok());
  EXPECT_EQ(*list.Now().value(), "b2 node2\n") << "of the same length";
}

TEST(RevocationList, AFileThatCannotBeReadIsNoEmptyList) {
  const TempDirectory home;
  ASSERT_EQ(mkdir((home / "revoked").c_str(), 0700), 0);
  EXPECT_FALSE(RevocationList(home / "revoked").Now().ok());
}

TEST(RevocationList, AllWhoAskShareOneText) {
  const TempDirectory home;
  const std::string path = home / "revoked";
  const RevocationList list(path);
  ASSERT_TRUE(WriteFileAtomically(path, "a1 node1\n").ok());
  const auto first = list.Now().value();
  EXPECT_EQ(first, list.Now().value()) << "nothing was copied";
  ASSERT_TRUE(WriteFileAtomically(path, "b2 node2\n").ok());
  EXPECT_EQ(*list.Now().value(), "b2 node2\n");
  EXPECT_EQ(*first, "a1 node1\n") << "whoever looks at it still does";
}

TEST(RevocationList, WithoutAPathNothingIsRevoked) {
  EXPECT_EQ(*RevocationList("").Now().value(), "");
}

}  // namespace
}  // namespace muster::daemon
