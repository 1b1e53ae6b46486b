#pragma once

// What the controller's main thread does while it serves: signals, reloads, and the word to the
// service manager that it lives.
//
// Thread promise: main's. Invariant: the watchdog is fed only once every address has answered a
// call, and the controller's loop and the store's writer have both come round. An address that is
// busy turning strangers away need not answer ours: a flood must not have us started again.

#include "absl/status/status.h"
#include "daemon/controller/controller.h"
#include "daemon/door/acceptor.h"
#include "daemon/serve/config.h"
#include "daemon/serve/policy_file.h"
#include "daemon/serve/server.h"
#include "scheduler/runtime/log.h"
#include "scheduler/runtime/service/systemd.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::daemon {

constexpr int kExitUsage = 2;
// The exit code of a controller that ended so: 1, kExitUsage, or 74 (EX_IOERR) when the store may
// have lost data, and nobody is to start us again before somebody has looked.
int ExitCodeOf(const absl::Status& status);

// What serves.
struct Serving {
  const DaemonConfig& config;
  Controller& controller;
  const Server& server;
  const Acceptor& acceptor;
  const Logger& log;
  const ServiceManager& manager;
  const TakeSettings& take;  // of a configuration that was read again
};

// Says that all is ready, then waits for SIGTERM or SIGINT, or for the controller to end by itself
// (then it sends a signal); reads the configuration again at SIGHUP. `signals` is a BlockSignals
// descriptor.
absl::Status ServeUntilEnd(const UniqueFd& signals, const Serving& serving);

}  // namespace muster::daemon
