#pragma once

// One thread's loop over descriptors, timers and closures posted from elsewhere (epoll, timerfd,
// eventfd).
//
// The agent and the supervisor are each one object that lives on such a loop: state needs no lock
// because only the thread in Run() touches it. Timers count CLOCK_BOOTTIME, so a suspended machine
// fires them when it wakes. Thread promise: Post() from any thread; everything else only from the
// owner, which is the thread in Run() or, before Run(), the one that made the loop. Invariants: a
// callback never runs after its Unwatch() or Cancel() returned; posted closures run in order.

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "scheduler/runtime/clock.h"
#include "scheduler/runtime/mutex.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster {

class EventLoop {
 public:
  using Closure = std::function<void()>;
  using FdCallback = std::function<void(uint32_t events)>;
  enum class TimerId : uint64_t {};

  // Fails only when the process has no descriptors left.
  static absl::StatusOr<std::unique_ptr<EventLoop>> Create();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  // Calls `callback` with the ready EPOLL* bits while any of `events` holds (level-triggered;
  // EPOLLHUP and EPOLLERR always come too). The descriptor stays the caller's: Unwatch() before
  // closing it. AlreadyExists when watched.
  absl::Status Watch(int fd, uint32_t events, FdCallback callback);
  // Changes which events of a watched descriptor are waited for. NotFound when it is not watched.
  absl::Status SetEvents(int fd, uint32_t events);
  // Forgets a descriptor; harmless when it is not watched.
  void Unwatch(int fd);

  // Runs `closure` once, `delay` from now; a delay of zero or less means the loop's next round.
  TimerId RunAfter(std::chrono::nanoseconds delay, Closure closure);
  // Forgets a timer; harmless when it has fired.
  void Cancel(TimerId timer);

  // Runs `closure` on the owner thread in a later round of the loop. Safe from any thread.
  void Post(Closure closure);

  // Calls `told` after a round of callbacks that took `limit` or longer: something that should not
  // wait has waited, such as for a disk.
  using HeldUp = std::function<void(std::chrono::milliseconds took)>;
  static constexpr std::chrono::seconds kHeldUp{5};  // what is worth a line in a log
  void WhenHeldUp(std::chrono::milliseconds limit, HeldUp told) {
    held_up_limit_ = limit;
    held_up_ = std::move(told);
  }

  // Runs until Stop(). Returns an error only when the kernel refuses to wait.
  absl::Status Run();
  // Ends Run() after the current callback. From another thread: Post([&] { loop.Stop(); }).
  void Stop() { stopped_ = true; }

 private:
  // A descriptor number may be closed, reused and watched again within one round; the token tells
  // the two apart.
  struct Watcher {
    uint64_t token = 0;
    FdCallback callback;
  };

  EventLoop(UniqueFd epoll, UniqueFd wake, UniqueFd timer);

  absl::Status Turn();
  void Dispatch(int fd, uint64_t token, uint32_t events);
  void RunPosted();
  void RunDueTimers();
  void ArmTimer();

  const SystemClock clock_;
  const UniqueFd epoll_;
  const UniqueFd wake_;
  const UniqueFd timer_;
  bool stopped_ = false;
  uint64_t next_token_ = 1;
  uint64_t next_timer_ = 1;
  std::map<int, Watcher> watchers_;
  std::map<uint64_t, int> fd_of_token_;
  std::map<std::pair<SteadyTime, TimerId>, Closure> timers_;  // In firing order.
  std::map<TimerId, SteadyTime> due_of_timer_;
  SteadyTime armed_for_ = SteadyTime::max();
  std::chrono::milliseconds held_up_limit_{0};
  HeldUp held_up_;

  Mutex mutex_;
  std::vector<Closure> posted_ ABSL_GUARDED_BY(mutex_);
};

// Timers that go with their owner, which the loop calls back later, once or again and again: what
// is still to come when this goes is cancelled. For the loop's owner.
class OwnTimers {
 public:
  explicit OwnTimers(EventLoop& loop) : loop_(loop) {}
  OwnTimers(const OwnTimers&) = delete;
  OwnTimers& operator=(const OwnTimers&) = delete;
  ~OwnTimers();

  // Runs `action` once, `delay` from now. It may destroy this.
  void After(std::chrono::nanoseconds delay, EventLoop::Closure action);

 private:
  EventLoop& loop_;
  uint64_t next_ = 0;
  std::map<uint64_t, EventLoop::TimerId> waiting_;
};

}  // namespace muster
