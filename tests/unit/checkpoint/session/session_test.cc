// The library as programs use it, mostly through its C interface; and the hints that steer it.

#include "checkpoint/session/session.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <numeric>
#include <thread>

#include "checkpoint/checkpoint.h"
#include "checkpoint/muster_checkpoint.h"
#include "tests/unit/checkpoint/store_files.h"

namespace muster::checkpoint {
namespace {

using ::testing::HasSubstr;

class SessionTest : public StoreFiles {
 protected:
  muster_checkpoint_options Options(const char* job = "job7") {
    path_ = directory_.string();
    muster_checkpoint_options options{};
    options.directory = path_.c_str();
    options.job = job;
    options.ranks = 1;
    return options;
  }
  std::string path_;
};

TEST_F(SessionTest, WhatWasSavedComesBack) {
  std::vector<double> field(100'003);
  std::iota(field.begin(), field.end(), 0.5);
  std::uint64_t step = 41;
  {
    Checkpoint checkpoint = Checkpoint::Open(Options());
    ASSERT_TRUE(checkpoint) << checkpoint.error();
    ASSERT_TRUE(checkpoint.Protect("field", std::span(field)));
    ASSERT_TRUE(checkpoint.Protect("step", step));
    EXPECT_FALSE(checkpoint.RestoreLatest());
    EXPECT_EQ(checkpoint.code(), MUSTER_CHECKPOINT_NOT_FOUND);
    ASSERT_TRUE(checkpoint.Save()) << checkpoint.error();
    step = 42;
    ASSERT_TRUE(checkpoint.Save()) << checkpoint.error();
  }
  const std::vector<double> saved = field;
  std::fill(field.begin(), field.end(), -1);
  step = 0;
  Checkpoint again = Checkpoint::Open(Options());
  ASSERT_TRUE(again.Protect("step", step));  // another order is as good
  ASSERT_TRUE(again.Protect("field", std::span(field)));
  ASSERT_TRUE(again.RestoreLatest()) << again.error();
  EXPECT_EQ(step, 42U);
  EXPECT_EQ(field, saved);
}

TEST_F(SessionTest, AFileTravelsWithTheCheckpoint) {
  const fs::path file = directory_ / "model.pt";
  Spill(file, "first");
  std::unique_ptr<Session> session =
      std::move(Session::Open({.directory = directory_.string(), .job = "job7"}).value);
  ASSERT_FALSE(session->ProtectFile("model", file.string()).failed());
  ASSERT_FALSE(session->Save().failed());
  Spill(file, "second and longer");
  ASSERT_FALSE(session->RestoreLatest().failed());
  EXPECT_EQ(Slurp(file), "first");
}

TEST_F(SessionTest, RegionsThatDifferLeaveTheMemoryAlone) {
  int here = 1;
  int other = 2;
  {
    Checkpoint checkpoint = Checkpoint::Open(Options());
    ASSERT_TRUE(checkpoint.Protect("here", here));
    ASSERT_TRUE(checkpoint.Save());
  }
  here = 5;
  Checkpoint more = Checkpoint::Open(Options());
  ASSERT_TRUE(more.Protect("here", here) && more.Protect("other", other));
  EXPECT_FALSE(more.RestoreLatest());
  EXPECT_EQ(more.code(), MUSTER_CHECKPOINT_REGIONS);
  EXPECT_EQ(more.error(), "other: is not in the checkpoint");
  EXPECT_EQ(here, 5);
  std::array<int, 2> longer{};
  ASSERT_TRUE(more.Confirm());
  Checkpoint larger = Checkpoint::Open(Options());
  EXPECT_EQ(larger.Protect("here", std::span(longer)), true);
  EXPECT_FALSE(larger.RestoreLatest());
}

TEST_F(SessionTest, HintsThatTheEnvironmentNamesInVainStopNobody) {
  ASSERT_EQ(setenv("MUSTER_CHECKPOINT_HINTS", "/no/such/page", 1), 0);
  const Checkpoint checkpoint = Checkpoint::Open(Options());
  EXPECT_TRUE(checkpoint) << checkpoint.error();
  ASSERT_EQ(unsetenv("MUSTER_CHECKPOINT_HINTS"), 0);
  muster_checkpoint_options options = Options();
  options.hints = "/no/such/page";
  EXPECT_EQ(Checkpoint::Open(options).error(), "/no/such/page: No such file or directory");
}

TEST_F(SessionTest, NamesThatArePathsAreRefused) {
  Checkpoint checkpoint = Checkpoint::Open(Options());
  int value = 0;
  for (const std::string& name :
       {std::string("../x"), std::string("/etc/passwd"), std::string("a/b"), std::string(".."),
        std::string("."), std::string("%s"), std::string("a\nb"), std::string(255, 'x'),
        std::string("\xff"), std::string()}) {
    EXPECT_FALSE(checkpoint.Protect(name, value)) << name;
    EXPECT_EQ(checkpoint.code(), MUSTER_CHECKPOINT_USAGE);
    const Checkpoint job = Checkpoint::Open(Options(name.c_str()));
    EXPECT_FALSE(job);
    EXPECT_THAT(job.error(), HasSubstr("job: is no name"));
  }
  EXPECT_TRUE(checkpoint.Protect("value", value));
  EXPECT_FALSE(checkpoint.Protect("value", value));
}

TEST_F(SessionTest, BadCallsAreAnsweredNotObeyed) {
  EXPECT_EQ(muster_checkpoint_save(nullptr), MUSTER_CHECKPOINT_USAGE);
  EXPECT_EQ(muster_should_checkpoint(nullptr), MUSTER_CHECKPOINT_NOT_NOW);
  EXPECT_EQ(muster_checkpoint_open(nullptr, nullptr, nullptr, 0), MUSTER_CHECKPOINT_USAGE);
  muster_checkpoint_close(nullptr);
  muster_checkpoint_options options = Options();
  options.rank = 1;
  EXPECT_THAT(Checkpoint::Open(options).error(), HasSubstr("rank: use one from 0"));
  options = Options();
  options.interval_s = std::nan("");
  EXPECT_THAT(Checkpoint::Open(options).error(), HasSubstr("interval"));
  options = Options();
  options.directory = "/nowhere";
  EXPECT_THAT(Checkpoint::Open(options).error(), HasSubstr("/nowhere: No such file"));
  options = Options();
  options.software = "two\nlines";
  EXPECT_FALSE(Checkpoint::Open(options));
  const Checkpoint checkpoint = Checkpoint::Open(Options());
  EXPECT_EQ(muster_checkpoint_begin(checkpoint.get(), nullptr), MUSTER_CHECKPOINT_USAGE);
  EXPECT_EQ(muster_checkpoint_protect(checkpoint.get(), "x", nullptr, 8), MUSTER_CHECKPOINT_USAGE);
  EXPECT_EQ(muster_checkpoint_commit(checkpoint.get(), 1, nullptr, 0), MUSTER_CHECKPOINT_USAGE);
}

// Four ranks of one job, each its own session, as over MPI.
class Ranks : public SessionTest {
 protected:
  std::vector<std::unique_ptr<Session>> Open(std::uint32_t ranks, bool repartitionable = false) {
    std::vector<std::unique_ptr<Session>> sessions;
    values_.assign(ranks, 0);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      auto session = Session::Open({.directory = directory_.string(),
                                    .job = "job7",
                                    .rank = rank,
                                    .ranks = ranks,
                                    .repartitionable = repartitionable});
      EXPECT_TRUE(session.ok()) << session.error.text;
      EXPECT_FALSE(session.value->Protect("value", &values_[rank], sizeof(int)).failed());
      sessions.push_back(std::move(session.value));
    }
    return sessions;
  }
  void SaveAll(const std::vector<std::unique_ptr<Session>>& sessions) {
    const Result<std::uint64_t> generation = sessions[0]->Begin();
    ASSERT_TRUE(generation.ok()) << generation.error.text;
    std::vector<ShardSeal> seals;
    for (const auto& session : sessions) {
      const Result<ShardSeal> seal = session->Write(generation.value);
      ASSERT_TRUE(seal.ok()) << seal.error.text;
      seals.push_back(seal.value);
    }
    const Error error = sessions[0]->Commit(generation.value, seals);
    ASSERT_FALSE(error.failed()) << error.text;
  }
  std::vector<int> values_;
};

TEST_F(Ranks, EachGetsItsOwnBack) {
  {
    const auto sessions = Open(4);
    values_ = {10, 11, 12, 13};
    SaveAll(sessions);
  }
  const auto sessions = Open(4);
  const Result<std::uint64_t> latest = sessions[0]->Latest();
  ASSERT_TRUE(latest.ok()) << latest.error.text;
  for (const auto& session : sessions) {
    ASSERT_FALSE(session->Restore(latest.value).failed());
  }
  EXPECT_EQ(values_, (std::vector<int>{10, 11, 12, 13}));
  EXPECT_EQ(sessions[1]->Begin().error.fault, Fault::kUsage);
  EXPECT_EQ(sessions[1]->Latest().error.fault, Fault::kUsage);
}

TEST_F(Ranks, AnotherNumberOfRanksIsRefusedUnlessDeclared) {
  {
    const auto sessions = Open(4);
    SaveAll(sessions);
  }
  {
    const auto fewer = Open(2);
    EXPECT_EQ(fewer[0]->Latest().value, 1U);
    EXPECT_EQ(fewer[0]->Restore(1).fault, Fault::kRanks);
    int value = 0;
    EXPECT_EQ(fewer[0]->ReadRegion(1, 3, "value", &value, sizeof value).fault, Fault::kRanks);
  }
  {
    const auto sessions = Open(4, true);
    values_ = {10, 11, 12, 13};
    SaveAll(sessions);
  }
  const auto fewer = Open(2, true);
  EXPECT_EQ(fewer[0]->Latest().value, 2U);
  EXPECT_EQ(fewer[1]->saved().Ranks(2).value, 4U);
  EXPECT_EQ(fewer[1]->saved().RegionSize(2, 3, "value").value, sizeof(int));
  int value = 0;
  ASSERT_FALSE(fewer[1]->ReadRegion(2, 3, "value", &value, sizeof value).failed());
  EXPECT_EQ(value, 13);
  EXPECT_EQ(fewer[1]->ReadRegion(2, 4, "value", &value, sizeof value).fault, Fault::kUsage);
  EXPECT_EQ(fewer[1]->ReadRegion(2, 3, "value", &value, 1).fault, Fault::kRegions);
  EXPECT_EQ(fewer[1]->ReadRegion(2, 3, "other", &value, 4).fault, Fault::kRegions);
}

TEST_F(SessionTest, AProgramThatDiesInItsRestartGetsTheGenerationBeforeNextTime) {
  int value = 1;
  {
    Checkpoint checkpoint = Checkpoint::Open(Options());
    ASSERT_TRUE(checkpoint.Protect("value", value));
    ASSERT_TRUE(checkpoint.Save());
    value = 2;
    ASSERT_TRUE(checkpoint.Save());
  }
  const auto restart_and_die = [this] {
    return EndOfChild([this] {
      int restored = 0;
      Checkpoint checkpoint = Checkpoint::Open(Options());
      checkpoint.Protect("value", restored);
      if (!checkpoint.RestoreLatest()) {
        return 255;
      }
      _exit(restored);  // without a word
    });
  };
  EXPECT_EQ(restart_and_die(), 2);
  EXPECT_EQ(restart_and_die(), 1);
  EXPECT_EQ(restart_and_die(), 2);  // nothing else is left: what was set aside, once more
}

TEST_F(SessionTest, AConfirmedRestartMayDieLater) {
  int value = 7;
  {
    Checkpoint checkpoint = Checkpoint::Open(Options());
    ASSERT_TRUE(checkpoint.Protect("value", value));
    ASSERT_TRUE(checkpoint.Save());
  }
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(EndOfChild([this] {
                int restored = 0;
                Checkpoint checkpoint = Checkpoint::Open(Options());
                checkpoint.Protect("value", restored);
                const bool well = checkpoint.RestoreLatest() && checkpoint.Confirm();
                if (well) {
                  _exit(restored);  // without a word
                }
                return 255;
              }),
              7);
  }
  EXPECT_TRUE(fs::exists(Generation(1)));
}

// --- Hints ---

TEST_F(SessionTest, HintsReachARunningProgram) {
  const std::string path = (directory_ / "hints").string();
  Result<HintFile> scheduler = HintFile::Create(path);
  ASSERT_TRUE(scheduler.ok()) << scheduler.error.text;
  muster_checkpoint_options options = Options();
  options.hints = path.c_str();
  Checkpoint checkpoint = Checkpoint::Open(options);
  ASSERT_TRUE(checkpoint) << checkpoint.error();
  int value = 0;
  ASSERT_TRUE(checkpoint.Protect("value", value));
  const auto need = [&checkpoint] { return muster_should_checkpoint(checkpoint.get()); };
  EXPECT_EQ(need(), MUSTER_CHECKPOINT_NOT_NOW);
  scheduler.value.Publish({.notice = Notice::kPreemption, .notice_number = 1});
  EXPECT_EQ(need(), MUSTER_CHECKPOINT_PREEMPTION);
  EXPECT_EQ(need(), MUSTER_CHECKPOINT_PREEMPTION);
  ASSERT_TRUE(checkpoint.Save());
  EXPECT_EQ(need(), MUSTER_CHECKPOINT_NOT_NOW);
  scheduler.value.Publish({.notice = Notice::kDrain, .notice_number = 2});
  EXPECT_EQ(need(), MUSTER_CHECKPOINT_DRAIN);
  scheduler.value.Publish({.interval_ms = 1});
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  EXPECT_EQ(need(), MUSTER_CHECKPOINT_INTERVAL);
}

TEST_F(SessionTest, WhatIsNoHintFileIsRefused) {
  const fs::path path = directory_ / "hints";
  EXPECT_EQ(HintFile::Open(path.string()).error.fault, Fault::kSystem);
  Spill(path, "short");
  EXPECT_EQ(HintFile::Open(path.string()).error.fault, Fault::kForeign);
  Spill(path, std::string(4096, 'x'));
  EXPECT_EQ(HintFile::Open(path.string()).error.fault, Fault::kForeign);
  fs::create_symlink(path, directory_ / "link");
  EXPECT_EQ(HintFile::Create((directory_ / "link").string()).error.fault, Fault::kSystem);
  EXPECT_EQ(Slurp(path), std::string(4096, 'x'));
}

TEST_F(SessionTest, HintsAreNeverHalfOfOneAndHalfOfAnother) {
  const std::string path = (directory_ / "hints").string();
  Result<HintFile> scheduler = HintFile::Create(path);
  Result<HintFile> program = HintFile::Open(path);
  std::atomic<bool> done{false};
  std::thread publisher([&] {
    for (std::uint32_t i = 1; i <= 200'000; ++i) {
      scheduler.value.Publish({.interval_ms = i, .deadline_ms = i, .notice_number = i});
    }
    done = true;
  });
  std::uint64_t last = 0;
  while (!done) {
    const Hints hints = program.value.Read();
    ASSERT_EQ(hints.interval_ms, hints.deadline_ms);
    ASSERT_EQ(hints.interval_ms, hints.notice_number);
    ASSERT_GE(hints.interval_ms, last);
    last = hints.interval_ms;
  }
  publisher.join();
  EXPECT_EQ(program.value.Read().interval_ms, 200'000U);
}

}  // namespace
}  // namespace muster::checkpoint
