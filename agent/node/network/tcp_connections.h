#pragma once

// The TCP connections of this process's network namespace, as the kernel counts them
// (sock_diag(7), struct tcp_info of linux/tcp.h).
//
// One dump of IPv4 and one of IPv6 list them all; any user may ask. Invariants: what the kernel
// does not tell is not there, and never 0; listening sockets and those of which only the wait for
// late packets is left are not listed.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "scheduler/model/value/units.h"

namespace muster::agent {

struct TcpCounters {
  Bytes sent;                        // acknowledged by the other end
  Bytes received;                    // in order
  Bytes queued;                      // to be sent, or not acknowledged yet
  std::optional<Bytes> resent = {};  // Linux 4.19
  // While there was something queued (Linux 4.10).
  std::optional<std::chrono::microseconds> busy = {};
};

struct TcpConnection {
  std::uint64_t cookie = 0;  // the kernel's name of it, which no other ever has
  std::uint64_t inode = 0;   // of its socket, as /proc/PID/fd has it; 0: no process holds it
  bool local = false;        // both ends are on this machine
  TcpCounters counters = {};
};

// Nothing where the kernel lists none, as one without inet_diag.
std::optional<std::vector<TcpConnection>> ReadTcpConnections();

// Of the bytes of a struct tcp_info, of which an older kernel has fewer; nothing: too few for all.
std::optional<TcpCounters> CountersOf(std::span<const std::byte> tcp_info);

}  // namespace muster::agent
