#include "daemon/door/framed_door.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "scheduler/base/little_endian.h"

namespace muster::daemon {
namespace {

constexpr std::uint64_t kOver = 0;  // the event's tag

}  // namespace

// One connection: the thread reads of it, whoever answers writes to it.
struct FramedDoor::Connection final : FramedDoor::Outlet {
  std::uint64_t id = 0;
  int epoll = -1;
  HandOver other;
  bool ours = false;
  std::string in;                     // of kMagic, then of the frame that is being read
  std::size_t needed = kNumberBytes;  // bytes of it, as far as is known

  Mutex mutex;
  UniqueFd fd ABSL_GUARDED_BY(mutex);
  bool answered ABSL_GUARDED_BY(mutex) = false;  // the magic is sent
  std::string out ABSL_GUARDED_BY(mutex);        // what the client has not taken yet
  // Of a call with many messages.
  bool streams ABSL_GUARDED_BY(mutex) = false;
  std::function<void(bool)> taken ABSL_GUARDED_BY(mutex);
  std::function<void()> ended ABSL_GUARDED_BY(mutex);
  std::function<void()> gone ABSL_GUARDED_BY(mutex);

  void Watch(std::uint32_t events) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    epoll_event event{};
    event.events = events;
    event.data.u64 = id;
    epoll_ctl(epoll, EPOLL_CTL_MOD, fd.get(), &event);
  }

  // Sends what the client takes now.
  void Push() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    std::size_t sent = 0;
    while (sent < out.size()) {
      const ssize_t some =
          send(fd.get(), out.data() + sent, out.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (some < 0 && errno == EINTR) {
        continue;
      }
      if (some < 0) {
        break;
      }
      sent += static_cast<std::size_t>(some);
    }
    out.erase(0, sent);
    if (out.empty()) {
      out.shrink_to_fit();
    }
  }

  void Add(std::uint32_t code, std::string_view text, std::string_view reply)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    if (!std::exchange(answered, true)) {
      out = kMagic;
    }
    PutNumber(2 * kNumberBytes + text.size() + reply.size(), out);
    PutNumber(code, out);
    PutNumber(text.size(), out);
    out.append(text);
    out.append(reply);
    Push();
  }

  // Waits for the next request when the client has taken all.
  void Answer(std::uint32_t code, std::string_view text, std::string_view reply) {
    const MutexLock lock(&mutex);
    if (fd.valid()) {
      Add(code, text, reply);
      Watch(out.empty() ? EPOLLIN : EPOLLOUT);
    }
  }

  // The thread hears that the socket takes more, and calls `taken` and `ended`.
  void Send(const std::string& message, std::function<void(bool ok)> then) override {
    const MutexLock lock(&mutex);
    taken = std::move(then);
    if (fd.valid()) {
      Add(kMoreComes, "", message);
      Watch(EPOLLOUT);
    }
  }
  void End(std::uint32_t code, const std::string& text, std::function<void()> done) override {
    const MutexLock lock(&mutex);
    ended = std::move(done);
    if (fd.valid()) {
      Add(code, text, "");
      Watch(EPOLLOUT);
    }
  }
  void WhenGone(std::function<void()> then) override {
    const MutexLock lock(&mutex);
    streams = true;
    gone = std::move(then);
  }

  // The socket takes more.
  void GoOn() {
    std::function<void(bool)> now_taken;
    std::function<void()> now_ended;
    {
      const MutexLock lock(&mutex);
      Push();
      if (!out.empty()) {
        return;
      }
      now_taken = std::exchange(taken, nullptr);
      now_ended = std::exchange(ended, nullptr);
      streams = streams && now_ended == nullptr;
      if (!streams) {
        gone = nullptr;
      }
      Watch(streams ? 0U : static_cast<std::uint32_t>(EPOLLIN));
    }
    Call(now_taken, true, now_ended);
  }

  // The client has gone, or is to go.
  void Close() {
    std::function<void()> now_gone;
    {
      const MutexLock lock(&mutex);
      fd.reset();
      now_gone = std::exchange(gone, nullptr);
    }
    if (now_gone) {
      now_gone();
    }
    std::function<void(bool)> now_taken;
    std::function<void()> now_ended;
    {
      const MutexLock lock(&mutex);
      now_taken = std::exchange(taken, nullptr);
      now_ended = std::exchange(ended, nullptr);
    }
    Call(now_taken, false, now_ended);
  }

  static void Call(const std::function<void(bool)>& taken, bool ok,
                   const std::function<void()>& ended) {
    if (taken) {
      taken(ok);
    }
    if (ended) {
      ended();
    }
  }
};

FramedDoor::FramedDoor(Serve serve, ServeStream stream)
    : serve_(std::move(serve)), stream_(std::move(stream)) {}

FramedDoor::~FramedDoor() {
  Stop();
}

absl::Status FramedDoor::Start() {
  epoll_.reset(epoll_create1(EPOLL_CLOEXEC));
  over_.reset(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!epoll_.valid() || !over_.valid()) {
    return absl::ErrnoToStatus(errno, "cannot wait for connections");
  }
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = kOver;
  epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, over_.get(), &event);
  thread_ = std::thread([this] { Run(); });
  return absl::OkStatus();
}

void FramedDoor::Stop() {
  if (!thread_.joinable()) {
    return;
  }
  {
    const MutexLock lock(&mutex_);
    stopped_ = true;
  }
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(over_.get(), &one, sizeof(one));
  thread_.join();
  std::map<std::uint64_t, Shared> rest;
  {
    const MutexLock lock(&mutex_);
    rest.swap(connections_);
  }
  for (const auto& [id, connection] : rest) {
    connection->Close();
  }
}

void FramedDoor::Take(UniqueFd fd, HandOver other) {
  auto connection = std::make_shared<Connection>();
  const MutexLock lock(&mutex_);
  if (stopped_ || !epoll_.valid()) {
    return;
  }
  connection->id = next_++;
  connection->epoll = epoll_.get();
  connection->other = std::move(other);
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = connection->id;
  const int descriptor = fd.get();
  {
    const MutexLock own(&connection->mutex);
    connection->fd = std::move(fd);
  }
  connections_[connection->id] = connection;
  epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, descriptor, &event);
}

void FramedDoor::Run() {
  std::array<epoll_event, 64> events{};
  while (true) {
    const int found = epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), -1);
    for (int i = 0; i < found; ++i) {
      const epoll_event& event = events[static_cast<std::size_t>(i)];
      if (event.data.u64 != kOver) {
        OnEvent(event.data.u64, event.events);
      }
    }
    const MutexLock lock(&mutex_);
    if (stopped_) {
      return;
    }
  }
}

void FramedDoor::OnEvent(std::uint64_t id, std::uint32_t events) {
  Shared connection;
  {
    const MutexLock lock(&mutex_);
    const auto found = connections_.find(id);
    if (found == connections_.end()) {
      return;
    }
    connection = found->second;
  }
  if ((events & EPOLLIN) != 0) {
    const Look look = connection->ours ? ReadFrame(connection) : LookAtFirstBytes(*connection);
    if (look == Look::kOver) {
      Drop(id);
    }
    return;
  }
  if ((events & EPOLLOUT) != 0 && (events & (EPOLLHUP | EPOLLERR)) == 0) {
    connection->GoOn();
    return;
  }
  Drop(id);
}

// No call of gRPC's begins as kMagic does, so the first byte says whose a connection is. What was
// read of kMagic is kept: bytes that stay in the socket would wake the thread again and again.
FramedDoor::Look FramedDoor::LookAtFirstBytes(Connection& connection) {
  std::array<char, kMagic.size()> bytes{};
  std::string& in = connection.in;
  UniqueFd theirs;
  {
    const MutexLock lock(&connection.mutex);
    const int fd = connection.fd.get();
    if (in.empty()) {
      const ssize_t there = recv(fd, bytes.data(), 1, MSG_PEEK | MSG_DONTWAIT);
      if (there <= 0) {
        return there < 0 && (errno == EAGAIN || errno == EINTR) ? Look::kMore : Look::kOver;
      }
    }
    if (!in.empty() || bytes.front() == kMagic.front()) {
      const ssize_t got = recv(fd, bytes.data(), kMagic.size() - in.size(), MSG_DONTWAIT);
      if (got <= 0) {
        return got < 0 && (errno == EAGAIN || errno == EINTR) ? Look::kMore : Look::kOver;
      }
      in.append(bytes.data(), static_cast<std::size_t>(got));
      connection.ours = in == kMagic;
      const bool may_be = kMagic.substr(0, in.size()) == in;
      if (connection.ours) {
        in.clear();
      }
      return may_be ? Look::kMore : Look::kOver;
    }
    epoll_ctl(connection.epoll, EPOLL_CTL_DEL, fd, nullptr);
    theirs = std::move(connection.fd);
  }
  connection.other(std::move(theirs));
  return Look::kOver;
}

FramedDoor::Look FramedDoor::ReadFrame(const Shared& connection) {
  while (true) {
    const std::size_t have = connection->in.size();
    connection->in.resize(connection->needed);
    ssize_t got = 0;
    {
      const MutexLock lock(&connection->mutex);
      got = recv(connection->fd.get(), connection->in.data() + have, connection->needed - have,
                 MSG_DONTWAIT);
    }
    const int error = errno;
    connection->in.resize(have + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got <= 0) {
      return got < 0 && (error == EAGAIN || error == EINTR) ? Look::kMore : Look::kOver;
    }
    if (connection->in.size() < connection->needed) {
      continue;
    }
    if (connection->needed > kNumberBytes) {
      return TakeFrame(connection);
    }
    const std::size_t length = NumberAt(connection->in, 0);
    if (length < kNumberBytes || length > kRequestBytesMax) {
      return Look::kOver;
    }
    connection->needed = kNumberBytes + length;
  }
}

// Nothing more is read until the call is answered.
FramedDoor::Look FramedDoor::TakeFrame(const Shared& connection) {
  std::string frame;
  frame.swap(connection->in);
  connection->needed = kNumberBytes;
  const std::size_t name = NumberAt(frame, kNumberBytes);
  if (name > frame.size() - 2 * kNumberBytes) {
    return Look::kOver;
  }
  {
    const MutexLock lock(&connection->mutex);
    connection->Watch(0);
  }
  std::string method = frame.substr(2 * kNumberBytes, name);
  frame.erase(0, 2 * kNumberBytes + name);
  if (stream_ != nullptr && stream_(method, frame, connection)) {
    return Look::kMore;
  }
  serve_(std::move(method), std::move(frame),
         [connection](std::uint32_t code, const std::string& text, const std::string& reply) {
           connection->Answer(code, text, reply);
         });
  return Look::kMore;
}

void FramedDoor::Drop(std::uint64_t id) {
  Shared connection;
  {
    const MutexLock lock(&mutex_);
    const auto found = connections_.find(id);
    if (found == connections_.end()) {
      return;
    }
    connection = found->second;
    connections_.erase(found);
  }
  connection->Close();
}

}  // namespace muster::daemon
