#pragma once

// Takes the connections of all addresses, holds strangers to their limits, and gives gRPC those
// that have something to say.
//
// gRPC 1.51 is not the first to see a stranger: it neither bounds connections nor survives running
// out of descriptors. A connection is *waiting* until its first bytes are those of a caller,
// *greeted* while gRPC has it and no call was admitted, and then *known*; the first two are a
// stranger's, and counted of their source and in all. The stranger that waited longest makes room
// for the next, so that silent ones keep no caller out. A stranger has a deadline, and a number of
// bytes; what is over is closed. Callers of unix sockets are never strangers, and descriptors are
// kept for them. A known caller has a bound, too, so that one user's connections keep no other out;
// root and the controller's own user have none on unix sockets.
//
// Thread promise: Add, Start, Stop and the destructor from one thread, Know, Strangers, counts and
// turns_of_loop from any; connections are handed over on a thread of its own. Invariants: of a
// known connection no descriptor is held; what is closed here is shut down first, so that gRPC sees
// its end; it never waits but for events.

#include <sys/socket.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "absl/status/status.h"
#include "daemon/door/connection_limits.h"
#include "daemon/door/known_connections.h"
#include "daemon/door/source_table.h"
#include "scheduler/runtime/clock.h"
#include "scheduler/runtime/log.h"
#include "scheduler/runtime/mutex.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::daemon {

class Acceptor {
 public:
  enum class Kind : std::uint8_t { kUnix, kPlain, kTls };
  // Takes a connection with its first bytes unread; on the acceptor's thread.
  using HandOver = std::function<void(UniqueFd)>;

  // The references outlive it.
  Acceptor(const Logger& log, const Clock& clock, const ConnectionLimits& limits = {});
  ~Acceptor();
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;

  // A listening socket whose connections are of that kind. REQUIRES: before Start.
  void Add(UniqueFd listening, Kind kind, HandOver hand_over);
  absl::Status Start();
  // Closes the listening sockets and all strangers.
  void Stop();

  // A call of `caller` over the connection of this peer, in gRPC's words, may be admitted; false:
  // the caller has as many connections as one may have, and this one is closed a moment later.
  [[nodiscard]] bool Know(const std::string& peer, const std::string& caller);

  // The connections that gRPC has and that are not identified, as "192.0.2.7:4711".
  [[nodiscard]] std::vector<std::string> Strangers() const;

  struct Counts {
    std::size_t waiting = 0;
    std::size_t greeted = 0;
    std::size_t known = 0;          // of all kinds, as last looked at
    std::uint64_t turned_away = 0;  // closed before they were known, since the start
  };
  [[nodiscard]] Counts counts() const;

 private:
  struct Door {
    UniqueFd socket;
    Kind kind = Kind::kTls;
    HandOver hand_over;
    bool asleep = false;
  };
  struct Connection {
    UniqueFd fd;  // while it waits the connection, then a second descriptor of it
    Door* door = nullptr;
    std::string peer;
    std::string source;
    SteadyTime since;
    SteadyTime greeted_at;
    bool ready = false;  // its first bytes are there
    bool greeted = false;
    SteadyTime refused_at = SteadyTime::max();  // its caller has too many others
    int theirs = -1;  // gRPC's descriptor, while the cookie says that it is that
    std::uint64_t cookie = 0;
  };
  struct Admitted {
    std::uint64_t id;
    std::string caller;
    bool refused;
  };
  using Strange = std::map<std::uint64_t, Connection>;
  enum class Why : std::uint8_t { kGone, kNoCaller, kCrowd, kLate, kBytes, kDescriptors, kCaller };

  void Serve();
  int PauseMs() const;
  void OnDoor(Door& door);
  void OnConnection(std::uint64_t id, std::uint32_t events);
  void TakeUnix(Door& door, UniqueFd fd);
  void TakeStranger(Door& door, UniqueFd fd, const sockaddr_storage& peer);
  bool MakeRoom(const std::string& source);
  bool OutOfDescriptors(Door& door);
  void LookAtFirstBytes(std::uint64_t id, Connection& connection);
  void GreetWhoIsReady();
  bool MayGreet(const Connection& connection);
  void Greet(std::uint64_t id);
  void TakeKnown();
  void Close(std::uint64_t id, Why why);
  void LookAtGreeted();
  void LookAtDeadlines();
  void EverySecond();
  void ReadLimit();
  void Tell();
  void Sleep(std::chrono::milliseconds pause);
  void Wake();
  void Watch(int operation, int fd, std::uint32_t events, std::uint64_t tag) const;

  const Logger& log_;
  const Clock& clock_;
  const ConnectionLimits limits_;

  UniqueFd epoll_;
  UniqueFd word_;  // a caller is known, or it is over
  UniqueFd spare_;
  std::atomic<bool> over_ = false;
  std::thread thread_;

  // The thread's own.
  std::vector<std::unique_ptr<Door>> doors_;
  Strange strangers_;
  std::set<std::uint64_t> waiting_;
  std::set<std::uint64_t> ready_;  // of those, whose first bytes are there
  std::set<std::uint64_t> greeted_;
  SourceTable sources_;
  KnownConnections known_;
  std::uint64_t next_id_ = 0;
  SteadyTime now_ = SteadyTime::min();
  SteadyTime asleep_until_ = SteadyTime::min();
  SteadyTime last_second_ = SteadyTime::min();
  SteadyTime told_at_ = SteadyTime::min();
  int turned_away_now_ = 0;              // in this second, for want of room
  std::map<Why, std::uint64_t> closed_;  // since the last line in the log
  std::map<std::string, std::uint64_t> closed_of_;
  std::size_t room_ = 0;     // descriptors that connections may have
  std::size_t of_unix_ = 0;  // of those, that TCP leaves to unix sockets

  mutable Mutex mutex_;
  std::unordered_map<std::string, std::uint64_t> peers_ ABSL_GUARDED_BY(mutex_);  // greeted
  std::vector<Admitted> admitted_ ABSL_GUARDED_BY(mutex_);
  Counts counts_ ABSL_GUARDED_BY(mutex_);
};

// Lets the process have as many descriptors as it may.
void RaiseDescriptorLimit();

}  // namespace muster::daemon
