#include "daemon/access/rights/local_accounts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace muster::daemon {
namespace {

TEST(LocalAccountsTest, AnAccountIsKnownByNumberAndByName) {
  EXPECT_EQ(UserOf(0).name, "root");
  const absl::StatusOr<User> root = UserNamed("root");
  ASSERT_TRUE(root.ok()) << root.status();
  EXPECT_EQ(root->uid, 0U);
  EXPECT_EQ(root->name, "root");
}

TEST(LocalAccountsTest, ANumberWithoutAnAccountIsItsOwnNameAndAnUnknownNameIsNobody) {
  EXPECT_EQ(UserOf(3'999'999'999).name, "3999999999");
  EXPECT_EQ(UserOf(3'999'999'999).uid, 3'999'999'999);
  const absl::Status unknown = UserNamed("no-such-account-here").status();
  EXPECT_TRUE(absl::IsNotFound(unknown)) << unknown;
}

}  // namespace
}  // namespace muster::daemon
