#pragma once

// How fast an agent's stream is read.
//
// An agent that an attacker has taken over is not believed: it may not have the controller work
// without end. The bounds are far above what an agent says that starts hundreds of jobs a second.
// Thread promise: one thread at a time.

#include <cstddef>

#include "daemon/door/token_bucket.h"
#include "scheduler/model/value/time.h"
#include "scheduler/runtime/clock.h"

namespace muster::daemon {

// Counts messages (and each report in one) and bytes.
class StreamPace {
 public:
  static constexpr double kMessagesASecond = 10'000;
  static constexpr double kMessagesAtOnce = 50'000;
  static constexpr double kBytesASecond = 16 << 20;
  static constexpr double kBytesAtOnce = 64 << 20;
  // A stream that waits longer would seem dead: its heartbeats wait with it.
  static constexpr Duration kWaitMost{2000};

  // A message with that number of reports was read: how long to wait before the next; 0: not at
  // all.
  Duration Take(int reports, std::size_t bytes, SteadyTime now);

 private:
  TokenBucket messages_;
  TokenBucket bytes_;
};

}  // namespace muster::daemon
