#pragma once

// Whose long read is served next: each user has a few at once, the rest of theirs wait.
//
// A list of many jobs takes the controller's thread and then the reader's. Without turns, one user
// who asks with many threads fills both, and everybody else waits behind. Thread promise: safe from
// any thread; a read begins on the thread of the one that asked, or of the one that ended.
// Invariants: (1) of a user at most kAtOnce reads run; (2) a user's reads begin in the order in
// which they came; (3) one user's reads never wait for another's; (4) what waits is bounded for
// each user.

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <unordered_map>

#include "scheduler/runtime/mutex.h"

namespace muster::daemon {

class ReadQueue {
 public:
  static constexpr std::size_t kAtOnce = 4;
  static constexpr std::size_t kWaitingMax = 256;
  // Held by a read until it has answered; the next of that user begins when the last copy goes.
  using Turn = std::shared_ptr<const void>;
  using Read = std::function<void(Turn turn)>;

  ReadQueue() = default;
  ReadQueue(const ReadQueue&) = delete;
  ReadQueue& operator=(const ReadQueue&) = delete;

  // Begins the read of user `uid`, now or when it is its turn. False, and never begun, when too
  // many of theirs wait already. The turns outlive no read: the caller sees to that.
  [[nodiscard]] bool Take(std::uint32_t uid, Read read);

  // How many reads of the user wait.
  [[nodiscard]] std::size_t Waiting(std::uint32_t uid) const;

 private:
  struct User {
    std::size_t running = 0;
    std::deque<Read> waiting;
  };
  Turn MakeTurn(std::uint32_t uid);
  void End(std::uint32_t uid);
  // One read of the user has ended.
  void BeginNext(std::uint32_t uid);

  mutable Mutex mutex_;
  std::unordered_map<std::uint32_t, User> users_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace muster::daemon
