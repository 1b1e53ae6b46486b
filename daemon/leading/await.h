#pragma once

// A thread of its own that waits for what the controller's loop answers.
//
// Thread promise: never the loop's thread. Invariants: an answer that comes too late goes nowhere.

#include <chrono>
#include <functional>

#include "absl/status/status.h"
#include "daemon/controller/controller.h"

namespace muster::daemon {

// Gives `ask` a reply to call, and waits for it. kUnavailable: the loop did not answer in time.
absl::Status Await(const std::function<void(Controller::Reply)>& ask,
                   std::chrono::milliseconds most = std::chrono::seconds(10));

}  // namespace muster::daemon
