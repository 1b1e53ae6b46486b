#include "daemon/events/event_feed.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace muster::daemon {

EventFeed::EventFeed(std::string cluster)
    : cluster_(std::move(cluster)), thread_([this] { Run(); }) {}

EventFeed::~EventFeed() {
  {
    const MutexLock lock(&mutex_);
    stopping_ = true;
    changed_.NotifyAll();
    stops_.NotifyAll();
  }
  thread_.join();
}

void EventFeed::Open(Version version) {
  const MutexLock lock(&mutex_);
  if (!open_) {
    open_ = true;
    ring_.clear();
    notes_.clear();
    begin_ = end_ = noted_ = version.Next();
    lost_ = fresh_ = false;
  }
}

void EventFeed::Publish(std::vector<EventNote> notes, Version version) {
  const MutexLock lock(&mutex_);
  if (!open_) {
    return;
  }
  if (notes_.size() + notes.size() > kNotesMax) {
    notes_.clear();
    lost_ = true;
  } else {
    std::move(notes.begin(), notes.end(), std::back_inserter(notes_));
  }
  noted_ = version.Next();
  fresh_ = true;
  changed_.NotifyAll();
}

void EventFeed::Lose(Version version) {
  const MutexLock lock(&mutex_);
  if (open_) {
    notes_.clear();
    lost_ = fresh_ = true;
    noted_ = version.Next();
    changed_.NotifyAll();
  }
}

void EventFeed::Dismiss() {
  const MutexLock lock(&mutex_);
  dismissed_ = fresh_ = true;
  changed_.NotifyAll();
}

Version EventFeed::begin() const {
  const MutexLock lock(&mutex_);
  return begin_;
}

EventFeed::Piece EventFeed::Read(Version from, const std::function<bool(const CloudEvent&)>& wanted,
                                 std::size_t bytes) const {
  std::vector<CloudEventPtr> seen;
  Piece piece;
  {
    const MutexLock lock(&mutex_);
    piece.behind = from < begin_;
    piece.next = std::max(from, end_);
    if (piece.behind) {
      piece.next = from;
      return piece;
    }
    const auto first = std::lower_bound(
        ring_.begin(), ring_.end(), from,
        [](const CloudEventPtr& event, Version version) { return event->version < version; });
    seen.assign(first, ring_.end());
  }
  std::size_t taken = 0;
  for (CloudEventPtr& event : seen) {
    if (!wanted(*event)) {
      continue;
    }
    if (taken > 0 && taken + event->json.size() > bytes) {
      piece.next = event->version;
      break;
    }
    taken += event->json.size();
    piece.events.push_back(std::move(event));
  }
  return piece;
}

EventFeed::Handle EventFeed::Listen(Listener listener) {
  auto handle = std::make_shared<const Listener>(std::move(listener));
  const MutexLock lock(&mutex_);
  listeners_.push_back(handle);
  changed_.NotifyAll();
  return handle;
}

std::size_t EventFeed::listeners() const {
  const MutexLock lock(&mutex_);
  return static_cast<std::size_t>(
      std::count_if(listeners_.begin(), listeners_.end(),
                    [](const auto& listener) { return !listener.expired(); }));
}

// The listeners that are still there; without one the feed closes.
std::vector<EventFeed::Handle> EventFeed::Alive() {
  std::vector<Handle> alive;
  const MutexLock lock(&mutex_);
  std::erase_if(listeners_, [&alive](const std::weak_ptr<const Listener>& listener) {
    if (Handle handle = listener.lock()) {
      alive.push_back(std::move(handle));
      return false;
    }
    return true;
  });
  if (alive.empty()) {
    open_ = false;
    ring_.clear();
    begin_ = end_;
  }
  return alive;
}

void EventFeed::Take(const std::vector<EventNote>& notes, Version version) {
  std::vector<CloudEventPtr> made;
  made.reserve(notes.size());
  for (const EventNote& note : notes) {
    made.push_back(std::make_shared<const CloudEvent>(MakeCloudEvent(note, cluster_)));
  }
  const MutexLock lock(&mutex_);
  if (lost_) {
    lost_ = false;
    ring_.clear();
    made.clear();
    begin_ = std::max(begin_, version);
  }
  ring_.insert(ring_.end(), made.begin(), made.end());
  while (ring_.size() > kEventsMax) {
    begin_ = ring_.front()->version.Next();
    ring_.pop_front();
  }
  end_ = std::max(end_, version);
}

void EventFeed::Run() {
  while (true) {
    std::vector<EventNote> notes;
    Version version;
    bool dismissed = false;
    {
      const MutexLock lock(&mutex_);
      bool waited = false;
      while (!fresh_ && !stopping_ && !waited) {
        if (listeners_.empty()) {
          changed_.Wait(&mutex_);
        } else {
          waited = !changed_.WaitFor(&mutex_, kLookEvery);
        }
      }
      if (stopping_) {
        return;
      }
      fresh_ = false;
      notes.swap(notes_);
      version = noted_;
      dismissed = std::exchange(dismissed_, false);
    }
    Take(notes, version);
    const std::vector<Handle> alive = Alive();
    for (const Handle& listener : alive) {
      (dismissed ? listener->dismissed : listener->news)();
    }
    const MutexLock lock(&mutex_);
    if (!stopping_) {  // what comes meanwhile goes out together
      stops_.WaitFor(&mutex_, kPaceLeast + kPaceOfEach * static_cast<std::int64_t>(alive.size()));
    }
  }
}

}  // namespace muster::daemon
