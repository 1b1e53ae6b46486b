#pragma once

// The connections of callers who are known: how many there are, and how many of each caller.
//
// Their descriptors are gRPC's, which closes them without a word to us: a socket's cookie says
// whether a descriptor is still that connection. Thread promise: Claim from any thread, the rest
// from the acceptor's. Invariant: no caller has more than SetMost said, once Look has forgotten
// what has ended; a caller without a name has no bound.

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "scheduler/runtime/mutex.h"

namespace muster::daemon {

class KnownConnections {
 public:
  void SetMost(std::size_t of_caller);
  // A place for one more of this caller; false: he has as many as one may have. Add or GiveUp
  // follows.
  [[nodiscard]] bool Claim(const std::string& caller);
  void Add(int fd, std::uint64_t cookie, bool unix_socket, std::string caller);
  void GiveUp(const std::string& caller);
  // Forgets those that have ended.
  void Look();

  [[nodiscard]] std::size_t size() const { return known_.size(); }
  [[nodiscard]] std::size_t of_unix() const { return of_unix_; }

 private:
  struct Known {
    int fd;
    std::uint64_t cookie;
    bool unix_socket;
    std::string caller;
  };
  std::vector<Known> known_;
  std::size_t of_unix_ = 0;

  Mutex mutex_;
  std::size_t most_ ABSL_GUARDED_BY(mutex_) = 0;
  std::unordered_map<std::string, std::size_t> of_ ABSL_GUARDED_BY(mutex_);  // claimed, too
  std::unordered_map<std::string, std::size_t> claimed_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace muster::daemon
