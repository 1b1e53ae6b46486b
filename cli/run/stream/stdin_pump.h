#pragma once

// Our standard input, sent to the ranks as they take it.
//
// Works for what epoll can watch (pipes, sockets, terminals) and for what it cannot (files,
// /dev/null). Thread promise: the loop's owner. Invariants: the end of the input is sent exactly
// once, unless no rank took it before that: then no more is read; nothing is read while the
// listener's peers lag; a terminal is read only while we are in its foreground, so that a
// background run is not stopped.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "cli/run/stream/step_listener.h"
#include "scheduler/runtime/event_loop.h"

namespace muster::cli {

class StdinPump {
 public:
  StdinPump(EventLoop& loop, int fd, StepListener& listener)
      : loop_(loop), fd_(fd), listener_(listener) {}
  StdinPump(const StdinPump&) = delete;
  StdinPump& operator=(const StdinPump&) = delete;
  ~StdinPump() { loop_.Unwatch(fd_); }

  // Begins to send. Call it when every supervisor has connected.
  void Start();
  // No more than that many bytes a second from now on; 0: as fast as they are taken.
  void Pace(std::uint64_t rate) { rate_ = rate; }
  // Does that instead of sending on what has this byte in it.
  void LeaveOn(char key, std::function<void()> leave) {
    leave_key_ = key;
    leave_ = std::move(leave);
  }

 private:
  void Wait();
  void Pump();
  void Send(const char* data, std::size_t size);

  EventLoop& loop_;
  const int fd_;
  StepListener& listener_;
  bool started_ = false;
  bool pollable_ = true;
  char leave_key_ = 0;
  std::uint64_t rate_ = 0;
  std::chrono::steady_clock::time_point due_ = {};  // when the next may go
  std::function<void()> leave_;
};

}  // namespace muster::cli
