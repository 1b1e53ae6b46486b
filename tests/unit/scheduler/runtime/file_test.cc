#include "scheduler/runtime/file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster {
namespace {

using ::testing::HasSubstr;

std::string Message(const absl::Status& status) {
  return std::string(status.message());
}

size_t FilesIn(const std::string& directory) {
  size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(directory)) {
    ++count;
  }
  return count;
}

mode_t ModeOf(const std::string& path) {
  struct stat info = {};
  EXPECT_EQ(stat(path.c_str(), &info), 0);
  return info.st_mode & 07777;
}

// Bounds the size of files this process may write, and restores the bound.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    rlimit now = before_;
    now.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &now);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_ = {};
  void (*handler_)(int);
};

TEST(File, WhatWasWrittenIsRead) {
  const TempDirectory directory;
  const std::string content("line\nwith a NUL \0 inside", 23);
  ASSERT_TRUE(WriteFileAtomically(directory / "f", content).ok());
  EXPECT_EQ(ReadFile(directory / "f").value(), content);
  EXPECT_EQ(ModeOf(directory / "f"), 0600U);
}

TEST(File, WritingReplacesAndLeavesNoTemporaryFile) {
  const TempDirectory directory;
  ASSERT_TRUE(WriteFileAtomically(directory / "f", "a longer first content").ok());
  ASSERT_TRUE(WriteFileAtomically(directory / "f", "second", 0644).ok());
  EXPECT_EQ(ReadFile(directory / "f").value(), "second");
  EXPECT_EQ(ModeOf(directory / "f"), 0644U);
  EXPECT_EQ(FilesIn(directory.path()), 1U);
}

TEST(File, AWriteThatFailsMidwayLeavesTheOldContent) {
  const TempDirectory directory;
  ASSERT_TRUE(WriteFileAtomically(directory / "f", "old").ok());
  absl::Status status;
  {
    const FileSizeLimit limit(4096);
    status = WriteFileAtomically(directory / "f", std::string(100'000, 'n'));
  }
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(Message(status), HasSubstr("f: cannot write: File too large"));
  EXPECT_EQ(ReadFile(directory / "f").value(), "old");
  EXPECT_EQ(FilesIn(directory.path()), 1U);
}

TEST(File, ErrorsNameThePathAndTheKernelsWord) {
  const TempDirectory directory;
  const absl::Status absent = ReadFile(directory / "absent").status();
  EXPECT_TRUE(absl::IsNotFound(absent));
  EXPECT_THAT(Message(absent), HasSubstr("absent: cannot open: No such file or directory"));
  const absl::Status nowhere = WriteFileAtomically(directory / "no/such", "x");
  EXPECT_TRUE(absl::IsNotFound(nowhere));
  EXPECT_THAT(Message(nowhere), HasSubstr("no/such: cannot make a temporary file beside"));
}

TEST(File, ReadingStopsAtTheBound) {
  const TempDirectory directory;
  ASSERT_TRUE(WriteFileAtomically(directory / "f", "0123456789").ok());
  EXPECT_TRUE(ReadFile(directory / "f", 10).ok());
  EXPECT_EQ(ReadFile(directory / "f", 9).status().code(), absl::StatusCode::kOutOfRange);
}

TEST(File, ProcFilesOfUnknownSizeAreReadWhole) {
  EXPECT_THAT(ReadFile("/proc/self/status").value(), HasSubstr("Pid:"));
}

TEST(PrivateDirectory, IsMadeWithItsParentsForTheOwnerOnly) {
  const TempDirectory directory;
  ASSERT_TRUE(EnsurePrivateDirectory(directory / "a/b/c").ok());
  EXPECT_EQ(ModeOf(directory / "a"), 0700U);
  EXPECT_EQ(ModeOf(directory / "a/b/c"), 0700U);
  EXPECT_TRUE(EnsurePrivateDirectory(directory / "a/b/c").ok()) << "a second time is fine";
}

TEST(PrivateDirectory, OneThatOthersMayWriteToIsRefusedWithTheMend) {
  const TempDirectory directory;
  ASSERT_TRUE(EnsurePrivateDirectory(directory / "d").ok());
  ASSERT_EQ(chmod((directory / "d").c_str(), 0770), 0);
  const absl::Status status = EnsurePrivateDirectory(directory / "d");
  EXPECT_TRUE(absl::IsPermissionDenied(status));
  EXPECT_THAT(Message(status), HasSubstr("chmod go-w"));
}

TEST(PrivateDirectory, AFileOrASymbolicLinkIsRefused) {
  const TempDirectory directory;
  ASSERT_TRUE(WriteFileAtomically(directory / "file", "").ok());
  EXPECT_FALSE(EnsurePrivateDirectory(directory / "file").ok());
  ASSERT_TRUE(EnsurePrivateDirectory(directory / "real").ok());
  ASSERT_EQ(symlink((directory / "real").c_str(), (directory / "link").c_str()), 0);
  EXPECT_FALSE(EnsurePrivateDirectory(directory / "link").ok());
}

TEST(PrivateDirectory, AnotherUsersIsRefused) {
  if (geteuid() != 0) {
    // An ordinary user cannot give a directory away; root's own stands in.
    EXPECT_TRUE(absl::IsPermissionDenied(EnsurePrivateDirectory("/usr")));
    return;
  }
  const TempDirectory directory;
  ASSERT_TRUE(EnsurePrivateDirectory(directory / "d").ok());
  ASSERT_EQ(chown((directory / "d").c_str(), 65534, 65534), 0);
  const absl::Status status = EnsurePrivateDirectory(directory / "d");
  EXPECT_TRUE(absl::IsPermissionDenied(status));
  EXPECT_THAT(Message(status), HasSubstr("owned by uid 65534"));
}

TEST(LockFile, ASecondTakerIsToldWhoHoldsIt) {
  const TempDirectory directory;
  const absl::StatusOr<LockFile> first = LockFile::Take(directory / "lock");
  ASSERT_TRUE(first.ok()) << first.status();
  const absl::StatusOr<LockFile> second = LockFile::Take(directory / "lock");
  EXPECT_EQ(second.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(Message(second.status()), HasSubstr(absl::StrCat("locked by process ", getpid())));
}

TEST(LockFile, IsFreeAgainWhenItsHolderGoes) {
  const TempDirectory directory;
  { ASSERT_TRUE(LockFile::Take(directory / "lock").ok()); }
  EXPECT_TRUE(LockFile::Take(directory / "lock").ok());
}

}  // namespace
}  // namespace muster
