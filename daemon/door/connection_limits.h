#pragma once

// How much of the controller strangers may have, callers that are not identified yet; and how many
// connections one caller that is identified.
//
// Invariant: what identified callers have together is bounded by the process's descriptors alone.

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace muster::daemon {

struct ConnectionLimits {
  std::size_t strangers = 512;  // at once, of all sources
  std::size_t strangers_of_source = 64;
  // Of those: whose first bytes gRPC has been given.
  std::size_t greeted = 64;
  std::size_t greeted_of_source = 16;
  // Until a call was admitted; also for the first bytes.
  std::chrono::milliseconds deadline{10'000};
  // A stranger that was greeted this long ago makes room for one that waits.
  std::chrono::milliseconds patience{2'000};
  // Received until a call was admitted: the handshake, headers and the first request.
  std::uint64_t first_bytes = 64 << 10;
  // Of one source: strangers that were greeted and never identified.
  double failures_at_once = 16;
  double failures_per_second = 1;
  // Connections that are taken in a second while strangers are turned away.
  int turned_away_per_second = 2'000;
  // Of one identified caller, by user or certificate: at most this, and this part of the
  // descriptors.
  std::size_t of_caller = 1024;
  std::size_t callers_in_room = 4;
  // Descriptors for the store, the log and gRPC itself, at most; and for unix sockets.
  std::size_t descriptors_kept = 256;
  std::size_t descriptors_of_unix = 64;
};

}  // namespace muster::daemon
