// Copies of data in a user's cache: found while their sources are as they were. The muster here is
// a script with the two calls that are made of it.

#include "agent/supervisor/image/data_copies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "scheduler/runtime/file.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::agent {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class DataCopiesTest : public ::testing::Test {
 protected:
  DataCopiesTest() {
    const std::string path = directory_ / "muster";
    std::ofstream(path) << R"sh(#!/bin/sh
if [ "$2" = --fingerprint ]; then
  [ -e "$4" ] || { echo "muster stage: \"$4\": cannot be copied: No such file" >&2; exit 1; }
  echo "$(echo "$4"; cksum <"$4")" | cksum | cut -d' ' -f1 | tr '\n' ' '
  wc -c <"$4"
else
  cp "$3" "$4" && echo "$CHANGES" >>"${CHANGES:-/dev/null}"
fi
)sh";
    chmod(path.c_str(), 0700);
    settings_ = {.cache = directory_ / "staged", .size = 1000, .program = path};
    fs::create_directory(settings_.cache);
  }
  std::string Source(const std::string& name, const std::string& text) {
    const std::string path = directory_ / name;
    std::ofstream(path) << text;
    return path;
  }
  absl::StatusOr<DataCopies> Bring(const std::vector<std::string>& sources,
                                   const std::string& changes = "") {
    return BringCopies({settings_, "7.1", sources}, {"PATH=/usr/bin:/bin", "CHANGES=" + changes});
  }
  absl::Status Ahead(const std::string& source, bool paths_only = true) {
    return BringAhead({{settings_, "", {source}}, paths_only}, {"PATH=/usr/bin:/bin"});
  }
  static std::string Read(const DataCopies& copies, const std::string& name) {
    return ReadFile(copies.facts.place + "/" + name).value_or("nothing");
  }

  const TempDirectory directory_;
  StagingSettings settings_;
};

TEST_F(DataCopiesTest, TheSecondJobFindsWhatTheFirstHadCopied) {
  const std::string source = Source("a", "hello");
  const DataCopies first = Bring({source}).value();
  EXPECT_EQ(first.facts.brought, (DataBrought{.found = 0, .made = 1, .bytes = 5}));
  EXPECT_EQ(Read(first, "a"), "hello");
  const DataCopies second = Bring({source}).value();
  EXPECT_EQ(second.facts.brought, (DataBrought{.found = 1, .made = 0, .bytes = 0}));
  EXPECT_EQ(Read(second, "a"), "hello");
  EXPECT_NE(second.facts.place, first.facts.place);
}

TEST_F(DataCopiesTest, ACopyOfWhatASourceWasGoesOnceNoJobUsesIt) {
  const std::string source = Source("a", "old");
  DataCopies old = Bring({source}).value();
  Source("a", "new");
  EXPECT_EQ(Read(Bring({source}).value(), "a"), "new");
  EXPECT_EQ(Read(old, "a"), "old") << "it is in use";
  const fs::path copy = fs::read_symlink(old.facts.place + "/a");
  old.locks.clear();
  EXPECT_EQ(Bring({source}).value().facts.brought.found, 1U);
  EXPECT_FALSE(fs::exists(copy));
}

TEST_F(DataCopiesTest, WhatGoesForTheRoomOfOthersIsNamed) {
  const std::string first = Source("a", std::string(600, 'x'));
  const std::string second = Source("b", std::string(600, 'y'));
  EXPECT_THAT(Bring({first}).value().facts.brought.gone, IsEmpty());
  EXPECT_THAT(Bring({second}).value().facts.brought.gone, ElementsAre(first));
  EXPECT_EQ(Bring({first}).value().facts.brought.made, 1U);
}

TEST_F(DataCopiesTest, WhatIsLargerThanTheCacheIsRefusedBeforeItIsCopied) {
  EXPECT_THAT(std::string(Bring({Source("a", std::string(1001, 'x'))}).status().message()),
              HasSubstr("and this node keeps 1000 B of a user's data"));
  EXPECT_TRUE(fs::is_empty(settings_.cache + "/" + std::to_string(geteuid()) + "/images"));
}

TEST_F(DataCopiesTest, WhatChangesWhileItIsCopiedIsNotKept) {
  const std::string source = Source("a", "hello");
  EXPECT_THAT(std::string(Bring({source}, source).status().message()),
              HasSubstr("has changed while it was copied"));
  EXPECT_EQ(Bring({source}).value().facts.brought.made, 1U);
}

TEST_F(DataCopiesTest, WhatCannotBeCopiedSaysWhy) {
  EXPECT_EQ(Bring({directory_ / "none"}).status().message(),
            "--stage-in-node: \"" + (directory_ / "none") + "\": cannot be copied: No such file");
}

TEST_F(DataCopiesTest, AJobFindsWhatWasCopiedWhileItWaited) {
  const std::string source = Source("a", "hello");
  ASSERT_TRUE(Ahead(source).ok());
  const DataCopies copies = Bring({source}).value();
  EXPECT_EQ(copies.facts.brought, (DataBrought{.found = 1, .made = 0, .bytes = 0}));
  EXPECT_EQ(Read(copies, "a"), "hello");
}

TEST_F(DataCopiesTest, WhyNothingWasCopiedWhileTheJobWaitedIsSaidOnce) {
  const std::string source = directory_ / "a";
  EXPECT_FALSE(Ahead(source).ok());
  Source("a", "hello");
  const DataBrought brought = Bring({source}).value().facts.brought;
  EXPECT_EQ(brought.made, 1U);
  EXPECT_THAT(brought.not_ahead, HasSubstr("cannot be copied: No such file"));
  EXPECT_EQ(Bring({Source("b", "x")}).value().facts.brought.not_ahead, "");
}

TEST_F(DataCopiesTest, ACopyForAJobThatWaitsTakesNoRoomOfAnother) {
  const std::string first = Source("a", std::string(600, 'x'));
  const std::string second = Source("b", std::string(600, 'y'));
  ASSERT_TRUE(Ahead(first).ok());
  EXPECT_THAT(std::string(Ahead(second).message()),
              HasSubstr("no room for it beside the data of jobs that run or wait"));
  EXPECT_EQ(Bring({first}).value().facts.brought.found, 1U);
}

TEST_F(DataCopiesTest, WhereOnlyPathsAreCopiedAheadARemoteIsCopiedAtTheStart) {
  EXPECT_THAT(std::string(Ahead("s3:bucket/a").message()),
              HasSubstr("\"s3:bucket/a\": of paths alone this node makes copies"));
  EXPECT_THAT(std::string(Ahead("s3:bucket/a", /*paths_only=*/false).message()),
              HasSubstr("cannot be copied"))
      << "it was tried";
}

TEST_F(DataCopiesTest, OneCopyOfAUsersIsMadeAheadAtATime) {
  const AheadOrder order =
      ReadAheadWords({"paths", settings_.cache, "1000", settings_.program, "/data/a"}).value();
  EXPECT_EQ(order.data.sources, std::vector<std::string>{"/data/a"});
  EXPECT_EQ(order.data.settings, settings_);
  EXPECT_TRUE(order.paths_only);
  const UniqueFd turn = TakeTurn(order).value();
  EXPECT_TRUE(absl::IsUnavailable(TakeTurn(order).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(ReadAheadWords({"all", "/c", "1000", "/p"}).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(ReadAheadWords({"all", "/c", "much", "/p", "/a"}).status()));
}

TEST_F(DataCopiesTest, JobsThatShareACopyCannotChangeItByMistake) {
  const DataCopies copies = Bring({Source("a", "hello")}).value();
  struct stat found = {};
  ASSERT_EQ(stat((copies.facts.place + "/a").c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0222U, 0U);
}

}  // namespace
}  // namespace muster::agent
