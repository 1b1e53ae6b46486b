#include "scheduler/runtime/event_loop.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"

namespace muster {
namespace {

// epoll carries one 64-bit word per descriptor; these two are the loop's own, watchers' tokens
// start above.
constexpr uint64_t kWakeToken = 0;
constexpr uint64_t kTimerToken = 1;
constexpr uint64_t kFirstWatcherToken = 2;

absl::Status AddToEpoll(int epoll, int operation, int fd, uint32_t events, uint64_t token) {
  epoll_event event = {};
  event.events = events;
  event.data.u64 = token;
  if (epoll_ctl(epoll, operation, fd, &event) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot watch descriptor ", fd));
  }
  return absl::OkStatus();
}

// Empties an eventfd or a timerfd; both are non-blocking, so an empty one is no error.
void Drain(int fd) {
  uint64_t count = 0;
  while (read(fd, &count, sizeof(count)) < 0 && errno == EINTR) {
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<EventLoop>> EventLoop::Create() {
  UniqueFd epoll(epoll_create1(EPOLL_CLOEXEC));
  UniqueFd wake(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  UniqueFd timer(timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!epoll.valid() || !wake.valid() || !timer.valid()) {
    return absl::ErrnoToStatus(errno, "cannot make an event loop");
  }
  RETURN_IF_ERROR(AddToEpoll(epoll.get(), EPOLL_CTL_ADD, wake.get(), EPOLLIN, kWakeToken));
  RETURN_IF_ERROR(AddToEpoll(epoll.get(), EPOLL_CTL_ADD, timer.get(), EPOLLIN, kTimerToken));
  return std::unique_ptr<EventLoop>(
      new EventLoop(std::move(epoll), std::move(wake), std::move(timer)));
}

EventLoop::EventLoop(UniqueFd epoll, UniqueFd wake, UniqueFd timer)
    : epoll_(std::move(epoll)),
      wake_(std::move(wake)),
      timer_(std::move(timer)),
      next_token_(kFirstWatcherToken) {}

absl::Status EventLoop::Watch(int fd, uint32_t events, FdCallback callback) {
  if (watchers_.count(fd) != 0) {
    return absl::AlreadyExistsError(absl::StrCat("descriptor ", fd, " is watched already"));
  }
  const uint64_t token = next_token_++;
  RETURN_IF_ERROR(AddToEpoll(epoll_.get(), EPOLL_CTL_ADD, fd, events, token));
  watchers_[fd] = Watcher{.token = token, .callback = std::move(callback)};
  fd_of_token_[token] = fd;
  return absl::OkStatus();
}

absl::Status EventLoop::SetEvents(int fd, uint32_t events) {
  const auto found = watchers_.find(fd);
  if (found == watchers_.end()) {
    return absl::NotFoundError(absl::StrCat("descriptor ", fd, " is not watched"));
  }
  return AddToEpoll(epoll_.get(), EPOLL_CTL_MOD, fd, events, found->second.token);
}

void EventLoop::Unwatch(int fd) {
  const auto found = watchers_.find(fd);
  if (found == watchers_.end()) {
    return;
  }
  // A descriptor closed before Unwatch() has left epoll already; that is all this call could fail
  // on.
  epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
  fd_of_token_.erase(found->second.token);
  watchers_.erase(found);
}

EventLoop::TimerId EventLoop::RunAfter(std::chrono::nanoseconds delay, Closure closure) {
  const TimerId id{next_timer_++};
  const SteadyTime due = clock_.SteadyNow() + delay;
  timers_[{due, id}] = std::move(closure);
  due_of_timer_[id] = due;
  ArmTimer();
  return id;
}

void EventLoop::Cancel(TimerId timer) {
  const auto found = due_of_timer_.find(timer);
  if (found == due_of_timer_.end()) {
    return;
  }
  timers_.erase({found->second, timer});
  due_of_timer_.erase(found);
  ArmTimer();
}

void EventLoop::Post(Closure closure) {
  bool first = false;
  {
    MutexLock lock(&mutex_);
    first = posted_.empty();
    posted_.push_back(std::move(closure));
  }
  if (first) {
    const uint64_t one = 1;
    // The write fails only when the counter is full, and then the loop is awake already.
    while (write(wake_.get(), &one, sizeof(one)) < 0 && errno == EINTR) {
    }
  }
}

absl::Status EventLoop::Run() {
  stopped_ = false;
  while (!stopped_) {
    RETURN_IF_ERROR(Turn());
  }
  return absl::OkStatus();
}

absl::Status EventLoop::Turn() {
  std::array<epoll_event, 64> ready = {};
  const int count =
      epoll_wait(epoll_.get(), ready.data(), static_cast<int>(ready.size()), /*timeout=*/-1);
  if (count < 0) {
    return errno == EINTR ? absl::OkStatus() : absl::ErrnoToStatus(errno, "cannot wait for events");
  }
  const auto begun = std::chrono::steady_clock::now();
  for (size_t i = 0; i < static_cast<size_t>(count) && !stopped_; ++i) {
    const uint64_t token = ready.at(i).data.u64;
    if (token == kWakeToken) {
      RunPosted();
    } else if (token == kTimerToken) {
      RunDueTimers();
    } else if (const auto found = fd_of_token_.find(token); found != fd_of_token_.end()) {
      Dispatch(found->second, token, ready.at(i).events);
    }
  }
  const auto took = std::chrono::steady_clock::now() - begun;
  if (held_up_ && took >= held_up_limit_) {
    held_up_(std::chrono::floor<std::chrono::milliseconds>(took));
  }
  return absl::OkStatus();
}

void EventLoop::Dispatch(int fd, uint64_t token, uint32_t events) {
  // The callback may Unwatch() itself; it must not be destroyed while it runs.
  FdCallback callback = std::move(watchers_.at(fd).callback);
  callback(events);
  const auto found = watchers_.find(fd);
  if (found != watchers_.end() && found->second.token == token) {
    found->second.callback = std::move(callback);
  }
}

void EventLoop::RunPosted() {
  Drain(wake_.get());
  std::vector<Closure> batch;
  {
    MutexLock lock(&mutex_);
    batch.swap(posted_);
  }
  size_t done = 0;
  while (done < batch.size() && !stopped_) {
    batch[done++]();
  }
  if (done == batch.size()) {
    return;
  }
  // Stopped midway: what is left goes back in front, for a later Run().
  batch.erase(batch.begin(), batch.begin() + static_cast<std::ptrdiff_t>(done));
  {
    MutexLock lock(&mutex_);
    batch.insert(batch.end(), std::make_move_iterator(posted_.begin()),
                 std::make_move_iterator(posted_.end()));
    posted_.swap(batch);
  }
  const uint64_t one = 1;
  while (write(wake_.get(), &one, sizeof(one)) < 0 && errno == EINTR) {
  }
}

void EventLoop::RunDueTimers() {
  Drain(timer_.get());
  armed_for_ = SteadyTime::max();
  // Only what was due when the turn began: a timer that re-arms itself at once cannot starve the
  // descriptors.
  const SteadyTime now = clock_.SteadyNow();
  const TimerId newest{next_timer_};
  while (!stopped_) {
    const auto first = std::find_if(timers_.begin(), timers_.end(), [newest](const auto& timer) {
      return timer.first.second < newest;
    });
    if (first == timers_.end() || first->first.first > now) {
      break;
    }
    const Closure closure = std::move(first->second);
    due_of_timer_.erase(first->first.second);
    timers_.erase(first);
    closure();
  }
  ArmTimer();
}

void EventLoop::ArmTimer() {
  const SteadyTime due = timers_.empty() ? SteadyTime::max() : timers_.begin()->first.first;
  if (due == armed_for_) {
    return;
  }
  itimerspec when = {};  // All zero disarms.
  if (due != SteadyTime::max()) {
    // Zero would disarm, so an instant at or before boot becomes the first nanosecond after it.
    const auto since_boot = std::max(due.time_since_epoch(), std::chrono::nanoseconds(1));
    when.it_value.tv_sec = std::chrono::floor<std::chrono::seconds>(since_boot).count();
    when.it_value.tv_nsec = (since_boot % std::chrono::seconds(1)).count();
  }
  MUSTER_CHECK(timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &when, nullptr) == 0);
  armed_for_ = due;
}

OwnTimers::~OwnTimers() {
  for (const auto& [number, timer] : waiting_) {
    loop_.Cancel(timer);
  }
}

void OwnTimers::After(std::chrono::nanoseconds delay, EventLoop::Closure action) {
  const uint64_t number = next_++;
  waiting_[number] = loop_.RunAfter(delay, [this, number, action = std::move(action)] {
    waiting_.erase(number);
    action();
  });
}

}  // namespace muster
