#include "scheduler/simulator/decision_log.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/match.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::sim {
namespace {

class DecisionLogTest : public ::testing::Test {
 protected:
  // Two blocks of two decisions each.
  void WriteTwoBlocks() {
    auto log = DecisionLog::Create(path_, "a trace", 2);
    ASSERT_TRUE(log.ok()) << log.status();
    ASSERT_TRUE((*log)->Begin(true).ok());
    for (const char* state : {"first", "second"}) {
      (*log)->Add("x");
      EXPECT_TRUE((*log)->WantsState());
      (*log)->Add(state);
      ASSERT_TRUE((*log)->AddState(state).ok());
      EXPECT_FALSE((*log)->WantsState());
    }
    (*log)->Add("lost with the process");
  }

  TempDirectory directory_;
  std::string path_ = directory_ / "log";
};

TEST_F(DecisionLogTest, GivesBackWhatWasAddedAndGoesOnBehindIt) {
  WriteTwoBlocks();
  for (int run = 0; run < 2; ++run) {
    auto log = DecisionLog::Resume(path_, "a trace");
    ASSERT_TRUE(log.ok()) << log.status();
    EXPECT_TRUE((*log)->sorted());
    ASSERT_TRUE((*log)->Begin(true).ok());
    for (const char* known : {"x", "first", "x", "second"}) {
      ASSERT_TRUE((*log)->knows_more());
      EXPECT_EQ((*log)->Next().value(), known);
    }
    if (run == 0) {
      EXPECT_FALSE((*log)->knows_more());
      EXPECT_EQ((*log)->state(), "second");
      (*log)->Add("third");
      ASSERT_TRUE((*log)->AddState("end").ok());
      continue;
    }
    EXPECT_EQ((*log)->Next().value(), "third");
    EXPECT_FALSE((*log)->knows_more());
    EXPECT_EQ((*log)->state(), "end");
    EXPECT_EQ((*log)->used(), 5U);
  }
}

TEST_F(DecisionLogTest, ABlockThatIsTornOrDamagedCountsForNothing) {
  WriteTwoBlocks();
  const auto whole = std::filesystem::file_size(path_);
  std::filesystem::resize_file(path_, whole - 1);
  {
    auto log = DecisionLog::Resume(path_, "a trace");
    ASSERT_TRUE(log.ok()) << log.status();
    EXPECT_EQ((*log)->Next().value(), "x");
    EXPECT_EQ((*log)->Next().value(), "first");
    EXPECT_FALSE((*log)->knows_more());
    EXPECT_EQ((*log)->state(), "first");
  }
  std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(-1, std::ios::end);
  file.put('?');
  file.close();
  auto log = DecisionLog::Resume(path_, "a trace");
  ASSERT_TRUE(log.ok()) << log.status();
  EXPECT_FALSE((*log)->knows_more());
  EXPECT_EQ((*log)->state(), "");
}

TEST_F(DecisionLogTest, AnotherWayToReadTheTraceForgetsWhatIsKnown) {
  WriteTwoBlocks();
  auto log = DecisionLog::Resume(path_, "a trace");
  ASSERT_TRUE(log.ok()) << log.status();
  ASSERT_TRUE((*log)->Begin(false).ok());
  EXPECT_FALSE((*log)->knows_more());
}

TEST_F(DecisionLogTest, RefusesWhatIsNotItsOwnInOneLine) {
  WriteTwoBlocks();
  EXPECT_TRUE(absl::StrContains(DecisionLog::Create(path_, "a trace").status().message(),
                                "is there already: go on from it with --resume"));
  EXPECT_TRUE(absl::StrContains(DecisionLog::Resume(path_, "another").status().message(),
                                "is of another simulation (a trace; this one is another)"));
  std::ofstream(directory_ / "text") << "hello\n";
  EXPECT_TRUE(absl::StrContains(DecisionLog::Resume(directory_ / "text", "a").status().message(),
                                "is no file of --checkpoint"));
  EXPECT_FALSE(DecisionLog::Resume(directory_ / "none", "a").ok());
  auto first = DecisionLog::Resume(path_, "a trace");
  ASSERT_TRUE(first.ok());
  EXPECT_TRUE(absl::StrContains(DecisionLog::Resume(path_, "a trace").status().message(),
                                "another simulation is writing it"));
}

}  // namespace
}  // namespace muster::sim
