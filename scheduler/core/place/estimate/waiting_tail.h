#pragma once

// How long requests wait for one of c servers: the queue M/G/c.
//
// Requests come at random (Poisson) and are served in turn. The part that waits is Erlang's C; a
// wait, where there is one, is taken as exponential with the mean (1 + v) / 2 / (c mu - lambda), v
// the squared coefficient of variation of the time of service (A. M. Lee, P. A. Longton, Queueing
// processes associated with airline passenger check-in, Operational Research Quarterly 10, 1959; W.
// Whitt, Approximations for the GI/G/m queue, Production and Operations Management 2(2), 1993,
// section 2). So a wait is longer than t with probability C exp(-2 (c mu - lambda) t / (1 + v)).
// Exact for exponential service (v = 1); with one server its mean is Pollaczek's and Khinchine's.
// Pure. Invariants: a higher rate never waits less, another server never more.

#include <cstdint>
#include <optional>

namespace muster::core {

struct ServerQueue {
  std::uint64_t servers = 1;   // c
  double service_seconds = 1;  // 1/mu, of one request at one server
  double variation = 1;        // the coefficient of variation of that time: 0, all alike; 1
};

// The probability that a request has to wait; 1 when the servers cannot keep up.
double WaitingPart(const ServerQueue& queue, double rate);

// Seconds that no more than 1 - quantile of the requests wait longer than; nothing when the servers
// cannot keep up. REQUIRES: 0 < quantile < 1, rate >= 0.
std::optional<double> WaitAt(const ServerQueue& queue, double rate, double quantile);

// The highest rate with which requests wait and are served within `seconds` at `quantile`; 0 when
// the service alone takes longer. Below the rate at which the servers are busy all the time.
double RateWithin(const ServerQueue& queue, double seconds, double quantile);

}  // namespace muster::core
