#pragma once

// Refusals of TLS in the log, with the addresses of those whom they can have been for.
//
// gRPC logs that a handshake failed and why, but not the peer. At that moment the acceptor still
// has the connection among its strangers: as a rule there is one such, and its address is logged.
// While an object lives, gRPC's other lines go to our log, too. Invariants: one object in the
// process; a flood of failures is a line in which their number stands, once a second.

#include <string>

#include "daemon/door/acceptor.h"
#include "scheduler/runtime/clock.h"
#include "scheduler/runtime/log.h"
#include "scheduler/runtime/mutex.h"

namespace muster::daemon {

class HandshakeLog {
 public:
  // The references outlive it. `acceptor` knows the strangers' addresses; null: unknown.
  HandshakeLog(const Logger& log, const Clock& clock, const Acceptor* acceptor = nullptr);
  HandshakeLog(const HandshakeLog&) = delete;
  HandshakeLog& operator=(const HandshakeLog&) = delete;
  ~HandshakeLog();

  // A call without a valid certificate or credential: refused before its message was read.
  void Refused(const std::string& method, const std::string& why);

  // What gRPC has to say.
  void Take(const std::string& text);

 private:
  static constexpr int kLinesASecond = 10;
  std::string Strangers() const;
  void Tell(const std::string& text, bool names_a_stranger);
  // False when this line is one too many; else how many of those there were.
  bool MayTell(int& untold) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Logger& log_;
  const Clock& clock_;
  const Acceptor* const acceptor_;
  Mutex mutex_;
  SteadyTime second_ ABSL_GUARDED_BY(mutex_) = SteadyTime::min();
  int told_ ABSL_GUARDED_BY(mutex_) = 0;    // in that second
  int untold_ ABSL_GUARDED_BY(mutex_) = 0;  // since the last line
};

}  // namespace muster::daemon
