#pragma once

// The newest events in memory, and those who wait for the next.
//
// The loop notes events only while the feed is open; what is durable is published, made into JSON
// once on the feed's own thread, and kept in a ring. Thread promise: safe from any thread; Publish
// takes a lock for a moment and never waits; listeners are called on the feed's thread with nothing
// locked. Invariants: (1) from begin() on the ring has every event that has been published; (2) it
// holds at most kEventsMax; what is older is read from the journal; (3) listeners are woken at most
// once in a pace that grows with their number; (4) without a word they are woken every kLookEvery,
// so that the stream of one whose right has ended ends.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "daemon/events/cloud_event.h"
#include "daemon/events/event_note.h"
#include "scheduler/runtime/mutex.h"

namespace muster::daemon {

class EventFeed {
 public:
  static constexpr std::size_t kEventsMax = 16'384;
  // Notes that wait to be made into JSON; of more the ring is emptied.
  static constexpr std::size_t kNotesMax = 65'536;
  static constexpr std::chrono::microseconds kPaceLeast{5'000};
  static constexpr std::chrono::microseconds kPaceOfEach{250};
  static constexpr std::chrono::milliseconds kLookEvery{500};

  explicit EventFeed(std::string cluster);
  EventFeed(const EventFeed&) = delete;
  EventFeed& operator=(const EventFeed&) = delete;
  ~EventFeed();

  // Whether anybody reads, so that events are worth noting. The loop asks for each.
  [[nodiscard]] bool open() const { return open_.load(std::memory_order_relaxed); }
  // From now on events are noted; those up to `version`, the state's, are the journal's. On the
  // loop's thread, which alone opens.
  void Open(Version version);
  // Events that are durable, in order; all up to `version` are told. Does nothing unless open.
  void Publish(std::vector<EventNote> notes, Version version);
  // The state has become that of `version` otherwise than by events that were published: what the
  // ring has is given up, and all up to there is the journal's. Does nothing unless open.
  void Lose(Version version);
  // Tells all listeners that this controller's events may not be the newest.
  void Dismiss();

  // The version from which on the ring knows everything; the next to come when it is empty.
  [[nodiscard]] Version begin() const;
  struct Piece {
    bool behind = false;  // what was asked for has left the ring
    std::vector<CloudEventPtr> events;
    Version next;  // what to ask for then
  };
  // Those from `from` on that `wanted` lets through, until they have that many bytes.
  [[nodiscard]] Piece Read(Version from, const std::function<bool(const CloudEvent&)>& wanted,
                           std::size_t bytes) const;

  // Calls `news` after each publication, and every kLookEvery without one, and `dismissed` after
  // Dismiss, until the handle is dropped. The last handle that goes closes the feed.
  struct Listener {
    std::function<void()> news;
    std::function<void()> dismissed;
  };
  using Handle = std::shared_ptr<const Listener>;
  [[nodiscard]] Handle Listen(Listener listener);
  [[nodiscard]] std::size_t listeners() const;

  [[nodiscard]] const std::string& cluster() const { return cluster_; }

 private:
  void Run();
  void Take(const std::vector<EventNote>& notes, Version version);
  std::vector<Handle> Alive();

  const std::string cluster_;
  std::atomic<bool> open_ = false;
  mutable Mutex mutex_;
  CondVar changed_;
  CondVar stops_;
  std::deque<CloudEventPtr> ring_ ABSL_GUARDED_BY(mutex_);
  Version begin_ ABSL_GUARDED_BY(mutex_);
  Version end_ ABSL_GUARDED_BY(mutex_);  // all before it are in the ring, or were
  std::vector<EventNote> notes_ ABSL_GUARDED_BY(mutex_);
  Version noted_ ABSL_GUARDED_BY(mutex_);  // the notes tell all up to it
  bool fresh_ ABSL_GUARDED_BY(mutex_) = false;
  bool lost_ ABSL_GUARDED_BY(mutex_) = false;  // notes were given up
  bool dismissed_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::weak_ptr<const Listener>> listeners_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace muster::daemon
