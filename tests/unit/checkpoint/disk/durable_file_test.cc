#include "checkpoint/disk/durable_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace muster::checkpoint {
namespace {

namespace fs = std::filesystem;

constexpr char kOld[] = "the old content";
constexpr char kNew[] = "the new content, which is longer";

class DurableFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "muster-checkpoint-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
    path_ = (directory_ / "state").string();
  }
  void TearDown() override { fs::remove_all(directory_); }

  static FileError Write(const std::string& path, const std::string& content) {
    return WriteDurably(path, content.data(), content.size());
  }
  std::string Read() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  std::ptrdiff_t Files() const {
    return std::distance(fs::directory_iterator(directory_), fs::directory_iterator());
  }

  fs::path directory_;
  std::string path_;
};

// Runs `work` in a child; its exit status, or minus the signal that ended it.
template <class Work>
int InChild(const Work& work) {
  const pid_t child = fork();
  if (child == 0) {
    _exit(work());
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

TEST_F(DurableFileTest, WritesAndReplacesAndLeavesNothingElse) {
  EXPECT_FALSE(Write(path_, kOld).failed());
  EXPECT_EQ(Read(), kOld);
  EXPECT_FALSE(Write(path_, kNew).failed());
  EXPECT_EQ(Read(), kNew);
  EXPECT_EQ(Files(), 1);
  struct stat about {};
  ASSERT_EQ(stat(path_.c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777U, 0600U);
}

TEST_F(DurableFileTest, WithoutCommitTheOldContentStands) {
  ASSERT_FALSE(Write(path_, kOld).failed());
  {
    DurableFile file(path_);
    ASSERT_FALSE(file.Open().failed());
    ASSERT_FALSE(file.Write(kNew, sizeof kNew).failed());
  }
  EXPECT_EQ(Read(), kOld);
  EXPECT_EQ(Files(), 1);
}

TEST_F(DurableFileTest, AFullDiskLeavesTheOldContent) {
  ASSERT_FALSE(Write(path_, kOld).failed());
  const std::string path = path_;
  // The limit on a file's size stands for a disk that is full; the signal would end the process.
  const int error = InChild([&path] {
    const rlimit limit{4096, 4096};
    if (std::signal(SIGXFSZ, SIG_IGN) == SIG_ERR || setrlimit(RLIMIT_FSIZE, &limit) != 0) {
      return 255;
    }
    return Write(path, std::string(100'000, 'x')).error_number;
  });
  EXPECT_EQ(error, EFBIG);
  EXPECT_EQ(Read(), kOld);
  EXPECT_EQ(Files(), 1);
}

TEST_F(DurableFileTest, NothingCanBeWrittenOrCommittedAfterAnError) {
  ASSERT_FALSE(Write(path_, kOld).failed());
  const std::string path = path_;
  const int outcome = InChild([&path] {
    const rlimit limit{4096, 1 << 20};
    if (std::signal(SIGXFSZ, SIG_IGN) == SIG_ERR || setrlimit(RLIMIT_FSIZE, &limit) != 0) {
      return 255;
    }
    DurableFile file(path);
    const std::string much(10'000, 'x');
    if (file.Open().failed() || !file.Write(much.data(), much.size()).failed()) {
      return 254;
    }
    const rlimit more{1 << 20, 1 << 20};
    if (setrlimit(RLIMIT_FSIZE, &more) != 0) {
      return 253;
    }
    const bool refused = file.Write("more", 4).failed() && file.Commit().failed();
    return refused ? 0 : 1;
  });
  EXPECT_EQ(outcome, 0);
  EXPECT_EQ(Read(), kOld);
}

DurableFile::Step die_after;

void KillOurselves(DurableFile::Step step) {
  if (step == die_after) {
    raise(SIGKILL);
  }
}

TEST_F(DurableFileTest, AKilledWriterLeavesTheOldContentOrTheNewOneWhole) {
  using Step = DurableFile::Step;
  for (const Step step :
       {Step::kOpened, Step::kWritten, Step::kFlushed, Step::kRenamed, Step::kDirectoryFlushed}) {
    SCOPED_TRACE(static_cast<int>(step));
    ASSERT_FALSE(Write(path_, kOld).failed());
    const std::string path = path_;
    const int outcome = InChild([&path, step] {
      die_after = step;
      DurableFile file(path);
      file.OnStep(KillOurselves);
      const bool done = !file.Open().failed() && !file.Write(kNew, sizeof kNew - 1).failed() &&
                        !file.Commit().failed();
      return done ? 0 : 1;
    });
    EXPECT_EQ(outcome, -SIGKILL);
    EXPECT_EQ(Read(), step < Step::kRenamed ? kOld : kNew);
    EXPECT_LE(Files(), 2);
    // The next writer takes over what was left.
    EXPECT_FALSE(Write(path_, kNew).failed());
    EXPECT_EQ(Read(), kNew);
    EXPECT_EQ(Files(), 1);
  }
}

TEST_F(DurableFileTest, ASecondLivingWriterOfOnePathIsRefused) {
  DurableFile first(path_);
  ASSERT_FALSE(first.Open().failed());
  ASSERT_FALSE(first.Write(kNew, sizeof kNew - 1).failed());
  const FileError error = Write(path_, kOld);
  EXPECT_STREQ(error.step, "lock");
  ASSERT_FALSE(first.Commit().failed());
  EXPECT_EQ(Read(), kNew);
}

TEST_F(DurableFileTest, ALinkInPlaceOfTheTemporaryFileIsNotFollowed) {
  const fs::path victim = directory_ / "victim";
  std::ofstream(victim) << "keep me";
  fs::create_symlink(victim, path_ + ".tmp");
  const FileError error = Write(path_, kNew);
  EXPECT_STREQ(error.step, "open");
  EXPECT_EQ(error.error_number, ELOOP);
  EXPECT_EQ(fs::file_size(victim), 7U);
}

TEST_F(DurableFileTest, AnErrorSaysTheStepAndWhy) {
  const FileError error = Write((directory_ / "missing" / "state").string(), kNew);
  EXPECT_EQ(error.Text(), "open: No such file or directory");
  EXPECT_EQ(FileError().Text(), "no error");
}

class CountingDisk : public Disk {
 public:
  int Flush(int fd) override {
    ++flushes;
    return Disk::Flush(fd);
  }
  int flushes = 0;
};

TEST_F(DurableFileTest, WhatWasFlushedBeforeTheCommitIsNotFlushedAgain) {
  CountingDisk disk;
  DurableFile file(path_, disk);
  ASSERT_FALSE(file.Open().failed());
  ASSERT_FALSE(file.Write(kOld, sizeof kOld).failed());
  file.BeginFlush();
  ASSERT_FALSE(file.Flush().failed());
  EXPECT_EQ(disk.flushes, 1);
  ASSERT_FALSE(file.Commit().failed());
  EXPECT_EQ(disk.flushes, 2) << "the directory";
  EXPECT_EQ(Read(), std::string(kOld, sizeof kOld));
}

TEST_F(DurableFileTest, WhatIsWrittenBehindAFlushIsFlushedByTheCommit) {
  CountingDisk disk;
  DurableFile file(path_, disk);
  ASSERT_FALSE(file.Open().failed());
  ASSERT_FALSE(file.Flush().failed());
  ASSERT_FALSE(file.Write(kNew, sizeof kNew).failed());
  ASSERT_FALSE(file.Commit().failed());
  EXPECT_EQ(disk.flushes, 3);
}

TEST_F(DurableFileTest, NothingIsFlushedThatWasNotOpened) {
  DurableFile file(path_);
  EXPECT_TRUE(file.Flush().failed());
  EXPECT_EQ(Files(), 0);
}

}  // namespace
}  // namespace muster::checkpoint
