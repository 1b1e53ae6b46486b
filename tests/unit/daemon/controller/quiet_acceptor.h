#pragma once

// An acceptor whose log nobody reads, for tests of what is behind it.
//
// Thread promise: as the acceptor's.

#include <unistd.h>

#include "daemon/door/acceptor.h"

namespace muster::daemon {

struct QuietAcceptor {
  SystemClock clock;
  Logger log{clock, STDERR_FILENO, LogLevel::kError, false};
  Acceptor acceptor{log, clock};
};

}  // namespace muster::daemon
