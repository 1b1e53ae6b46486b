#include "daemon/door/stream_pace.h"

#include <algorithm>
#include <chrono>

namespace muster::daemon {
namespace {

// How long until no more than `most` is spent.
Duration WaitFor(const TokenBucket& bucket, double most, double rate) {
  const double over = bucket.spent() - most;
  return over <= 0 ? Duration(0)
                   : std::chrono::ceil<Duration>(std::chrono::duration<double>(over / rate));
}

}  // namespace

Duration StreamPace::Take(int reports, std::size_t bytes, SteadyTime now) {
  messages_.Refill(kMessagesASecond, now);
  bytes_.Refill(kBytesASecond, now);
  messages_.Spend(1 + reports);
  bytes_.Spend(static_cast<double>(bytes));
  return std::min(kWaitMost, std::max(WaitFor(messages_, kMessagesAtOnce, kMessagesASecond),
                                      WaitFor(bytes_, kBytesAtOnce, kBytesASecond)));
}

}  // namespace muster::daemon
