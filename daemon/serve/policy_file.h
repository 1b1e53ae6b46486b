#pragma once

// The configuration's policy made the controller's: at start, and again when asked by signal.
//
// What a file may say is scheduler/settings' to know. Thread promise: both block their thread until
// the change is durable. Invariants: every error begins with FILE:LINE; a file with one mistake
// changes nothing.

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "daemon/controller/controller.h"
#include "daemon/serve/config.h"

namespace muster::daemon {

// Takes what else of a configuration can change while the controller serves.
using TakeSettings = std::function<void(const DaemonConfig& read)>;

// Reads the whole configuration at `path` again and makes its policy the controller's. `network`:
// the file of one that goes before the file's own; empty: none does. `take` is called once that is
// done; it may be null.
absl::Status ApplyPolicyFile(const std::string& path, Controller& controller, const User& by,
                             const std::string& network = "", const TakeSettings& take = nullptr);

// The same, and the network of a controller without a configuration, when asked by signal: says in
// the log what came of it; one with a mistake leaves the old configuration in force.
void ReloadPolicy(const std::string& path, const std::string& network, Controller& controller,
                  const Logger& log, const TakeSettings& take);

}  // namespace muster::daemon
