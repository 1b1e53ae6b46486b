#pragma once

// Says how the program gets on to whoever runs it: one datagram on a unix socket.
//
// No answer, no wait. Invariant: what was not taken is an error, and nothing of it arrives.

#include <string>

#include "checkpoint/disk/error.h"

namespace muster::checkpoint {

// kNotFound: no process listens there; kBusy: it has no room now; kUsage: an empty or too long
// text.
Error SendReport(const std::string& path, const std::string& text);

}  // namespace muster::checkpoint
