#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <thread>

#include "daemon/leading/leader_loop.h"
#include "daemon/leading/leadership_service.h"
#include "daemon/serve/beginning.h"
#include "daemon/store/sqlite/sqlite.h"
#include "tests/unit/daemon/controller/controller_rig.h"

namespace muster::daemon {
namespace {

using ::testing::HasSubstr;

// A second controller that follows the first one's journal.
class LeadingTest : public testing::ControllerTest {
 protected:
  void SetUp() override {
    ControllerTest::SetUp();
    other_ = std::make_unique<Controller>(*store_, door_, clock_, log_,
                                          Controller::Setting{SchedulerConfig(), "test", {}});
    ASSERT_TRUE(other_->StartFollowing().ok());
  }
  void TearDown() override {
    other_.reset();
    ControllerTest::TearDown();
  }
  static absl::Status Await(const std::function<void(Controller::Reply)>& ask) {
    std::promise<absl::Status> promise;
    ask([&promise](const absl::Status& status) { promise.set_value(status); });
    return promise.get_future().get();
  }
  absl::Status Follow() {
    std::vector<JournalEntry> entries;
    EXPECT_TRUE(store_
                    ->ReadJournal(std::max(other_->followed(), Version(1)),
                                  [&](const JournalEntry& entry) {
                                    entries.push_back(entry);
                                    return true;
                                  })
                    .ok());
    return Await([&](Controller::Reply reply) { other_->Follow(entries, std::move(reply)); });
  }
  absl::Status Follow(const Event& event, Version version) {
    const std::vector<JournalEntry> entries = {JournalEntry{version, event}};
    return Await([&](Controller::Reply reply) { other_->Follow(entries, std::move(reply)); });
  }
  absl::Status Lead() {
    return Await([&](Controller::Reply reply) { other_->Lead(std::move(reply)); });
  }
  // What the loop does by itself, in its own time.
  static bool Comes(const std::function<bool()>& what) {
    const auto until = std::chrono::steady_clock::now() + testing::kPatience;
    bool came = what();
    while (!came && std::chrono::steady_clock::now() < until) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      came = what();
    }
    return came;
  }
  // From here on the rig's functions speak to the one that followed.
  void Change() { std::swap(controller_, other_); }

  std::unique_ptr<Controller> other_;
};

TEST_F(LeadingTest, AFollowerHasTheLeadersStateAndRefusesChanges) {
  const JobId job = Submit("one");
  EXPECT_TRUE(Follow().ok());
  EXPECT_TRUE(Follow().ok()) << "what is followed twice counts once";
  Change();
  EXPECT_FALSE(controller_->leads());
  EXPECT_TRUE(Seen<bool>([job](const StateView& view) {
    return view.state().FindJob(job) != nullptr && view.state().jobs().size() == 1;
  }));
  const absl::Status refused = Take(CancelJob{}).second;
  EXPECT_TRUE(absl::IsUnavailable(refused)) << "so that callers try again, at another";
  EXPECT_THAT(std::string(refused.message()), HasSubstr("is a standby"));
}

TEST_F(LeadingTest, AFollowerThatHasNothingToDoTakesNoProcessor) {
  Submit("one");
  ASSERT_TRUE(Follow().ok());
  const auto used = [] {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return std::chrono::seconds(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           std::chrono::microseconds(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
  };
  const auto before = used();
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  EXPECT_LT(used() - before, std::chrono::milliseconds(100)) << "its loop does not wait";
}

TEST_F(LeadingTest, AFollowerThatLeadsBeginsTheNextEpochOnTheStateThatItHas) {
  const JobId job = Submit("one");
  const Epoch before = controller_->epoch();
  ASSERT_TRUE(
      Await([&](Controller::Reply reply) { controller_->StepDown(std::move(reply)); }).ok());
  ASSERT_TRUE(Follow().ok());
  ASSERT_TRUE(Await([&](Controller::Reply reply) { other_->Lead(std::move(reply)); }).ok());
  Change();
  EXPECT_TRUE(controller_->leads());
  EXPECT_EQ(controller_->epoch(), before.Next());
  EXPECT_EQ(Submit("one"), job) << "the token of the former leader's job";
  EXPECT_EQ(Submit("two"), job.Next());
}

TEST_F(LeadingTest, AControllerAloneKeepsItsOwnKeyAndLeadsAtOnce) {
  EXPECT_EQ(OpenSecrets(*store_, directory_ + "/job.key")->ToText(),
            JobSecrets::Open(directory_ + "/job.key")->ToText());
  EXPECT_EQ(JobSecrets::FromText(JobSecrets::Open(directory_ + "/job.key")->ToText())
                ->Of(JobId(1), AttemptNumber(1)),
            JobSecrets::Open(directory_ + "/job.key")->Of(JobId(1), AttemptNumber(1)));
  EXPECT_FALSE(JobSecrets::FromText("00").ok());
  EXPECT_TRUE(controller_->leads());
}

TEST_F(LeadingTest, WhoLedFollowsNothingBeforeWhatItWroteIsSettled) {
  const JobId job = Submit("one");
  absl::StatusOr<std::unique_ptr<SqliteDatabase>> other =
      SqliteDatabase::Open(directory_ + "/state.db", SqliteDatabase::Mode::kReadWrite);
  ASSERT_TRUE(other.ok()) << other.status();
  auto hangs = std::make_unique<Transaction>(**other);
  ASSERT_TRUE(hangs->Begin(Transaction::Kind::kWrite).ok());
  std::promise<absl::Status> answered;
  const HoldJob hold{job, std::nullopt, true, User{0, 0, "root"}};
  controller_->Take(Command(hold),
                    [&answered](const core::Transition&, const absl::Status& status) {
                      answered.set_value(status);
                    });
  std::promise<absl::Status> durable;
  controller_->StepDown([&durable](const absl::Status& status) { durable.set_value(status); });
  // The next leader's entries, of which some are where its own would be.
  std::vector<JournalEntry> entries;
  for (Version version = controller_->followed().Next(); entries.size() < 4;
       version = version.Next()) {
    entries.push_back(JournalEntry{version, HalfLifeSet{}});
  }
  const auto follow = [&](Controller::Reply reply) {
    controller_->Follow(entries, std::move(reply));
  };
  EXPECT_TRUE(absl::IsUnavailable(Await(follow)));
  hangs.reset();
  EXPECT_TRUE(answered.get_future().get().ok());
  EXPECT_TRUE(durable.get_future().get().ok());
  entries.clear();
  EXPECT_TRUE(Await(follow).ok());
}

TEST_F(LeadingTest, AFollowerThatMissedAnEntryDoesNotLead) {
  Submit("one");
  EXPECT_FALSE(Await([&](Controller::Reply reply) { other_->Lead(std::move(reply)); }).ok());
  EXPECT_FALSE(other_->leads());
}

TEST_F(LeadingTest, AFollowerOfAnEntryThatTheDatabaseLostLoadsWhatItHasInstead) {
  const JobId job = Submit("one");
  ASSERT_TRUE(Follow().ok());
  const Version last = other_->followed();
  const absl::Status followed = Follow(HalfLifeSet{}, last);
  EXPECT_TRUE(absl::IsUnavailable(followed));
  EXPECT_THAT(std::string(followed.message()), HasSubstr("lost an entry and has another"));
  EXPECT_TRUE(Comes([this] { return Follow().ok(); }));
  EXPECT_GE(other_->followed(), last);
  ASSERT_TRUE(
      Await([&](Controller::Reply reply) { controller_->StepDown(std::move(reply)); }).ok());
  ASSERT_TRUE(Lead().ok());
  Change();
  EXPECT_EQ(Submit("one"), job);
}

TEST_F(LeadingTest, AFollowerThatKnowsMoreThanTheDatabaseLoadsWhatItHasAndLeadsThen) {
  Submit("one");
  ASSERT_TRUE(
      Await([&](Controller::Reply reply) { controller_->StepDown(std::move(reply)); }).ok());
  ASSERT_TRUE(Follow().ok());
  const Version last = other_->followed();
  ASSERT_TRUE(Follow(HalfLifeSet{}, last.Next()).ok());
  EXPECT_FALSE(Lead().ok());
  EXPECT_FALSE(other_->leads());
  EXPECT_TRUE(Comes([this] { return Lead().ok(); }));
  EXPECT_EQ(other_->followed(), last.Next()) << "the new epoch's";
}

TEST_F(LeadingTest, AControllerThatStepsDownTellsThoseWhoWatchJobsAndTakesNoMoreOfThem) {
  const JobId job = Submit("one");
  std::promise<absl::Status> lost;
  const auto watcher = std::make_shared<const Controller::Watcher>(
      Controller::Watcher{[](const JobView&, const Allocation*) {},
                          [&lost](const absl::Status& why) { lost.set_value(why); }});
  const auto watch = [&](Controller::Reply found) {
    controller_->Watch(job, watcher, std::move(found));
  };
  ASSERT_TRUE(Await(watch).ok());
  ASSERT_TRUE(
      Await([&](Controller::Reply reply) { controller_->StepDown(std::move(reply)); }).ok());
  auto told = lost.get_future();
  ASSERT_EQ(told.wait_for(testing::kPatience), std::future_status::ready);
  EXPECT_TRUE(absl::IsUnavailable(told.get()));
  EXPECT_TRUE(absl::IsUnavailable(Await(watch)));
}

TEST_F(LeadingTest, AReaderOfEventsThatStaysMissesNothingOfALeadThatChanges) {
  std::promise<void> dismissed;
  const EventFeed::Handle old_reader =
      controller_->events().Listen({[] {}, [&dismissed] { dismissed.set_value(); }});
  const EventFeed::Handle reader = other_->events().Listen({[] {}, [] {}});
  ASSERT_TRUE(Follow().ok());
  const Version next = other_->followed().Next();
  other_->events().Open(other_->followed());
  const JobId job = Submit("one");
  ASSERT_TRUE(Follow().ok());
  ASSERT_TRUE(
      Await([&](Controller::Reply reply) { controller_->StepDown(std::move(reply)); }).ok());
  EXPECT_EQ(dismissed.get_future().wait_for(testing::kPatience), std::future_status::ready);
  ASSERT_TRUE(Follow().ok());
  ASSERT_TRUE(Await([&](Controller::Reply reply) { other_->Lead(std::move(reply)); }).ok());
  std::vector<CloudEventPtr> events;
  const auto until = std::chrono::steady_clock::now() + testing::kPatience;
  while (events.size() < 2 && std::chrono::steady_clock::now() < until) {
    events = other_->events()
                 .Read(
                     next, [](const CloudEvent&) { return true; }, std::size_t{1} << 20)
                 .events;
  }
  ASSERT_EQ(events.size(), 2U);
  EXPECT_STREQ(events[0]->type, "muster.job.submitted");
  EXPECT_EQ(events[0]->job, job);
  EXPECT_STREQ(events[1]->type, "muster.controller.started");
}

TEST_F(LeadingTest, AControllerThatSteppedDownAnswersQuestionsAndChangesNothing) {
  Submit("one");
  ASSERT_TRUE(
      Await([&](Controller::Reply reply) { controller_->StepDown(std::move(reply)); }).ok());
  EXPECT_EQ(LiveJobs(), 1U);
  SubmitJob command;
  command.token = "two";
  EXPECT_TRUE(absl::IsUnavailable(Take(std::move(command)).second));
  EXPECT_EQ(LiveJobs(), 1U);
}

}  // namespace
}  // namespace muster::daemon
