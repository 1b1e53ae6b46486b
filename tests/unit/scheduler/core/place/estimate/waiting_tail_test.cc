#include "scheduler/core/place/estimate/waiting_tail.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace muster::core {
namespace {

// The eye clinic of textbooks and of the documentation of Mathematica's QueueingProcess: 6 patients
// an hour, 3 doctors, 20 minutes each. The closed form says P0 = 1/9 and Lq = 8/9: 4/9 of them
// wait.
TEST(WaitingTail, ErlangsCIsThatOfTheEyeClinic) {
  const ServerQueue clinic{.servers = 3, .service_seconds = 1200, .variation = 1};
  const double rate = 6.0 / 3600;
  EXPECT_NEAR(WaitingPart(clinic, rate), 4.0 / 9, 1e-12);
  // L = lambda C / (c mu - lambda).
  EXPECT_NEAR(rate * WaitingPart(clinic, rate) / (3.0 / 1200 - rate), 8.0 / 9, 1e-12);
}

TEST(WaitingTail, OneServerIsTheQueueOfTheTextbooks) {
  const ServerQueue queue{.servers = 1, .service_seconds = 1, .variation = 1};
  EXPECT_NEAR(WaitingPart(queue, 0.5), 0.5, 1e-12);
  EXPECT_NEAR(WaitAt(queue, 0.5, 0.99).value(), std::log(50) / 0.5, 1e-9);
  EXPECT_EQ(WaitAt(queue, 0.005, 0.99), 0.0);
  EXPECT_FALSE(WaitAt(queue, 1, 0.99).has_value());
  EXPECT_DOUBLE_EQ(WaitingPart(queue, 2), 1);
}

// S. Halfin, W. Whitt, Heavy-traffic limits for queues with many exponential servers, Operations
// Research 29(3), 1981: with a load of c - sqrt(c) the part that waits goes to 0.2234.
TEST(WaitingTail, ManyServersGoToTheLimitOfHalfinAndWhitt) {
  constexpr std::uint64_t kServers = 100'000'000;
  const ServerQueue queue{.servers = kServers, .service_seconds = 1, .variation = 1};
  EXPECT_NEAR(WaitingPart(queue, 1e8 - 1e4), 0.2234, 1e-3);
  EXPECT_EQ(WaitingPart(queue, 1e7), 0);
  EXPECT_EQ(WaitingPart(queue, 0), 0);
}

TEST(WaitingTail, TheRateWithinATimeIsTheHighest) {
  const ServerQueue queue{.servers = 16, .service_seconds = 5, .variation = 1};
  const double rate = RateWithin(queue, 8, 0.99);
  EXPECT_NEAR(WaitAt(queue, rate, 0.99).value() + 5, 8, 1e-6);
  EXPECT_EQ(RateWithin(queue, 4.9, 0.99), 0);
  EXPECT_LT(RateWithin(queue, 1e9, 0.99), 16.0 / 5);
}

// The time of service of a queue whose variation is 0, or 1, or between.
double AnyService(const ServerQueue& queue, std::mt19937_64& random) {
  const double v = queue.variation * queue.variation;
  if (v == 0) {
    return queue.service_seconds;
  }
  return std::gamma_distribution<double>(1 / v, v * queue.service_seconds)(random);
}

// The quantile of `count` requests' waits, each served by the server that is free first.
double SimulatedWait(const ServerQueue& queue, double rate, double quantile, std::size_t count) {
  std::mt19937_64 random(28);
  std::exponential_distribution<double> gap(rate);
  std::vector<double> free(queue.servers, 0);
  std::vector<double> waits;
  waits.reserve(count);
  double now = 0;
  for (std::size_t i = 0; i < count; ++i) {
    now += gap(random);
    const auto first = std::min_element(free.begin(), free.end());
    const double start = std::max(now, *first);
    waits.push_back(start - now);
    *first = start + AnyService(queue, random);
  }
  const auto at =
      waits.begin() + static_cast<std::ptrdiff_t>(quantile * static_cast<double>(count));
  std::nth_element(waits.begin(), at, waits.end());
  return *at;
}

struct Case {
  std::uint64_t servers;
  double load;  // of each
  double variation;
};

// The model against a simulation of a million requests: within a twentieth for exponential times,
// where it is exact, and otherwise within a tenth of the time of service or of the wait.
TEST(WaitingTail, IsThatOfASimulatedQueue) {
  for (const Case& at : std::vector<Case>{{1, 0.7, 1},
                                          {8, 0.8, 1},
                                          {32, 0.9, 1},
                                          {1, 0.7, 0},
                                          {8, 0.8, 0},
                                          {32, 0.9, 0},
                                          {8, 0.85, 0.5}}) {
    const ServerQueue queue{at.servers, 2, at.variation};
    const double rate = at.load * static_cast<double>(at.servers) / 2;
    const double simulated = SimulatedWait(queue, rate, 0.99, 1'000'000);
    const double modelled = WaitAt(queue, rate, 0.99).value();
    const double allowed =
        at.variation == 1 ? 0.05 * simulated : std::max(0.1 * simulated, 0.1 * 2.0);
    EXPECT_NEAR(modelled, simulated, allowed)
        << at.servers << " servers at " << at.load << ", variation " << at.variation;
  }
}

TEST(WaitingTailProperty, MoreRequestsWaitNoLessAndMoreServersMakeThemWaitNoMore) {
  EXPECT_TRUE(rc::check([] {
    ServerQueue queue{.servers = *rc::gen::inRange<std::uint64_t>(1, 200),
                      .service_seconds = 0.1 * *rc::gen::inRange(1, 100),
                      .variation = 0.1 * *rc::gen::inRange(0, 20)};
    const double most = static_cast<double>(queue.servers) / queue.service_seconds;
    const double rate = most * 0.001 * *rc::gen::inRange(0, 990);
    const double wait = WaitAt(queue, rate, 0.99).value();
    RC_ASSERT(wait <= WaitAt(queue, rate + 0.005 * most, 0.99).value() + 1e-9);
    ++queue.servers;
    RC_ASSERT(WaitAt(queue, rate, 0.99).value() <= wait + 1e-9);
  }));
}

}  // namespace
}  // namespace muster::core
