#include "daemon/door/acceptor.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "daemon/door/listening_socket.h"
#include "daemon/door/socket_facts.h"

namespace muster::daemon {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr const char* kComponent = "access";
constexpr std::uint64_t kWord = 0;
constexpr std::uint64_t kFirstConnection = 1ULL << 32U;  // below: the doors
constexpr int kAcceptedAtOnce = 32;
constexpr std::size_t kMadeRoomAtOnce = 64;
constexpr milliseconds kOutOfDescriptors{100};
constexpr milliseconds kNothingLeft{5};
constexpr milliseconds kTurningAway{20};
constexpr milliseconds kTellEvery{10'000};
constexpr milliseconds kUntilToldSo{200};  // the refusal of a call takes some time to its caller
constexpr int kLookAtBytesMs = 3;
constexpr int kLookAtDeadlinesMs = 100;
constexpr std::size_t kSourcesTold = 3;
constexpr std::size_t kSourcesCounted = 1024;

// As whom the connections of a unix socket's caller are counted; empty: without a bound.
std::string BoundedPeerOf(int fd) {
  ucred peer{};
  socklen_t size = sizeof(peer);
  const bool bounded = getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
                       peer.uid != 0 && peer.uid != getuid();
  return bounded ? absl::StrCat("uid ", peer.uid) : "";
}

bool IsOutOfDescriptors(int error) {
  return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

void SetLowWater(int fd, int bytes) {
  setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &bytes, sizeof(bytes));
}

}  // namespace

Acceptor::Acceptor(const Logger& log, const Clock& clock, const ConnectionLimits& limits)
    : log_(log), clock_(clock), limits_(limits), sources_(limits), next_id_(kFirstConnection) {}

Acceptor::~Acceptor() {
  Stop();
}

void Acceptor::Add(UniqueFd listening, Kind kind, HandOver hand_over) {
  Prepare(listening);
  auto door = std::make_unique<Door>();
  door->socket = std::move(listening);
  door->kind = kind;
  door->hand_over = std::move(hand_over);
  doors_.push_back(std::move(door));
}

void Acceptor::Watch(int operation, int fd, std::uint32_t events, std::uint64_t tag) const {
  epoll_event event{};
  event.events = events;
  event.data.u64 = tag;
  epoll_ctl(epoll_.get(), operation, fd, &event);
}

absl::Status Acceptor::Start() {
  epoll_.reset(epoll_create1(EPOLL_CLOEXEC));
  word_.reset(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  spare_.reset(open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!epoll_.valid() || !word_.valid() || !spare_.valid()) {
    return absl::ErrnoToStatus(errno, "cannot wait for connections");
  }
  Watch(EPOLL_CTL_ADD, word_.get(), EPOLLIN, kWord);
  for (std::size_t i = 0; i < doors_.size(); ++i) {
    Watch(EPOLL_CTL_ADD, doors_[i]->socket.get(), EPOLLIN, i + 1);
  }
  ReadLimit();
  thread_ = std::thread([this] { Serve(); });
  return absl::OkStatus();
}

void Acceptor::Stop() {
  if (!thread_.joinable()) {
    return;
  }
  over_ = true;
  Wake();
  thread_.join();
  for (const auto& [id, connection] : strangers_) {
    shutdown(connection.fd.get(), SHUT_RDWR);
  }
  strangers_.clear();
  doors_.clear();  // who calls from now on is served by the next controller
}

void Acceptor::Wake() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(word_.get(), &one, sizeof(one));
}

bool Acceptor::Know(const std::string& peer, const std::string& caller) {
  bool refused = false;
  {
    const MutexLock lock(&mutex_);
    const auto found = peers_.find(PeerText(peer));
    if (found == peers_.end()) {
      return true;
    }
    refused = !known_.Claim(caller);
    admitted_.push_back({found->second, caller, refused});
    if (!refused) {
      peers_.erase(found);
    }
  }
  Wake();
  return !refused;
}

std::vector<std::string> Acceptor::Strangers() const {
  const MutexLock lock(&mutex_);
  std::vector<std::string> strangers;
  for (const auto& [peer, id] : peers_) {
    strangers.push_back(peer);
  }
  std::sort(strangers.begin(), strangers.end());
  return strangers;
}

Acceptor::Counts Acceptor::counts() const {
  const MutexLock lock(&mutex_);
  return counts_;
}

int Acceptor::PauseMs() const {
  const milliseconds asleep =
      asleep_until_ > now_
          ? std::chrono::duration_cast<milliseconds>(asleep_until_ - now_) + milliseconds(1)
          : milliseconds(1000);
  const int look =
      !greeted_.empty() ? kLookAtBytesMs : (!waiting_.empty() ? kLookAtDeadlinesMs : 1000);
  return std::min(look, static_cast<int>(asleep.count()));
}

void Acceptor::Serve() {
  std::array<epoll_event, 64> events{};
  while (true) {
    const int found =
        epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), PauseMs());
    now_ = clock_.SteadyNow();
    TakeKnown();
    if (over_) {
      return;
    }
    for (int i = 0; i < found; ++i) {
      const std::uint64_t tag = events[static_cast<std::size_t>(i)].data.u64;
      if (tag >= kFirstConnection) {
        OnConnection(tag, events[static_cast<std::size_t>(i)].events);
      } else if (tag != kWord) {
        OnDoor(*doors_[tag - 1]);
      }
    }
    LookAtGreeted();
    LookAtDeadlines();
    GreetWhoIsReady();
    EverySecond();
    const MutexLock lock(&mutex_);
    counts_.waiting = waiting_.size();
    counts_.greeted = greeted_.size();
    counts_.known = known_.size();
  }
}

void Acceptor::OnDoor(Door& door) {
  for (int i = 0; i < kAcceptedAtOnce && !door.asleep; ++i) {
    sockaddr_storage peer{};
    socklen_t size = sizeof(peer);
    UniqueFd caller(accept4(door.socket.get(), reinterpret_cast<sockaddr*>(&peer), &size,
                            SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!caller.valid()) {
      if (IsOutOfDescriptors(errno) && OutOfDescriptors(door)) {
        continue;
      }
      return;
    }
    if (door.kind == Kind::kUnix) {
      TakeUnix(door, std::move(caller));
    } else {
      TakeStranger(door, std::move(caller), peer);
    }
  }
}

// Whether to try again at once. Strangers make room first; when there are none, whoever is first in
// the queue is told that nobody serves him, so that the queue moves.
bool Acceptor::OutOfDescriptors(Door& door) {
  const std::size_t room = std::min(kMadeRoomAtOnce, waiting_.size());
  for (std::size_t i = 0; i < room; ++i) {
    Close(*waiting_.begin(), Why::kDescriptors);
  }
  if (room > 0) {
    return true;
  }
  if (!greeted_.empty()) {
    Close(*greeted_.begin(), Why::kDescriptors);
    return true;
  }
  spare_.reset();
  UniqueFd caller(accept4(door.socket.get(), nullptr, nullptr, SOCK_CLOEXEC));
  ++closed_[Why::kDescriptors];
  if (!caller.valid()) {
    std::this_thread::sleep_for(kNothingLeft);  // somebody took the spare one: do not spin
  }
  caller.reset();
  spare_.reset(open("/dev/null", O_RDONLY | O_CLOEXEC));
  Sleep(kOutOfDescriptors);
  return false;
}

// TCP waits in the kernel's queues for a moment; unix sockets do not.
void Acceptor::Sleep(milliseconds pause) {
  asleep_until_ = std::max(asleep_until_, now_ + pause);
  for (std::size_t i = 0; i < doors_.size(); ++i) {
    if (doors_[i]->kind != Kind::kUnix && !doors_[i]->asleep) {
      doors_[i]->asleep = true;
      Watch(EPOLL_CTL_MOD, doors_[i]->socket.get(), 0, i + 1);
    }
  }
}

void Acceptor::TakeUnix(Door& door, UniqueFd fd) {
  const auto full = [this] {
    return known_.of_unix() >= of_unix_ &&
           waiting_.size() + 2 * greeted_.size() + known_.size() >= room_;
  };
  if (full()) {
    known_.Look();
  }
  if (full()) {
    ++closed_[Why::kDescriptors];
    return;
  }
  std::string caller = BoundedPeerOf(fd.get());
  if (!known_.Claim(caller)) {
    ++closed_[Why::kCaller];
    return;
  }
  known_.Add(fd.get(), CookieOf(fd.get()), true, std::move(caller));
  door.hand_over(std::move(fd));
}

bool Acceptor::MakeRoom(const std::string& source) {
  if (sources_.Full(source)) {
    const std::uint64_t oldest = sources_.OldestWaiting(source);
    if (oldest == 0) {
      return false;
    }
    Close(oldest, Why::kCrowd);
  }
  const std::size_t tcp = waiting_.size() + 2 * greeted_.size() + known_.size() - known_.of_unix();
  if (strangers_.size() < limits_.strangers && tcp + std::max(known_.of_unix(), of_unix_) < room_) {
    return true;
  }
  if (waiting_.empty()) {
    return false;
  }
  Close(*waiting_.begin(), Why::kCrowd);
  return true;
}

void Acceptor::TakeStranger(Door& door, UniqueFd fd, const sockaddr_storage& peer) {
  Connection connection;
  connection.source = SourceOf(fd.get(), peer);
  if (!MakeRoom(connection.source)) {
    ++closed_[Why::kCrowd];
    ++turned_away_now_;
    if (closed_of_.size() < kSourcesCounted) {
      ++closed_of_[connection.source];
    }
    const MutexLock lock(&mutex_);
    ++counts_.turned_away;
    return;
  }
  LimitWindow(fd.get(), static_cast<int>(limits_.first_bytes));
  const std::uint64_t id = next_id_++;
  connection.fd = std::move(fd);
  connection.door = &door;
  connection.peer = PeerText(peer);
  connection.since = now_;
  Watch(EPOLL_CTL_ADD, connection.fd.get(), EPOLLIN | EPOLLRDHUP, id);
  sources_.Wait(connection.source, id);
  waiting_.insert(id);
  strangers_.emplace(id, std::move(connection));
}

void Acceptor::OnConnection(std::uint64_t id, std::uint32_t events) {
  const auto found = strangers_.find(id);
  if (found == strangers_.end()) {
    return;
  }
  if ((events & (EPOLLHUP | EPOLLERR | EPOLLRDHUP)) != 0) {
    Close(id, Why::kGone);
  } else if (!found->second.greeted && !found->second.ready) {
    LookAtFirstBytes(id, found->second);
  }
}

void Acceptor::LookAtFirstBytes(std::uint64_t id, Connection& connection) {
  std::array<char, 32> first{};
  const int fd = connection.fd.get();
  const ssize_t got = recv(fd, first.data(), first.size(), MSG_PEEK | MSG_DONTWAIT);
  if (got < 0) {
    return;
  }
  const int needed = FirstBytesNeeded({first.data(), static_cast<std::size_t>(got)},
                                      connection.door->kind == Kind::kTls);
  if (needed < 0 || got == 0) {
    Close(id, Why::kNoCaller);
    return;
  }
  std::array<char, kFirstBytesMax> whole{};
  const bool there =
      needed <= static_cast<int>(got) ||
      recv(fd, whole.data(), static_cast<std::size_t>(needed), MSG_PEEK | MSG_DONTWAIT) >= needed;
  SetLowWater(fd, there ? 1 : needed);
  if (there) {
    connection.ready = true;
    ready_.insert(id);
    Watch(EPOLL_CTL_MOD, fd, EPOLLRDHUP, id);
  }
}

bool Acceptor::MayGreet(const Connection& connection) {
  if (!sources_.MayFail(connection.source, now_)) {
    return false;
  }
  std::uint64_t in_the_way = 0;
  if (sources_.GreetedFull(connection.source)) {
    in_the_way = sources_.OldestGreeted(connection.source);
  } else if (greeted_.size() >= limits_.greeted) {
    in_the_way = *greeted_.begin();
  }
  if (in_the_way != 0) {
    if (now_ - strangers_.at(in_the_way).greeted_at < limits_.patience) {
      return false;
    }
    Close(in_the_way, Why::kCrowd);
  }
  return true;
}

void Acceptor::GreetWhoIsReady() {
  const std::vector<std::uint64_t> ready(ready_.begin(), ready_.end());
  for (const std::uint64_t id : ready) {
    if (MayGreet(strangers_.at(id))) {
      Greet(id);
    }
  }
}

void Acceptor::Greet(std::uint64_t id) {
  Connection& connection = strangers_.at(id);
  UniqueFd theirs(fcntl(connection.fd.get(), F_DUPFD_CLOEXEC, 0));
  if (!theirs.valid()) {
    Close(id, Why::kDescriptors);
    return;
  }
  ready_.erase(id);
  waiting_.erase(id);
  greeted_.insert(id);
  sources_.Greet(connection.source, id);
  connection.greeted = true;
  connection.greeted_at = now_;
  connection.theirs = theirs.get();
  connection.cookie = CookieOf(theirs.get());
  Watch(EPOLL_CTL_MOD, connection.fd.get(), 0, id);  // its end is told without being asked for
  {
    const MutexLock lock(&mutex_);
    peers_[connection.peer] = id;
  }
  connection.door->hand_over(std::move(theirs));
}

void Acceptor::TakeKnown() {
  std::uint64_t words = 0;
  [[maybe_unused]] const ssize_t got = read(word_.get(), &words, sizeof(words));
  std::vector<Admitted> admitted;
  {
    const MutexLock lock(&mutex_);
    admitted.swap(admitted_);
  }
  for (Admitted& each : admitted) {
    const std::uint64_t id = each.id;
    const auto found = strangers_.find(id);
    if (found == strangers_.end()) {
      if (!each.refused) {
        known_.GiveUp(each.caller);
      }
      continue;
    }
    if (each.refused) {
      found->second.refused_at = std::min(found->second.refused_at, now_);
      continue;
    }
    // The connection lives on in gRPC's descriptor: epoll would not forget it by itself.
    Watch(EPOLL_CTL_DEL, found->second.fd.get(), 0, id);
    LimitWindow(found->second.fd.get(), kAnyWindow);
    known_.Add(found->second.theirs, found->second.cookie, false, std::move(each.caller));
    sources_.Know(found->second.source, id);
    greeted_.erase(id);
    strangers_.erase(found);
  }
}

void Acceptor::Close(std::uint64_t id, Why why) {
  const auto found = strangers_.find(id);
  Connection& connection = found->second;
  {
    const MutexLock lock(&mutex_);
    if (std::any_of(admitted_.begin(), admitted_.end(),
                    [id](const Admitted& each) { return each.id == id && !each.refused; })) {
      return;  // known by now: TakeKnown comes next
    }
    const auto peer = peers_.find(connection.peer);
    if (peer != peers_.end() && peer->second == id) {
      peers_.erase(peer);
    }
    counts_.turned_away += why == Why::kGone ? 0 : 1;
  }
  if (why != Why::kGone) {
    ++closed_[why];
    if (closed_of_.size() < kSourcesCounted || closed_of_.count(connection.source) != 0) {
      ++closed_of_[connection.source];
    }
  }
  turned_away_now_ += why == Why::kCrowd || why == Why::kDescriptors ? 1 : 0;
  Watch(EPOLL_CTL_DEL, connection.fd.get(), 0, id);
  if (why != Why::kGone) {
    // What is still on its way to us, or to him, is nobody's: the kernel need not keep it.
    const linger none{1, 0};
    setsockopt(connection.fd.get(), SOL_SOCKET, SO_LINGER, &none, sizeof(none));
  }
  if (why == Why::kBytes) {
    DropUnread(connection.fd.get());
  }
  shutdown(connection.fd.get(), SHUT_RDWR);
  sources_.Forget(connection.source, id);
  waiting_.erase(id);
  ready_.erase(id);
  greeted_.erase(id);
  strangers_.erase(found);
}

void Acceptor::LookAtGreeted() {
  const std::vector<std::uint64_t> greeted(greeted_.begin(), greeted_.end());
  for (const std::uint64_t id : greeted) {
    const Connection& connection = strangers_.at(id);
    if (now_ - connection.since >= limits_.deadline) {
      Close(id, Why::kLate);
    } else if (connection.refused_at <= now_ - kUntilToldSo) {
      Close(id, Why::kCaller);
    } else if (BytesReceived(connection.fd.get()) > limits_.first_bytes) {
      Close(id, Why::kBytes);
    }
  }
}

void Acceptor::LookAtDeadlines() {
  while (!waiting_.empty() && now_ - strangers_.at(*waiting_.begin()).since >= limits_.deadline) {
    Close(*waiting_.begin(), Why::kLate);
  }
  if (std::int64_t{turned_away_now_} * 1'000 >=
      limits_.turned_away_per_second * kTurningAway.count()) {
    turned_away_now_ = 0;
    Sleep(kTurningAway);
  }
  if (now_ < asleep_until_) {
    return;
  }
  for (std::size_t i = 0; i < doors_.size(); ++i) {
    if (std::exchange(doors_[i]->asleep, false)) {
      Watch(EPOLL_CTL_MOD, doors_[i]->socket.get(), EPOLLIN, i + 1);
    }
  }
}

void Acceptor::EverySecond() {
  if (last_second_ != SteadyTime::min() && now_ - last_second_ < seconds(1)) {
    return;
  }
  last_second_ = now_;
  turned_away_now_ = 0;
  ReadLimit();
  known_.Look();
  sources_.Prune(now_);
  if (told_at_ == SteadyTime::min() || now_ - told_at_ >= kTellEvery) {
    Tell();
  }
}

// The limit may be changed while we run (prlimit(1)).
void Acceptor::ReadLimit() {
  rlimit limit{};
  const std::size_t all = getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : 1024;
  room_ = all - std::min(limits_.descriptors_kept, all / 4);
  of_unix_ = std::min(limits_.descriptors_of_unix, all / 8);
  known_.SetMost(std::min(limits_.of_caller, room_ / limits_.callers_in_room));
}

void Acceptor::Tell() {
  std::uint64_t all = 0;
  std::vector<std::string> reasons;
  const std::map<Why, const char*> words = {{Why::kNoCaller, "sent nothing that a client sends"},
                                            {Why::kCrowd, "had to make room"},
                                            {Why::kLate, "took too long"},
                                            {Why::kBytes, "sent too much"},
                                            {Why::kDescriptors, "found no descriptor left"}};
  if (const std::uint64_t crowd = std::exchange(closed_[Why::kCaller], 0); crowd != 0) {
    log_.Warning(kComponent, absl::StrCat("closed ", crowd, " connections of callers who have ",
                                          "as many as one may have"));
    told_at_ = now_;
  }
  for (const auto& [why, text] : words) {
    if (closed_[why] != 0) {
      all += closed_[why];
      reasons.push_back(absl::StrCat(closed_[why], " ", text));
    }
  }
  if (all == 0) {
    return;
  }
  std::vector<std::pair<std::uint64_t, std::string>> worst;
  for (const auto& [source, count] : closed_of_) {
    worst.emplace_back(count, source);
  }
  std::sort(worst.rbegin(), worst.rend());
  worst.resize(std::min(worst.size(), kSourcesTold));
  const std::string sources = absl::StrJoin(worst, ", ", [](std::string* out, const auto& one) {
    absl::StrAppend(out, one.second, " (", one.first, ")");
  });
  log_.Warning(kComponent, absl::StrCat("closed ", all,
                                        " connections of strangers: ", absl::StrJoin(reasons, ", "),
                                        sources.empty() ? "" : "; most of ", sources));
  told_at_ = now_;
  closed_.clear();
  closed_of_.clear();
}

void RaiseDescriptorLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
  }
}

}  // namespace muster::daemon
