#include "scheduler/runtime/identity/private_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "scheduler/runtime/file.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster {
namespace {

TEST(PrivateFileTest, AFileThatOthersMayOpenIsRefusedWithTheMend) {
  const TempDirectory temp;
  const std::string path = temp / "key";
  ASSERT_TRUE(WriteFileAtomically(path, "secret").ok());
  EXPECT_EQ(ReadPrivateFile(path).value(), "secret");
  for (const mode_t mode : {0640U, 0604U, 0620U, 0644U, 0602U, 0601U}) {
    ASSERT_EQ(chmod(path.c_str(), mode), 0);
    const absl::Status status = ReadPrivateFile(path).status();
    EXPECT_TRUE(absl::IsPermissionDenied(status)) << mode;
    EXPECT_NE(status.message().find("chmod 600"), std::string::npos) << status;
  }
}

TEST(PrivateFileTest, AFileOfAnotherUserIsRefused) {
  if (geteuid() != 0) {
    GTEST_SKIP() << "SKIPPED: only root can give a file away";
  }
  const TempDirectory temp;
  const std::string path = temp / "key";
  ASSERT_TRUE(WriteFileAtomically(path, "secret").ok());
  ASSERT_EQ(chown(path.c_str(), 65534, 65534), 0);
  EXPECT_TRUE(absl::IsPermissionDenied(ReadPrivateFile(path).status()));
}

TEST(PrivateFileTest, WhatIsNoPlainFileIsRefusedAtOnce) {
  const TempDirectory temp;
  ASSERT_EQ(mkfifo((temp / "fifo").c_str(), 0600), 0);
  EXPECT_FALSE(ReadPrivateFile(temp / "fifo").ok());
  EXPECT_FALSE(ReadPrivateFile(temp.path()).ok());
  EXPECT_TRUE(absl::IsNotFound(ReadPrivateFile(temp / "nothing").status()));
}

}  // namespace
}  // namespace muster
