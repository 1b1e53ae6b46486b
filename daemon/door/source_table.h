#pragma once

// The strangers of each source: which wait, which were greeted, and how many the acceptor failed to
// identify lately.
//
// A source is where connections come from: an address, with the user where the other end is on this
// machine. A connection that is greeted costs a token, which it gives back when it becomes known;
// tokens come back with time. Thread promise: for the acceptor's thread. Invariants: time is the
// caller's; what is kept of sources that call no more is bounded.

#include <cstdint>
#include <set>
#include <string>
#include <unordered_map>

#include "daemon/door/connection_limits.h"
#include "daemon/door/token_bucket.h"
#include "scheduler/runtime/clock.h"

namespace muster::daemon {

class SourceTable {
 public:
  explicit SourceTable(const ConnectionLimits& limits) : limits_(limits) {}

  void Wait(const std::string& source, std::uint64_t id) { sources_[source].waiting.insert(id); }
  // Whether the source has a token for one more stranger.
  [[nodiscard]] bool MayFail(const std::string& source, SteadyTime now);
  void Greet(const std::string& source, std::uint64_t id);
  // It is a stranger no more.
  void Know(const std::string& source, std::uint64_t id);
  void Forget(const std::string& source, std::uint64_t id);

  [[nodiscard]] bool Full(const std::string& source) const;
  // The stranger of the source that has waited longest; 0: none waits.
  [[nodiscard]] std::uint64_t OldestWaiting(const std::string& source) const;
  // The first of the source that was greeted; 0: none.
  [[nodiscard]] std::uint64_t OldestGreeted(const std::string& source) const;
  // Whether all places of the source among the greeted are taken.
  [[nodiscard]] bool GreetedFull(const std::string& source) const;
  // Forgets sources of which there is nothing to remember.
  void Prune(SteadyTime now);
  [[nodiscard]] std::size_t size() const { return sources_.size(); }

 private:
  struct Source {
    std::set<std::uint64_t> waiting;
    std::set<std::uint64_t> greeted;
    TokenBucket failures;
  };

  const ConnectionLimits limits_;
  std::unordered_map<std::string, Source> sources_;
};

}  // namespace muster::daemon
