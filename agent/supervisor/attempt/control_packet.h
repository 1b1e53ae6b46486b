#pragma once

// The packets of an attempt's control socket, over which its agent sends commands to its
// supervisor.
//
// A command is one packet; one too large for a socket's buffer travels as a sealed memory file
// whose descriptor the packet carries.

#include <cstddef>

namespace muster::agent {

// Commands larger than this go by memory file.
inline constexpr std::size_t kControlPacketBytes = std::size_t{64} << 10;
// No command is larger.
inline constexpr std::size_t kControlCommandBytesMax = std::size_t{4} << 20;

}  // namespace muster::agent
