#include "daemon/serve/housekeeping.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/store/accounting.h"
#include "tests/unit/daemon/controller/controller_rig.h"

namespace muster::daemon {
namespace {

using testing::ControllerTest;

constexpr Duration kKept{80};  // it looks eight times as often
constexpr Duration kHour = std::chrono::hours(1);

class HousekeepingTest : public ControllerTest {
 protected:
  void Keep(Retention retention) {
    retention.journal = kKept;
    house_ = std::make_unique<Housekeeping>(*store_, *controller_, time_, log_,
                                            std::move(retention), Scripts::kErased);
  }
  void TearDown() override {
    house_.reset();
    ControllerTest::TearDown();
  }
  // Runs a job to its end.
  JobId Work(const std::string& token) {
    const NodeId node = Register();
    const JobId job = Submit(token);
    door_.AwaitLaunch(job);
    RunEnded end;
    end.time = clock_.Now();
    EXPECT_TRUE(Report(node, job, 1, RunStarted{clock_.Now(), 42, ""}).ok());
    EXPECT_TRUE(Report(node, job, 2, end).ok());
    return job;
  }
  static void AwaitThat(const char* what, const std::function<bool()>& holds) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!holds()) {
      ASSERT_LT(std::chrono::steady_clock::now(), end) << what;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
  [[nodiscard]] bool BeganAgain() const {
    return absl::IsOutOfRange(
        store_->ReadJournal(Version(1), [](const JournalEntry&) { return false; }));
  }
  [[nodiscard]] JournalArchive Archive() const { return JournalArchive(directory_ + "/archive"); }
  std::size_t History() {
    auto accounting = Accounting::Open(*store_);
    EXPECT_TRUE(accounting.ok()) << accounting.status();
    return (*accounting)->List({})->size();
  }
  ManualClock time_{clock_.Now()};
  std::unique_ptr<Housekeeping> house_;
};

TEST_F(HousekeepingTest, TheJournalBeginsAgainOnceItsEntriesAreOldEnough) {
  Work("old");
  Keep({});
  AwaitThat("no beginning was taken", [&] { return !Archive().Beginnings().empty(); });
  EXPECT_FALSE(BeganAgain());
  time_.Advance(kKept);
  AwaitThat("the journal did not begin again", [&] { return BeganAgain(); });
  EXPECT_EQ(Archive().Segments().size(), 1U);
  EXPECT_EQ(History(), 1U) << "the history has nothing to do with it";
}

TEST_F(HousekeepingTest, JobsGoAfterTheirEntriesAndTheControllerGoesOn) {
  Work("old");
  Retention retention;
  retention.jobs = {kKept, 0, Duration(0)};
  Keep(retention);
  AwaitThat("no beginning was taken", [&] { return !Archive().Beginnings().empty(); });
  time_.Advance(kHour);
  AwaitThat("the ended job is still there", [&] { return History() == 0; });
  house_.reset();
  const JobId next = Work("new");
  EXPECT_EQ(next, JobId(2));
  Close();
  Open();
  EXPECT_EQ(History(), 1U);
  EXPECT_EQ(Submit("newer"), JobId(3));
}

TEST_F(HousekeepingTest, AControllerThatDoesNotLeadKeepsNoHouse) {
  Work("old");
  std::promise<void> down;
  controller_->StepDown([&](const absl::Status&) { down.set_value(); });
  down.get_future().wait();
  Keep({});
  std::this_thread::sleep_for(kKept);
  EXPECT_TRUE(Archive().Beginnings().empty());
}

}  // namespace
}  // namespace muster::daemon
