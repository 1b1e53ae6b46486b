#pragma once

// Has what ended attempts left in the trash removed, by a process of its own: what a job left may
// be large, deep, or on a file system that hangs, and none of that may keep the agent.
//
// Thread promise: the loop's thread. Invariants: at most one process at a time; what cannot be
// removed is tried again later, less and less often, and hinders nothing.

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "agent/attempts/children.h"
#include "scheduler/model/value/time.h"
#include "scheduler/runtime/event_loop.h"
#include "scheduler/runtime/log.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::agent {

class TrashSweep {
 public:
  struct Config {
    std::string program;  // muster-supervisor
    std::vector<std::string> environment;
    std::string trash;
    Duration limit{600'000};  // for one process
    Duration retry{60'000};   // after the first failure; twice as long after each
    Duration retry_max{3'600'000};
  };

  TrashSweep(EventLoop& loop, const Logger& log, Children& children, Config config);
  TrashSweep(const TrashSweep&) = delete;
  TrashSweep& operator=(const TrashSweep&) = delete;
  ~TrashSweep();

  // There is something in the trash.
  void Begin();

 private:
  absl::Status Start();
  void Read();
  void Ended();
  void Close();
  void TryAgain(const std::string& why);

  EventLoop& loop_;
  const Logger& log_;
  Children& children_;
  const Config config_;
  pid_t pid_ = 0;
  UniqueFd pidfd_;
  UniqueFd output_;
  std::string said_;
  std::optional<EventLoop::TimerId> limit_timer_;
  std::optional<EventLoop::TimerId> retry_timer_;
  Duration wait_;
  bool again_ = false;  // more came while it was at work
};

}  // namespace muster::agent
