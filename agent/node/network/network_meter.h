#pragma once

// What trees of processes send and receive by TCP, to and from other machines, between two looks.
//
// A connection is the tree's that holds its socket when it is first seen, until it is gone, also
// when no process holds it any more. What it does after the last look that shows it is lost, so all
// sums are at least so much. As blocked counts, of each look, the longest time in which one
// connection had something queued: sent and not acknowledged, or to be sent. That is within the
// time that passed, however many connections there are; what a receiver waits for is that of the
// sender. A connection slower than kSlowest waits for acknowledgements that the other end delays
// (up to 40 ms for a small segment), and not for the network: of its time only that counts which
// its bytes take at kSlowest. Thread promise: the owner's thread. Invariant: what a look cannot
// tell of a tree, it does not say, such as of one whose descriptors were too many to read them all.

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "agent/node/network/socket_holders.h"
#include "agent/node/network/tcp_connections.h"
#include "scheduler/model/value/time.h"
#include "scheduler/model/value/units.h"
#include "scheduler/runtime/clock.h"

namespace muster::agent {

struct NetworkUse {
  Bytes sent;
  Bytes received;
  std::optional<Bytes> resent = Bytes(0);
  std::optional<Duration> blocked = Duration(0);
};

class NetworkMeter {
 public:
  using Source = std::function<std::optional<std::vector<TcpConnection>>()>;
  static constexpr std::uint64_t kSlowest = 64 << 10;  // bytes a second

  explicit NetworkMeter(std::string proc = "/proc", Source source = ReadTcpConnections,
                        SearchBounds bounds = {})
      : proc_(std::move(proc)),
        source_(std::move(source)),
        bounds_(bounds),
        search_(proc_, bounds) {}

  // What each tree has done since the last look; a new one since it began but for the `resumed`, of
  // which an earlier agent has counted so much already: they begin now.
  std::map<pid_t, NetworkUse> Look(const ProcessTrees& trees, const std::set<pid_t>& resumed,
                                   SteadyTime now);

 private:
  struct Known {
    pid_t tree = 0;    // 0: nobody of ours has it
    int searched = 0;  // how often
    TcpCounters counters = {};
  };
  // A process may come to be between our looks at processes and at sockets.
  static constexpr int kSearches = 2;

  void FindHolders(const std::vector<TcpConnection>& connections, const ProcessTrees& trees,
                   const std::set<pid_t>& resumed);
  static void AddChange(const TcpCounters& before, const TcpCounters& now,
                        std::optional<Duration> elapsed, NetworkUse& use);

  const std::string proc_;
  const Source source_;
  const SearchBounds bounds_;
  HolderSearch search_;
  std::set<pid_t> cut_;  // trees that may hold connections which nobody is known to hold
  SteadyTime last_ = SteadyTime::min();
  std::set<pid_t> seen_;                            // trees, at the last look
  std::unordered_map<std::uint64_t, Known> known_;  // by cookie
};

}  // namespace muster::agent
