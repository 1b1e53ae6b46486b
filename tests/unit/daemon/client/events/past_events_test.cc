#include "daemon/client/events/past_events.h"

#include <gmock/gmock.h>

#include <future>

#include "tests/unit/daemon/controller/controller_rig.h"

namespace muster::daemon {
namespace {

class PastEventsTest : public testing::ControllerTest {
 protected:
  void SetUp() override {
    ControllerTest::SetUp();
    accounting_ = Accounting::Open(*store_).value();
  }

  Past Read(std::uint64_t from) {
    Worker reader;
    PastEvents past(*controller_, *store_, *accounting_, reader, "here");
    std::promise<absl::StatusOr<Past>> promise;
    auto future = promise.get_future();
    past.Read(Version(from),
              [&promise](const absl::StatusOr<Past>& found) { promise.set_value(found); });
    EXPECT_EQ(future.wait_for(testing::kPatience), std::future_status::ready);
    return future.get().value();
  }
  static std::vector<std::string> TypesOf(const Past& past) {
    std::vector<std::string> types;
    for (const CloudEventPtr& event : past.events) {
      types.emplace_back(event->type);
    }
    return types;
  }

  std::unique_ptr<Accounting> accounting_;
};

TEST_F(PastEventsTest, TheJournalIsToldWithWhatIsKnownOfItsJobs) {
  Register();
  const JobId job = Submit("0123456789abcdef0123456789abcdef", "train");
  door_.AwaitLaunch(job);
  const Past past = Read(1);
  EXPECT_TRUE(past.at_end);
  EXPECT_THAT(TypesOf(past),
              ::testing::ElementsAre("muster.controller.started", "muster.node.registered",
                                     "muster.job.submitted", "muster.job.started"));
  for (const CloudEventPtr& event : past.events) {
    EXPECT_EQ(event->user, event->job.valid() ? "someone" : "") << event->type;
  }
  EXPECT_THAT(past.events.back()->json, ::testing::HasSubstr("\"nodes\":[\"node1\"]"));
  EXPECT_TRUE(Read(past.next.value()).events.empty());
  EXPECT_EQ(Read(past.next.value()).next, past.next);
}

TEST_F(PastEventsTest, AJobThatHasEndedIsKnownFromTheAccounting) {
  const JobId job = Submit("0123456789abcdef0123456789abcdef", "short");
  const std::uint64_t after = Read(1).next.value();
  CancelJob command;
  command.job = job;
  command.by = User{1000, 1000, "someone"};
  ASSERT_TRUE(Take(command).second.ok());
  const Past past = Read(after);
  ASSERT_EQ(past.events.size(), 1U);
  EXPECT_STREQ(past.events[0]->type, "muster.job.ended");
  EXPECT_EQ(past.events[0]->user, "someone");
  EXPECT_THAT(past.events[0]->json, ::testing::HasSubstr("\"name\":\"short\""));
}

}  // namespace
}  // namespace muster::daemon
