#pragma once

// Asks a program over its port whether it is well.
//
// Thread promise: safe from any thread; a call blocks its own, for the given time at most.
// Invariant: nothing but the beginning of the answer is read.

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "cli/service/replica/probe_words.h"
#include "scheduler/model/value/time.h"

namespace muster::cli {

// OK: it takes a connection and, asked by HTTP, answers with a status of 200 to 399. Unavailable
// says in one line what it did instead; Cancelled: `interrupt` (below 0: none) can be read.
absl::Status AskHealth(const std::string& host, std::uint16_t port, const ServiceProbe& probe,
                       Duration patience, int interrupt);

}  // namespace muster::cli
