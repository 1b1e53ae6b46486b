#pragma once

// Stream sockets over which the last word was given, until their peers have heard it.
//
// The kernel resets a connection that is closed while input lies in it unread, or comes later, and
// throws away what it has not delivered yet. Here a socket is closed in order: what is left is
// sent, the sending side is shut down, and input is read and thrown away until the peer closes.
// Thread promise: the loop's thread. Invariants: a socket is closed when its peer has closed, has
// gone, or after `patience`; the code that hands it over waits for nothing.

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <string>

#include "scheduler/runtime/event_loop.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster {

class ClosingSockets {
 public:
  static constexpr std::chrono::milliseconds kPatience{60'000};

  explicit ClosingSockets(EventLoop& loop, std::chrono::milliseconds patience = kPatience)
      : loop_(loop), patience_(patience) {}
  ClosingSockets(const ClosingSockets&) = delete;
  ClosingSockets& operator=(const ClosingSockets&) = delete;
  // Closes at once what is left.
  ~ClosingSockets();

  // `rest`: what the peer is still to be sent. REQUIRES: the loop does not watch `socket`.
  void Take(UniqueFd socket, std::string rest);
  [[nodiscard]] bool Empty() const { return closing_.empty(); }
  // Calls `done` once, when none is left; at once if there is none.
  void WhenEmpty(std::function<void()> done);

 private:
  struct Closing {
    UniqueFd socket;
    std::string rest;
    std::size_t sent = 0;  // of rest
    bool shut = false;     // all was sent, and our side is shut down
    bool ended = false;    // the peer has shut down its side
    EventLoop::TimerId timer = {};
  };

  void OnReady(int fd);
  static void Send(Closing& closing);
  static void Discard(Closing& closing);
  void Drop(int fd);

  EventLoop& loop_;
  const std::chrono::milliseconds patience_;
  std::map<int, Closing> closing_;  // by descriptor
  std::function<void()> when_empty_;
};

}  // namespace muster
