// Two levels: done on the node's disk, copied behind the program's back, back from the newest of
// both. The helper is the real one, a process of its own.

#include "checkpoint/store/local_level.h"

#include <gmock/gmock.h>

#include <chrono>
#include <csignal>
#include <ctime>
#include <thread>

#include "checkpoint/session/session.h"
#include "tests/unit/checkpoint/store_files.h"

namespace muster::checkpoint {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr const char* kNoHelper = "/bin/true";  // starts, and does nothing

class LocalLevelTest : public StoreFiles {
 protected:
  void SetUp() override {
    StoreFiles::SetUp();
    std::string pattern = directory_.string() + "-local-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    parent_ = pattern;
  }
  void TearDown() override {
    AwaitHelpers();
    fs::remove_all(parent_);
    StoreFiles::TearDown();
  }

  SessionOptions Options(const std::string& helper) const {
    SessionOptions options;
    options.directory = directory_.string();
    options.job = "job7";
    options.local_directory = parent_.string();
    options.flush_program = helper;
    return options;
  }
  std::unique_ptr<Session> OpenSession(const std::string& helper = MUSTER_FLUSH_PROGRAM) {
    Result<std::unique_ptr<Session>> session = Session::Open(Options(helper));
    EXPECT_TRUE(session.ok()) << session.error.text;
    EXPECT_FALSE(session.value->Protect("step", &step_, sizeof step_).failed());
    return std::move(session.value);
  }
  Error Save(int step, const std::string& helper = MUSTER_FLUSH_PROGRAM) {
    const auto session = OpenSession(helper);
    step_ = step;
    return session->Save();
  }
  // The step that a restart finds; -1 for none.
  int Restored(bool confirm = true) {
    const auto session = OpenSession(kNoHelper);
    step_ = -1;
    const Error error = session->RestoreLatest();
    why_ = error.text;
    if (confirm && !error.failed()) {
      EXPECT_FALSE(session->Confirm().failed());
    }
    StopAsking();
    return error.failed() ? -1 : step_;
  }

  fs::path Local() const {
    for (const fs::directory_entry& entry : fs::directory_iterator(parent_)) {
      return entry.path();
    }
    return parent_ / "none";
  }
  FlushPlan Plan() const {
    FlushPlan plan;
    plan.local = Local().string();
    plan.shared = directory_.string();
    return plan;
  }
  void AwaitHelpers() const {
    EXPECT_TRUE(Awaited([this] { return Unflushed().empty(); }));
  }
  std::vector<std::uint64_t> Unflushed() const {
    if (!fs::exists(Local())) {
      return {};
    }
    return FlushQueue::Open(Disk::Real(), Local().string()).value.Unflushed().value;
  }
  template <class What>
  static bool Awaited(const What& what) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!what() && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return what();
  }
  void StopAsking() const {
    for (const std::uint64_t number : Unflushed()) {
      FlushQueue::Open(Disk::Real(), Local().string()).value.Withdraw(number);
    }
  }

  // Saves with a session of these hints until `steps` are done, and leaves it open.
  std::unique_ptr<Session> SaveAll(const Hints& hints, int steps) {
    SessionOptions options = Options(kNoHelper);
    options.hints = (parent_.string() + ".hints");
    HintFile::Create(options.hints).value.Publish(hints);
    auto session = std::move(Session::Open(options).value);
    fs::remove(options.hints);
    EXPECT_FALSE(session->Protect("step", &step_, sizeof step_).failed());
    for (step_ = 1; step_ <= steps; ++step_) {
      SaveAndLook(session.get());
    }
    return session;
  }
  // Which generations were queued, each taken from there as soon as it was.
  void SaveAndLook(Session* session) {
    EXPECT_EQ(session->Save().text, "");
    for (const std::uint64_t number : Unflushed()) {
      queued_.push_back(number);
    }
    StopAsking();
  }

  fs::path parent_;
  std::vector<std::uint64_t> queued_;
  int step_ = 0;
  std::string why_;
};

TEST_F(LocalLevelTest, ASaveIsDoneLocallyAndCopiedBehindIt) {
  ASSERT_EQ(Save(41).text, "");
  EXPECT_TRUE(fs::exists(Local() / "gen-0000000001" / "manifest"));
  ASSERT_TRUE(Awaited([this] { return fs::exists(Generation(1)); }));
  AwaitHelpers();
  const Result<Store> shared = Store::Open(Disk::Real(), directory_.string());
  EXPECT_TRUE(shared.value.Verify({1, GenerationState::kComplete}).ok());
  ASSERT_EQ(Save(42).text, "");
  EXPECT_EQ(Restored(), 42);
}

TEST_F(LocalLevelTest, AProgramThatDiesAfterASaveLosesNothing) {
  const int end = EndOfChild([this] {
    const bool saved = !Save(7).failed();
    raise(saved ? SIGKILL : SIGABRT);
    return 0;
  });
  ASSERT_EQ(end, -SIGKILL);
  ASSERT_TRUE(Awaited([this] { return fs::exists(Generation(1)); }));
  AwaitHelpers();
  fs::remove_all(Local());  // and then its node
  EXPECT_EQ(Restored(), 7);
}

TEST_F(LocalLevelTest, TheNewestOfBothLevelsIsTaken) {
  ASSERT_EQ(Save(1).text, "");
  AwaitHelpers();
  ASSERT_EQ(Save(2, kNoHelper).text, "");
  StopAsking();
  EXPECT_EQ(Restored(), 2);
  fs::remove_all(Local());
  EXPECT_EQ(Restored(), 1);
  ASSERT_EQ(Save(3).text, "");
  EXPECT_EQ(Restored(), 3);
}

TEST_F(LocalLevelTest, WhatCameBackFromTheLocalLevelIsFlushedAgain) {
  ASSERT_EQ(Save(5, kNoHelper).text, "");
  StopAsking();
  {
    const auto session = OpenSession();
    ASSERT_EQ(session->RestoreLatest().text, "");
    EXPECT_EQ(step_, 5);
  }
  EXPECT_TRUE(Awaited([this] { return fs::exists(Generation(1)); }));
}

TEST_F(LocalLevelTest, AHelperThatCannotStartIsToldAndTheCommitStands) {
  const Error error = Save(9, "/no/such/helper");
  EXPECT_EQ(error.fault, Fault::kNotShared);
  EXPECT_EQ(error.text, "cannot start /no/such/helper: No such file or directory");
  EXPECT_EQ(Restored(), 9);
}

TEST_F(LocalLevelTest, AfterACopyThatCouldNotBeginTheNextOneIsCopied) {
  SessionOptions options = Options("/no/such/helper");
  options.hints = parent_.string() + ".hints";
  HintFile::Create(options.hints).value.Publish({.copy_every = 2});
  auto session = std::move(Session::Open(options).value);
  fs::remove(options.hints);
  EXPECT_EQ(session->Save().text, "");
  EXPECT_EQ(session->Save().fault, Fault::kNotShared);
  EXPECT_EQ(session->Save().fault, Fault::kNotShared);
  session.reset();  // and tries once more
  EXPECT_THAT(Unflushed(), ElementsAre(3U));
  StopAsking();
}

TEST_F(LocalLevelTest, AFlushThatFailedIsToldByTheNextSaveAndItsManifest) {
  ASSERT_EQ(Save(1, kNoHelper).text, "");
  const fs::path shard = Local() / "gen-0000000001" / "shard-000000";
  std::string bytes = Slurp(shard);
  bytes.back() ^= 1;
  Spill(shard, bytes);
  ASSERT_TRUE(FlushAll(Plan()).failed());
  const Error error = Save(2);
  EXPECT_EQ(error.fault, Fault::kNotShared);
  EXPECT_THAT(error.text, HasSubstr("flush of generation 1 to "));
  EXPECT_THAT(Slurp(Local() / "gen-0000000002" / "manifest"),
              HasSubstr("\nflush_error flush of generation 1 to "));
  AwaitHelpers();
  EXPECT_EQ(Restored(), 2);
  EXPECT_EQ(Save(3).text, "");
}

TEST_F(LocalLevelTest, TheNewestReplacesWhatWasNotBegun) {
  for (int step = 1; step <= 10; ++step) {
    ASSERT_EQ(Save(step, kNoHelper).text, "");
    EXPECT_THAT(Unflushed(), ElementsAre(static_cast<std::uint64_t>(step)));
  }
  const Result<Store> local = Store::Open(Disk::Real(), Local().string());
  EXPECT_THAT(local.value.List().value, SizeIs(2));
  // One that was begun stays until it is done.
  FlushQueue queue = std::move(FlushQueue::Open(Disk::Real(), Local().string()).value);
  ASSERT_EQ(queue.BeginOldest().value, 10U);
  for (int step = 11; step <= 15; ++step) {
    ASSERT_EQ(Save(step, kNoHelper).text, "");
  }
  EXPECT_THAT(Unflushed(), ElementsAre(10U, 15U));
  EXPECT_TRUE(fs::exists(Local() / "gen-0000000010"));
  EXPECT_FALSE(fs::exists(Local() / "gen-0000000011"));
  ASSERT_EQ(FlushAll(Plan()).text, "");
  EXPECT_TRUE(fs::exists(directory_ / "gen-0000000010"));
  EXPECT_TRUE(fs::exists(directory_ / "gen-0000000015"));
}

TEST_F(LocalLevelTest, OneOfSoManyIsCopiedAndTheLastWhenTheSessionCloses) {
  auto session = SaveAll({.copy_every = 3}, 8);
  EXPECT_THAT(queued_, ElementsAre(3U, 6U));
  session.reset();
  EXPECT_THAT(Unflushed(), ElementsAre(8U));
  StopAsking();
  queued_.clear();
  session = SaveAll({.copy_every = 2}, 2);
  EXPECT_THAT(queued_, ElementsAre(10U));
  session.reset();
  EXPECT_THAT(Unflushed(), ElementsAre()) << "the last is on its way";
}

TEST_F(LocalLevelTest, EachIsCopiedUnlessTheHintsSayOtherwise) {
  SaveAll({}, 3);
  EXPECT_THAT(queued_, ElementsAre(1U, 2U, 3U));
}

TEST_F(LocalLevelTest, WhatAnswersANoticeOrIsNearTheEndIsCopied) {
  auto session = SaveAll({.notice = Notice::kDrain, .notice_number = 4, .copy_every = 3}, 4);
  EXPECT_THAT(queued_, ElementsAre(1U, 4U)) << "one notice, one answer; counted from there";
  queued_.clear();
  session.reset();
  const auto soon = static_cast<std::uint64_t>(time(nullptr) + 60) * 1000;
  session = SaveAll({.interval_ms = 3'600'000, .deadline_ms = soon, .copy_every = 3}, 2);
  EXPECT_THAT(queued_, ElementsAre(5U, 6U));
}

TEST_F(LocalLevelTest, AKilledProgramGoesOnFromItsNodeOrFromTheLastCopy) {
  const int end = EndOfChild([this] {
    const auto session = SaveAll({.copy_every = 3}, 2);
    (void)session->levels().local()->FlushNewest(2);  // as if it were the third
    EXPECT_EQ(FlushAll(Plan()).text, "");
    step_ = 3;
    SaveAndLook(session.get());
    raise(SIGKILL);
    return 0;
  });
  ASSERT_EQ(end, -SIGKILL);
  EXPECT_THAT(Unflushed(), ElementsAre()) << "it closed nothing";
  EXPECT_EQ(Restored(), 3);
  fs::remove_all(Local());
  EXPECT_EQ(Restored(), 2);
}

TEST_F(LocalLevelTest, AForkedChildThatEndsAsksForNoCopy) {
  auto session = SaveAll({.copy_every = 3}, 1);
  const int end = EndOfChild([&] {
    session.reset();
    return 0;
  });
  EXPECT_EQ(end, 0);
  EXPECT_THAT(Unflushed(), ElementsAre());
  session.reset();
  EXPECT_THAT(Unflushed(), ElementsAre(1U));
  StopAsking();
}

TEST_F(LocalLevelTest, TheHelperTellsHowLongTheCopyTook) {
  SessionOptions options = Options(MUSTER_FLUSH_PROGRAM);
  options.progress = parent_.string() + ".progress";
  const OpenFile file(Disk::Real(), CreateProgress(options.progress).value);
  const auto session = std::move(Session::Open(options).value);
  ASSERT_EQ(session->Save().text, "");
  EXPECT_TRUE(Awaited([&] { return ReadProgress(file.get()).value.copies == 1; }));
  EXPECT_GT(ReadProgress(file.get()).value.copy_us, 0U);
  fs::remove(options.progress);
}

TEST_F(LocalLevelTest, AFailedRestartIsSetAsideOnBothLevels) {
  ASSERT_EQ(Save(1).text, "");
  AwaitHelpers();
  ASSERT_EQ(Save(2).text, "");
  AwaitHelpers();
  EXPECT_EQ(Restored(false), 2);  // and dies
  EXPECT_EQ(Restored(), 1);
  EXPECT_TRUE(fs::exists(Local() / "gen-0000000002.bad"));
  EXPECT_TRUE(fs::exists(directory_ / "gen-0000000002.bad"));
}

TEST_F(LocalLevelTest, ALinkInPlaceOfTheLocalDirectoryIsNotFollowed) {
  ASSERT_EQ(Save(1).text, "");
  AwaitHelpers();
  const fs::path name = Local();
  fs::rename(name, directory_ / "elsewhere");
  fs::create_symlink(directory_ / "elsewhere", name);
  const Result<std::unique_ptr<Session>> session = Session::Open(Options(kNoHelper));
  EXPECT_EQ(session.error.fault, Fault::kForeign);
  fs::remove(name);
}

TEST_F(LocalLevelTest, RanksThatDoNotKnowOneAnotherHaveNone) {
  SessionOptions options = Options(kNoHelper);
  options.ranks = 2;
  EXPECT_THAT(Session::Open(options).error.text, HasSubstr("local directory: needs ranks"));
}

}  // namespace
}  // namespace muster::checkpoint
