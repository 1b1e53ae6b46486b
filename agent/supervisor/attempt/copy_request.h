#pragma once

// How the agent asks a prepared supervisor for a copy of itself: packets on a pair of sockets that
// the two share.
//
//   the supervisor, once       CopyAnswer without a pid: it is prepared
//   the agent                  WHAT, a zero byte, the attempt's directory; WHAT as on a command
//   line the supervisor, to each    CopyAnswer
//
// Invariant: a packet that is cut off or that has no zero byte asks for nothing.

#include <cstddef>
#include <cstdint>

namespace muster::agent {

inline constexpr std::size_t kCopyRequestBytesMax = 8192;

struct CopyAnswer {
  std::int32_t pid = 0;    // of the copy, which is a child of the agent
  std::int32_t error = 0;  // errno: there is no copy
};

}  // namespace muster::agent
