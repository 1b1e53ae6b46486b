#include "cli/live/output_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

namespace muster::cli {
namespace {

using ::testing::ElementsAre;

// A file that grows while it is read, as a controller would tell it.
class OutputReaderTest : public ::testing::Test {
 protected:
  OutputReader::Ways Ways() {
    OutputReader::Ways ways;
    ways.ask = [this](const ReadOutput& asked) { return Answer(asked); };
    ways.take = [this](const OutputPiece& piece) {
      shown_ += piece.data;
      return shown_.size() < enough_;
    };
    ways.tell = [this](const std::string& line) { told_.push_back(line); };
    ways.sleep = [this](std::chrono::milliseconds) {
      ++pauses_;
      if (pauses_ <= steps_.size()) {
        steps_[pauses_ - 1]();
      }
    };
    return ways;
  }
  absl::StatusOr<OutputPiece> Answer(const ReadOutput& asked) {
    ++asked_;
    if (!failure_.ok()) {
      return failure_;
    }
    OutputPiece piece;
    piece.waits = waits_;
    piece.ended = ended_;
    piece.path = "/out";
    if (!waits_.empty()) {
      return piece;
    }
    piece.anew = !asked.file.empty() && asked.file != file_;
    piece.file = file_;
    piece.offset = piece.anew ? 0 : std::min<std::uint64_t>(asked.offset, text_.size());
    piece.data = text_.substr(piece.offset, 4);
    piece.size = text_.size();
    return piece;
  }

  std::string text_;
  std::string file_ = "1";
  std::string waits_;
  bool ended_ = false;
  absl::Status failure_;
  std::size_t enough_ = 1000;
  std::size_t pauses_ = 0;
  std::vector<std::function<void()>> steps_;  // what happens at each pause
  int asked_ = 0;
  std::string shown_;
  std::vector<std::string> told_;
};

TEST_F(OutputReaderTest, WhatIsThereIsReadInPiecesAndNoFurther) {
  text_ = "0123456789";
  EXPECT_TRUE(OutputReader(ReadOutput{}, Ways()).ReadToEnd().ok());
  EXPECT_EQ(shown_, "0123456789");
  EXPECT_EQ(asked_, 3);
  EXPECT_EQ(pauses_, 0U);
}

TEST_F(OutputReaderTest, WhoHasEnoughIsAskedNothingMore) {
  text_ = "0123456789";
  enough_ = 4;
  EXPECT_TRUE(OutputReader(ReadOutput{}, Ways()).ReadToEnd().ok());
  EXPECT_EQ(asked_, 1);
}

TEST_F(OutputReaderTest, AJobThatHasNotBegunIsRefusedUnlessItIsFollowed) {
  waits_ = "job 7: is PENDING: Resources";
  const absl::Status refused = OutputReader(ReadOutput{}, Ways()).ReadToEnd();
  EXPECT_TRUE(absl::IsFailedPrecondition(refused));
  EXPECT_EQ(refused.message(), waits_);
  steps_ = {[] {},
            [this] {
              waits_ = "";
              text_ = "begun\n";
            },
            [this] { ended_ = true; }};
  EXPECT_TRUE(OutputReader(ReadOutput{}, Ways()).Follow().ok());
  EXPECT_EQ(shown_, "begun\n");
  EXPECT_THAT(told_, ElementsAre("job 7: is PENDING: Resources")) << "once";
}

TEST_F(OutputReaderTest, FollowingShowsWhatComesUntilTheEnd) {
  text_ = "one\n";
  steps_ = {[this] { text_ += "two, which is longer\n"; },
            [this] {
              text_ += "last\n";
              ended_ = true;
            }};
  EXPECT_TRUE(OutputReader(ReadOutput{}, Ways()).Follow().ok());
  EXPECT_EQ(shown_, "one\ntwo, which is longer\nlast\n");
}

TEST_F(OutputReaderTest, AFileThatWasReplacedIsShownFromItsBeginning) {
  text_ = "first attempt\n";
  steps_ = {[this] {
    text_ = "second\n";
    file_ = "2";
    ended_ = true;
  }};
  EXPECT_TRUE(OutputReader(ReadOutput{}, Ways()).Follow().ok());
  EXPECT_EQ(shown_, "first attempt\nsecond\n");
  EXPECT_THAT(told_, ElementsAre("/out: was cut or replaced; from its beginning"));
}

TEST_F(OutputReaderTest, AControllerThatIsAwayIsWaitedForAMinute) {
  text_ = "text";
  failure_ = absl::UnavailableError("no controller answers");
  steps_ = {[] {},
            [this] {
              failure_ = absl::OkStatus();
              ended_ = true;
            }};
  EXPECT_TRUE(OutputReader(ReadOutput{}, Ways()).Follow().ok());
  EXPECT_EQ(shown_, "text");
  failure_ = absl::UnavailableError("no controller answers");
  steps_.clear();
  pauses_ = 0;
  EXPECT_TRUE(absl::IsUnavailable(OutputReader(ReadOutput{}, Ways()).Follow()));
  EXPECT_EQ(pauses_, 60U);
  failure_ = absl::PermissionDeniedError("job 7: belongs to ada");
  EXPECT_TRUE(absl::IsPermissionDenied(OutputReader(ReadOutput{}, Ways()).Follow()));
}

}  // namespace
}  // namespace muster::cli
