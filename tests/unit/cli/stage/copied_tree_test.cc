// Copies of files and trees: whole, with modes and times, and taken up where they were.

#include "cli/stage/copied_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>

#include "scheduler/runtime/file.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class CopiedTreeTest : public ::testing::Test {
 protected:
  std::string Make(const std::string& name, const std::string& text) {
    const fs::path path = directory_ / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return path.string();
  }
  absl::StatusOr<CopiedTree> Copy(const std::string& from, const std::string& to) {
    return CopyTree(directory_ / from, directory_ / to, "7",
                    [this](std::uint64_t done, std::uint64_t total) {
                      done_ = done;
                      total_ = total;
                    });
  }
  std::string ErrorOf(const std::string& from, const std::string& to) {
    return std::string(Copy(from, to).status().message());
  }
  [[nodiscard]] std::string Read(const std::string& name) const {
    return ReadFile(directory_ / name).value_or("nothing");
  }
  [[nodiscard]] std::vector<std::string> Names(const std::string& name) const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(directory_ / name)) {
      names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  const TempDirectory directory_;
  std::uint64_t done_ = 0;
  std::uint64_t total_ = 0;
};

TEST_F(CopiedTreeTest, ASourceIsAnotherOnceANameASizeOrATimeIs) {
  Make("in/a", "12");
  const std::string b = Make("in/deep/b", "3");
  const auto state = [this] { return StateOfTree(directory_ / "in").value(); };
  const SourceState first = state();
  EXPECT_EQ(first.bytes, 3U);
  EXPECT_EQ(state(), first);
  EXPECT_EQ(StateOfTree(directory_ / "in/").value(), first);
  ASSERT_TRUE(Copy("in", "out").ok());
  EXPECT_EQ(StateOfTree(directory_ / "out").value(), first)
      << "names, sizes and times are the same";
  fs::last_write_time(b, fs::last_write_time(b) + std::chrono::seconds(1));
  const SourceState later = state();
  EXPECT_NE(later.fingerprint, first.fingerprint);
  fs::rename(b, directory_ / "in/deep/c");
  EXPECT_NE(state().fingerprint, later.fingerprint);
  EXPECT_THAT(std::string(StateOfTree(directory_ / "none").status().message()),
              HasSubstr("cannot be copied: No such file"));
}

TEST_F(CopiedTreeTest, AFileHasTheOriginalsModeAndTimeAndNothingElseIsLeft) {
  const std::string from = Make("in/a", std::string(3 << 20, 'x'));
  chmod(from.c_str(), 0750);
  fs::last_write_time(from, fs::file_time_type::clock::now() - std::chrono::hours(48));
  const CopiedTree copied = Copy("in/a", "new/deep/b").value();
  EXPECT_EQ(copied.files, 1U);
  EXPECT_EQ(copied.bytes, 3U << 20);
  EXPECT_EQ(done_, 3U << 20);
  EXPECT_EQ(total_, 3U << 20);
  EXPECT_EQ(Read("new/deep/b"), Read("in/a"));
  EXPECT_EQ(fs::status(directory_ / "new/deep/b").permissions(), fs::perms(0750));
  EXPECT_EQ(fs::last_write_time(directory_ / "new/deep/b"), fs::last_write_time(from));
  EXPECT_THAT(Names("new/deep"), ElementsAre("b"));
}

TEST_F(CopiedTreeTest, ATreeIsCopiedWithItsLinksAndReadOnlyDirectories) {
  Make("in/a", "1");
  Make("in/below/b", "22");
  fs::create_symlink("a", directory_ / "in/link");
  chmod((directory_ / "in/below").c_str(), 0500);
  const CopiedTree copied = Copy("in/", "out").value();
  chmod((directory_ / "in/below").c_str(), 0700);
  EXPECT_EQ(copied.files, 2U);
  EXPECT_EQ(copied.bytes, 3U);
  EXPECT_EQ(Read("out/below/b"), "22");
  EXPECT_EQ(fs::read_symlink(directory_ / "out/link"), "a");
  EXPECT_EQ(fs::status(directory_ / "out/below").permissions(), fs::perms(0500));
  chmod((directory_ / "out/below").c_str(), 0700);
  EXPECT_THAT(Names("."), ElementsAre("in", "out"));
}

TEST_F(CopiedTreeTest, WhatIsThereIsNotCopiedAgainAndWhatElseIsThereStays) {
  Make("in/a", "1");
  Make("in/b", "2");
  ASSERT_TRUE(Copy("in", "out").ok());
  Make("out/mine", "3");
  Make("out/b", "other");
  const CopiedTree again = Copy("in", "out").value();
  EXPECT_EQ(again.found, 1U);
  EXPECT_EQ(done_, 2U);
  EXPECT_EQ(Read("out/b"), "2");
  EXPECT_EQ(Read("out/mine"), "3");
}

TEST_F(CopiedTreeTest, ACopyThatWasInterruptedIsTakenUp) {
  Make("in/a", "1");
  Make("in/b", "2");
  Make(".out.stage-7/.b.stage-7", "half");
  fs::copy_file(directory_ / "in/a", directory_ / ".out.stage-7/a");
  fs::last_write_time(directory_ / ".out.stage-7/a", fs::last_write_time(directory_ / "in/a"));
  EXPECT_EQ(Copy("in", "out").value().found, 1U);
  EXPECT_THAT(Names("out"), ElementsAre("a", "b"));
  EXPECT_THAT(Names("."), ElementsAre("in", "out"));
}

TEST_F(CopiedTreeTest, WhatIsNeitherFileNorDirectoryIsLeftOutAndNamed) {
  Make("in/a", "1");
  mkfifo((directory_ / "in/pipe").c_str(), 0600);
  EXPECT_THAT(Copy("in", "out").value().left_out, ElementsAre(directory_ / "in/pipe"));
  EXPECT_THAT(Names("out"), ElementsAre("a"));
}

TEST_F(CopiedTreeTest, WhatCannotBeCopiedIsNamedAndLeavesWhatWasThere) {
  EXPECT_THAT(ErrorOf("none", "out"), HasSubstr("cannot be copied: No such file or directory"));
  Make("a", "1");
  Make("d/b", "2");
  EXPECT_THAT(ErrorOf("a", "d"), HasSubstr("end it with / to copy a file into it"));
  EXPECT_THAT(ErrorOf("d", "a"), HasSubstr("cannot be made a directory"));
  EXPECT_THAT(ErrorOf("d", "d/inner"), HasSubstr("is inside of what is to be copied there"));
  EXPECT_THAT(ErrorOf("d", "d"), HasSubstr("is what is to be copied there"));
  EXPECT_EQ(Read("a"), "1");
  EXPECT_THAT(Names("d"), ElementsAre("b"));
}

}  // namespace
}  // namespace muster::cli
