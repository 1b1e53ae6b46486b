#include "agent/supervisor/ending/limit_keeper.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace muster::agent {

LimitKeeper::LimitKeeper(EventLoop& loop, const Clock& clock, Handlers handlers)
    : loop_(loop), clock_(clock), handlers_(std::move(handlers)) {}

LimitKeeper::~LimitKeeper() {
  StopTimer();
}

void LimitKeeper::StopTimer() {
  if (timer_.has_value()) {
    loop_.Cancel(*std::exchange(timer_, std::nullopt));
  }
}

void LimitKeeper::Begin(Duration limit, Time started, Time deadline) {
  deadline_ = deadline;
  limit_.Begin(limit, clock_.Now() - started, clock_.SteadyNow());
  Keep();
}

bool LimitKeeper::Change(Duration limit) {
  const Duration before = limit_.limit();
  limit_.Change(limit);
  if (limit_.limit() == before) {
    return false;
  }
  Keep();
  return true;
}

void LimitKeeper::Hold() {
  held_ = true;
  limit_.Hold(clock_.SteadyNow());
  Keep();
}

void LimitKeeper::RunOn() {
  held_ = false;
  limit_.RunOn(clock_.SteadyNow());
  Keep();
}

std::optional<Duration> LimitKeeper::Left() const {
  std::optional<Duration> left = held_ ? std::nullopt : limit_.Left(clock_.SteadyNow());
  if (deadline_ != kNoTime) {
    const Duration until = std::max(deadline_ - clock_.Now(), Duration(0));
    left = left.has_value() ? std::min(*left, until) : until;
  }
  return left;
}

// As the limit, the deadline and the suspension stand now.
void LimitKeeper::Keep() {
  StopTimer();
  const std::optional<Duration> left = Left();
  if (left.has_value()) {
    std::string why = held_ ? std::string("deadline reached while suspended")
                            : absl::StrCat("time limit of ", limit().count() / 1000, " s reached");
    timer_ = loop_.RunAfter(*left, [this, why = std::move(why)] {
      timer_.reset();
      handlers_.on_over(why);
    });
  }
  if (held_) {
    handlers_.on_held();
  } else {
    handlers_.on_end(left);
  }
}

}  // namespace muster::agent
