#pragma once

// What each source may ask of the gateway: connections at once, requests in a time, and bytes of
// large bodies that are being read.
//
// A source is an IPv4 address, or of IPv6 a /64. Requests are a token bucket. Thread promise: one
// thread's. Invariants: what is kept is bounded by the connections and by one full bucket's time;
// no source takes another's.

#include <chrono>
#include <cstdint>
#include <map>
#include <string>

#include "daemon/door/token_bucket.h"
#include "scheduler/runtime/clock.h"

namespace muster::daemon::http {

struct SourceLimits {
  std::uint32_t connections = 1024;             // of all sources together
  std::uint32_t connections_of_a_source = 512;  // at once
  std::uint32_t requests_per_second = 500;      // of a source; 0: no bound
  std::uint32_t requests_burst = 2000;
  // Of bodies above ServerLimits::stranger_bytes, at once.
  std::uint64_t large_bytes = 64 << 20;
  std::uint64_t large_bytes_of_a_source = 8 << 20;
};

// What one connection may cost, and all of a source.
struct ServerLimits {
  SourceLimits sources;
  std::uint32_t header_bytes = 16 << 10;
  std::uint64_t body_bytes = 4 << 20;
  std::uint64_t stranger_bytes = 4 << 10;  // of a body, before its caller is judged
  std::chrono::seconds header_time{10};    // for a first request's head, and for TLS's greeting
  std::chrono::seconds idle_time{30};      // for the head of a further one
  std::chrono::seconds body_time{30};
  std::chrono::seconds answer_time{60};  // for an answer, once it is there, and its pieces
};

class SourceBudget {
 public:
  SourceBudget(const SourceLimits& limits, const Clock& clock) : limits_(limits), clock_(clock) {}

  // "192.0.2.7" or "2001:db8:1:2::/64", of what an address prints as.
  static std::string SourceOf(const std::string& address);

  // A connection of the source; false: one too many.
  bool Enter(const std::string& source);
  void Leave(const std::string& source);
  // A request of it; false: too fast.
  bool TakeRequest(const std::string& source);
  // So much of a large body is to be read; false: too much is already. REQUIRES: it has entered.
  bool TakeBytes(const std::string& source, std::uint64_t bytes);
  void GiveBytes(const std::string& source, std::uint64_t bytes);

  [[nodiscard]] std::uint32_t connections() const { return connections_; }
  // How many sources it remembers.
  [[nodiscard]] std::size_t size() const { return sources_.size(); }

 private:
  struct Source {
    std::uint32_t connections = 0;
    std::uint64_t large_bytes = 0;
    TokenBucket requests;
  };
  void Prune();

  const SourceLimits limits_;
  const Clock& clock_;
  std::uint32_t connections_ = 0;
  std::uint64_t large_bytes_ = 0;
  std::map<std::string, Source> sources_;
  std::size_t prune_at_ = 1024;
};

}  // namespace muster::daemon::http
