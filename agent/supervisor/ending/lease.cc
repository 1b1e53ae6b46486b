#include "agent/supervisor/ending/lease.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace muster::agent {
namespace {

// A timer may stand still while the machine sleeps: so often the clock is looked at.
constexpr std::chrono::nanoseconds kLookEvery = std::chrono::seconds(1);

}  // namespace

Lease::Lease(EventLoop& loop, const Clock& clock, std::function<void()> over)
    : loop_(loop), clock_(clock), over_(std::move(over)) {}

Lease::~Lease() {
  if (timer_.has_value()) {
    loop_.Cancel(*timer_);
  }
}

void Lease::Begin(SteadyTime until) {
  until_ = until;
  timer_ = loop_.RunAfter(std::chrono::nanoseconds(0), [this] { Look(); });
}

void Lease::Renew(SteadyTime until) {
  until_ = std::max(until_, until);
}

void Lease::Look() {
  timer_.reset();
  const SteadyTime now = clock_.SteadyNow();
  if (now >= until_) {
    over_();
    return;
  }
  timer_ = loop_.RunAfter(std::min<std::chrono::nanoseconds>(until_ - now, kLookEvery),
                          [this] { Look(); });
}

}  // namespace muster::agent
