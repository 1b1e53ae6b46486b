// What programs tell of their checkpoints, and that nothing they write there harms who reads it.

#include "checkpoint/advice/progress.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <rapidcheck.h>

#include <csignal>

#include "checkpoint/advice/hints.h"
#include "checkpoint/group/collective.h"
#include "tests/unit/checkpoint/forked_ranks.h"
#include "tests/unit/checkpoint/store_files.h"

namespace muster::checkpoint {
namespace {

using ::testing::Each;
using ::testing::Field;
using ::testing::SizeIs;

class ProgressTest : public StoreFiles {
 protected:
  void SetUp() override {
    StoreFiles::SetUp();
    page_ = (directory_ / "progress").string();
    Result<int> made = CreateProgress(page_);
    ASSERT_TRUE(made.ok()) << made.error.text;
    fd_ = made.value;
    fs::create_directory(directory_ / "state");
  }
  void TearDown() override {
    close(fd_);
    StoreFiles::TearDown();
  }
  ProgressReport Read() const {
    Result<ProgressReport> report = ReadProgress(fd_);
    EXPECT_TRUE(report.ok()) << report.error.text;
    return report.value;
  }
  SessionOptions Options() const {
    SessionOptions options;
    options.directory = (directory_ / "state").string();
    options.job = "job7";
    options.progress = page_;
    return options;
  }
  // Takes a slot in a process that then ends without a word.
  void TakeAndDie() {
    const pid_t child = fork();
    if (child == 0) {
      const Result<ProgressSlot> slot = ProgressSlot::Take(page_);
      raise(SIGKILL);
    }
    int status = 0;
    waitpid(child, &status, 0);
  }

  std::string page_;
  int fd_ = -1;
};

TEST_F(ProgressTest, ASessionTellsWhatItCommittedAndWhatThatCost) {
  int value = 7;
  {
    const auto session = std::move(Session::Open(Options()).value);
    ASSERT_FALSE(session->Protect("value", &value, sizeof value).failed());
    ASSERT_THAT(Read().slots, SizeIs(1));
    EXPECT_EQ(Read().slots[0].commits, 0U);
    EXPECT_EQ(Read().slots[0].pid, static_cast<std::uint32_t>(getpid()));
    EXPECT_NE(Read().slots[0].start_ticks, 0U);
    session->ShouldCheckpoint();
    EXPECT_EQ(Read().slots[0].beats, 1U);
    ASSERT_FALSE(session->Save().failed());
    ASSERT_FALSE(session->Save().failed());
    const SlotReport slot = Read().slots[0];
    EXPECT_EQ(slot.commits, 2U);
    EXPECT_EQ(slot.beats, 3U);
    EXPECT_GE(slot.begun_ms, slot.opened_ms);
    EXPECT_GE(slot.ended_ms, slot.begun_ms);
    EXPECT_GE(slot.stall_us, slot.cost_us);
    EXPECT_GT(slot.bytes, sizeof value);
    EXPECT_EQ(slot.restored_ms, 0U);
    EXPECT_FALSE(slot.closed);
  }
  const auto again = std::move(Session::Open(Options()).value);
  ASSERT_FALSE(again->Protect("value", &value, sizeof value).failed());
  ASSERT_FALSE(again->RestoreLatest().failed());
  ASSERT_THAT(Read().slots, SizeIs(2));
  EXPECT_TRUE(Read().slots[0].closed);
  EXPECT_EQ(Read().slots[0].commits, 2U);  // what was said stays
  EXPECT_GE(Read().slots[1].restored_ms, Read().slots[1].opened_ms);
  EXPECT_EQ(Read().slots[1].commits, 0U);
}

TEST_F(ProgressTest, ACheckpointThatBeganAfterANoticeAnswersIt) {
  const std::string hints = (directory_ / "hints").string();
  Result<HintFile> scheduler = HintFile::Create(hints);
  SessionOptions options = Options();
  options.hints = hints;
  const auto session = std::move(Session::Open(options).value);
  int value = 7;
  ASSERT_FALSE(session->Protect("value", &value, sizeof value).failed());
  ASSERT_FALSE(session->Save().failed());
  EXPECT_EQ(Read().slots[0].notice, 0U);
  scheduler.value.Publish({.notice = Notice::kDrain, .notice_number = 5});
  EXPECT_EQ(session->ShouldCheckpoint(), Need::kDrain);
  EXPECT_EQ(Read().slots[0].notice, 0U);
  ASSERT_FALSE(session->Save().failed());
  EXPECT_EQ(Read().slots[0].notice, 5U);
  scheduler.value.Publish({.notice = Notice::kPreemption, .notice_number = 6});
  ASSERT_FALSE(session->Save().failed());  // without having asked
  EXPECT_EQ(Read().slots[0].notice, 6U);
  EXPECT_EQ(session->ShouldCheckpoint(), Need::kNone);
}

TEST_F(ProgressTest, AllRanksOfAGroupAnswerTheNoticeThatRankZeroSaw) {
  const std::string hints = (directory_ / "hints").string();
  Result<HintFile> scheduler = HintFile::Create(hints);
  scheduler.value.Publish({.notice = Notice::kPreemption, .notice_number = 9});
  const std::vector<int> ends = EndsOfRanks(kRanks, [&](Group& group) {
    SessionOptions options = Options();
    options.hints = group.rank() == 0 ? hints : "";
    auto opened = Collective::Open(options, &group);
    if (!opened.ok() || opened.value->ShouldCheckpoint().value != Need::kPreemption) {
      return 1;
    }
    return opened.value->Save().failed() ? 2 : 0;
  });
  EXPECT_THAT(ends, Each(0));
  ASSERT_THAT(Read().slots, SizeIs(kRanks));
  EXPECT_THAT(Read().slots, Each(Field(&SlotReport::notice, 9U)));
  EXPECT_THAT(Read().slots, Each(Field(&SlotReport::commits, 1U)));
  EXPECT_THAT(Read().slots, Each(Field(&SlotReport::beats, 2U)));
}

TEST_F(ProgressTest, AHelperTellsHowLongACopyTookAndTakesNoSlot) {
  EXPECT_EQ(Read().copies, 0U);
  TellCopied(page_, 1500);
  TellCopied(page_, 2500);
  EXPECT_EQ(Read().copies, 2U);
  EXPECT_EQ(Read().copy_us, 2500U);
  EXPECT_THAT(Read().slots, SizeIs(0));
  TellCopied((directory_ / "none").string(), 1);  // and nothing else happens
  EXPECT_FALSE(fs::exists(directory_ / "none"));
}

TEST_F(ProgressTest, WhoFindsNoSlotGoesWithoutAndThePageSaysSo) {
  std::vector<ProgressSlot> taken;
  for (std::size_t i = 0; i < kProgressSlots; ++i) {
    Result<ProgressSlot> slot = ProgressSlot::Take(page_);
    ASSERT_TRUE(slot.ok()) << slot.error.text;
    taken.push_back(std::move(slot.value));
  }
  EXPECT_FALSE(Read().crowded);
  EXPECT_EQ(ProgressSlot::Take(page_).error.fault, Fault::kBusy);
  EXPECT_TRUE(Read().crowded);
  const auto session = std::move(Session::Open(Options()).value);
  ASSERT_NE(session, nullptr);
  EXPECT_FALSE(session->Save().failed());
  taken.pop_back();  // one that was left is taken again, and starts from nothing
  EXPECT_TRUE(ProgressSlot::Take(page_).ok());
}

TEST_F(ProgressTest, TheSlotOfAProcessThatDiedIsTakenAgainWhenThereIsNoOther) {
  TakeAndDie();
  const std::uint64_t dead = Read().slots[0].serial;
  std::vector<ProgressSlot> taken;
  for (std::size_t i = 1; i < kProgressSlots; ++i) {
    taken.push_back(std::move(ProgressSlot::Take(page_).value));
  }
  EXPECT_EQ(Read().slots[0].serial, dead);
  const Result<ProgressSlot> last = ProgressSlot::Take(page_);
  ASSERT_TRUE(last.ok()) << last.error.text;
  EXPECT_GT(Read().slots[0].serial, dead);
  EXPECT_EQ(Read().slots[0].pid, static_cast<std::uint32_t>(getpid()));
}

TEST_F(ProgressTest, AForkedChildDoesNotLeaveItsParentsSlot) {
  const Result<ProgressSlot> slot = ProgressSlot::Take(page_);
  const pid_t child = fork();
  if (child == 0) {
    const_cast<Result<ProgressSlot>&>(slot).value.~ProgressSlot();
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_FALSE(Read().slots[0].closed);
}

TEST_F(ProgressTest, WhyACheckpointWasRefusedIsReadUntilOneIsThereAgain) {
  TellRefused(page_, "over quota: 1 more");
  EXPECT_EQ(Read().refused, "over quota: 1 more");
  TellRefused(page_, std::string(2 * kRefusalBytesMax, 'x'));
  EXPECT_EQ(Read().refused, std::string(kRefusalBytesMax, 'x'));
  TellRefused(page_, "a\x1b[2Jb");  // what a line does not hold ends it
  EXPECT_EQ(Read().refused, "a");
  TellCopied(page_, 5);
  EXPECT_EQ(Read().refused, "");
  ProgressSlot slot = std::move(ProgressSlot::Take(page_).value);
  slot.Refused("again");
  EXPECT_EQ(Read().refused, "again");
  slot.Refused("");
  EXPECT_EQ(Read().refused, "");
}

TEST_F(ProgressTest, WhatIsNoProgressFileIsRefusedAndOneThatWasCutToo) {
  EXPECT_EQ(ProgressSlot::Take((directory_ / "none").string()).error.fault, Fault::kSystem);
  std::ofstream(directory_ / "other") << std::string(100'000, 'x');
  EXPECT_EQ(ProgressSlot::Take((directory_ / "other").string()).error.fault, Fault::kForeign);
  fs::create_symlink(page_, directory_ / "link");
  EXPECT_EQ(ProgressSlot::Take((directory_ / "link").string()).error.fault, Fault::kSystem);
  EXPECT_EQ(CreateProgress((directory_ / "link").string()).error.fault, Fault::kSystem);
  fs::resize_file(page_, 100);
  EXPECT_EQ(ReadProgress(fd_).error.fault, Fault::kForeign);
  EXPECT_EQ(ProgressSlot::Take(page_).error.fault, Fault::kForeign);
  const auto session = std::move(Session::Open(Options()).value);
  EXPECT_NE(session, nullptr);  // the program loses nothing by it
}

TEST_F(ProgressTest, AnyBytesAreReadAndGiveAtMostAsManySlotsAsThereAre) {
  std::string whole(fs::file_size(page_), '\0');
  ASSERT_EQ(pread(fd_, whole.data(), whole.size(), 0), static_cast<ssize_t>(whole.size()));
  EXPECT_TRUE(rc::check([&] {
    std::string bytes = whole;
    for (const auto& [at, byte] : *rc::gen::arbitrary<std::vector<std::pair<unsigned, char>>>()) {
      bytes[8 + at % (bytes.size() - 8)] = byte;
    }
    const auto cut = *rc::gen::inRange<std::size_t>(0, bytes.size() + 1);
    RC_ASSERT(ParseProgress(bytes.data(), cut).ok() == (cut == bytes.size()));
    const Result<ProgressReport> report = ParseProgress(bytes.data(), bytes.size());
    RC_ASSERT(report.ok() && report.value.slots.size() <= kProgressSlots);
    for (const SlotReport& slot : report.value.slots) {
      RC_ASSERT(slot.index < kProgressSlots && slot.pid != 0 && slot.serial != 0);
    }
  }));
}

}  // namespace
}  // namespace muster::checkpoint
