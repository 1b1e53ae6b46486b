#include "scheduler/core/place/estimate/waiting_tail.h"

#include <algorithm>
#include <cmath>

namespace muster::core {
namespace {

constexpr int kHalvings = 60;

double LoadOf(const ServerQueue& queue, double rate) {
  return rate * queue.service_seconds;  // in erlangs
}

// 1/B is the sum of c! / (c - k)! / load^k. Its terms rise and fall again within some roots of c of
// them, or rise so far that B is nothing: a billion servers take no longer than a page.
double ErlangB(double servers, double load) {
  constexpr double kNothing = 1e18;
  constexpr double kEnough = 1e-17;
  if (load <= 0) {
    return 0;
  }
  double term = 1;
  double sum = 1;
  for (double left = servers; left > 0 && term > kEnough * sum; --left) {
    term *= left / load;
    sum += term;
    if (sum > kNothing) {
      return 0;
    }
  }
  return 1 / sum;
}

}  // namespace

double WaitingPart(const ServerQueue& queue, double rate) {
  const double load = LoadOf(queue, rate);
  const auto servers = static_cast<double>(queue.servers);
  if (load >= servers) {
    return 1;
  }
  const double blocked = ErlangB(servers, load);
  return blocked / (1 - load / servers * (1 - blocked));
}

std::optional<double> WaitAt(const ServerQueue& queue, double rate, double quantile) {
  const double spare = static_cast<double>(queue.servers) / queue.service_seconds - rate;
  if (spare <= 0) {
    return std::nullopt;
  }
  const double part = WaitingPart(queue, rate);
  if (part <= 1 - quantile) {
    return 0;
  }
  const double mean = (1 + queue.variation * queue.variation) / 2 / spare;
  return mean * std::log(part / (1 - quantile));
}

double RateWithin(const ServerQueue& queue, double seconds, double quantile) {
  const double wait = seconds - queue.service_seconds;
  if (wait < 0) {
    return 0;
  }
  double low = 0;
  double high = static_cast<double>(queue.servers) / queue.service_seconds;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    const std::optional<double> waited = WaitAt(queue, middle, quantile);
    (waited && *waited <= wait ? low : high) = middle;
  }
  return low;
}

}  // namespace muster::core
