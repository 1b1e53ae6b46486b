#include "daemon/events/event_feed.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <thread>

namespace muster::daemon {
namespace {

constexpr auto kPatience = std::chrono::seconds(20);

EventNote NoteAt(std::uint64_t version, const std::string& user = "ada") {
  EventNote note;
  note.version = Version(version);
  note.type = "muster.job.held";
  note.job = JobId(1);
  note.facts.user = user;
  return note;
}

std::vector<EventNote> Notes(std::uint64_t from, std::uint64_t to) {
  std::vector<EventNote> notes;
  for (; from <= to; ++from) {
    notes.push_back(NoteAt(from));
  }
  return notes;
}

bool Everything(const CloudEvent& /*event*/) {
  return true;
}

class EventFeedTest : public ::testing::Test {
 protected:
  // What the ring has from `from` on, once it knows all before `next`.
  EventFeed::Piece Await(std::uint64_t from, std::uint64_t next, std::size_t bytes = 1 << 20) {
    const auto until = std::chrono::steady_clock::now() + kPatience;
    while (feed_.Read(Version(from), Everything, 1 << 30).next < Version(next) &&
           std::chrono::steady_clock::now() < until) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return feed_.Read(Version(from), Everything, bytes);
  }

  EventFeed feed_{"here"};
  EventFeed::Handle listener_ = feed_.Listen({[] {}, [] {}});
};

TEST_F(EventFeedTest, WhatIsPublishedIsReadInOrderFromAnyPlace) {
  feed_.Open(Version(10));
  feed_.Publish(Notes(11, 20), Version(22));
  const EventFeed::Piece all = Await(11, 23);
  ASSERT_EQ(all.events.size(), 10U);
  EXPECT_EQ(all.events.front()->version, Version(11));
  EXPECT_EQ(all.next, Version(23)) << "22 has no event, and is told of all the same";
  EXPECT_EQ(Await(15, 23).events.front()->version, Version(15));
  EXPECT_TRUE(Await(23, 23).events.empty());
}

TEST_F(EventFeedTest, WhatWasBeforeItOpenedIsTheJournals) {
  feed_.Open(Version(10));
  feed_.Publish(Notes(11, 12), Version(12));
  Await(11, 13);
  EXPECT_TRUE(feed_.Read(Version(10), Everything, 100).behind);
  EXPECT_FALSE(feed_.Read(Version(11), Everything, 100).behind);
}

TEST_F(EventFeedTest, TheRingForgetsTheOldestAndSaysSo) {
  feed_.Open(Version(0));
  feed_.Publish(Notes(1, EventFeed::kEventsMax + 10), Version(EventFeed::kEventsMax + 10));
  Await(EventFeed::kEventsMax, EventFeed::kEventsMax + 11);
  EXPECT_EQ(feed_.begin(), Version(11));
  EXPECT_TRUE(feed_.Read(Version(10), Everything, 100).behind);
}

TEST_F(EventFeedTest, APieceEndsAtItsBytesAndGoesOnThere) {
  feed_.Open(Version(0));
  feed_.Publish(Notes(1, 5), Version(5));
  Await(1, 6);
  const EventFeed::Piece first = feed_.Read(Version(1), Everything, 1);
  ASSERT_EQ(first.events.size(), 1U);
  EXPECT_EQ(first.next, Version(2));
}

TEST_F(EventFeedTest, WhatAReaderMayNotSeeIsPassedOver) {
  feed_.Open(Version(0));
  feed_.Publish({NoteAt(1, "bob"), NoteAt(2, "ada"), NoteAt(3, "bob")}, Version(3));
  Await(1, 4);
  const EventFeed::Piece own = feed_.Read(
      Version(1), [](const CloudEvent& event) { return event.user == "ada"; }, 1 << 20);
  ASSERT_EQ(own.events.size(), 1U);
  EXPECT_EQ(own.next, Version(4));
}

TEST_F(EventFeedTest, WithoutAReaderNothingIsKept) {
  feed_.Open(Version(0));
  EXPECT_TRUE(feed_.open());
  listener_.reset();
  feed_.Publish(Notes(1, 5), Version(5));
  const auto until = std::chrono::steady_clock::now() + kPatience;
  while (feed_.open() && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_FALSE(feed_.open());
  EXPECT_TRUE(feed_.Read(Version(1), Everything, 100).behind);
}

TEST_F(EventFeedTest, WhatTheStateBecameOtherwiseIsTheJournals) {
  feed_.Open(Version(0));
  feed_.Publish(Notes(1, 3), Version(3));
  Await(1, 4);
  feed_.Lose(Version(7));
  const auto until = std::chrono::steady_clock::now() + kPatience;
  while (feed_.begin() < Version(8) && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_TRUE(feed_.Read(Version(4), Everything, 100).behind) << "4 to 7 were not published";
  feed_.Publish(Notes(8, 9), Version(9));
  EXPECT_EQ(Await(8, 10).events.size(), 2U);
}

TEST_F(EventFeedTest, WhoeverListensIsToldThatAnotherMayKnowMore) {
  std::promise<void> dismissed;
  const EventFeed::Handle listener = feed_.Listen({[] {}, [&dismissed] { dismissed.set_value(); }});
  feed_.Dismiss();
  EXPECT_EQ(dismissed.get_future().wait_for(kPatience), std::future_status::ready);
}

TEST_F(EventFeedTest, WhoeverListensIsWokenNowAndThenWithoutAnyEvent) {
  std::atomic<int> woken = 0;
  const EventFeed::Handle looks = feed_.Listen({[&woken] { ++woken; }, [] {}});
  const auto until = std::chrono::steady_clock::now() + kPatience;
  while (woken < 2 && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_GE(woken, 2);
}

TEST_F(EventFeedTest, OneThatCannotKeepUpWithTheLoopBeginsAnew) {
  feed_.Open(Version(0));
  std::uint64_t version = 0;
  for (int i = 0; i < 3; ++i) {
    feed_.Publish(Notes(version + 1, version + EventFeed::kNotesMax),
                  Version(version + EventFeed::kNotesMax));
    version += EventFeed::kNotesMax;
  }
  const auto until = std::chrono::steady_clock::now() + kPatience;
  while (feed_.begin() == Version(1) && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_GT(feed_.begin(), Version(1)) << "the journal has what the ring gave up";
}

}  // namespace
}  // namespace muster::daemon
