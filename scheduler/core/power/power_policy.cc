#include "scheduler/core/power/power_policy.h"

#include <algorithm>
#include <chrono>
#include <tuple>

namespace muster::core {
namespace {

constexpr Duration kRatePeriod = std::chrono::minutes(1);
constexpr std::size_t kMeasuredLeast = 3;

void WakeAt(Time when, Time now, PowerOrders& orders) {
  if (when > now && (orders.wake == kNoTime || when < orders.wake)) {
    orders.wake = when;
  }
}

// How many more of the class may be ordered now, by the rate; and when one more may.
class Budget {
 public:
  Budget(std::uint32_t rate, Time now) : rate_(rate), now_(now) {}

  void NoteOrder(Time when) {
    if (rate_ > 0 && when + kRatePeriod > now_) {
      ++used_;
      next_ = next_ == kNoTime ? when + kRatePeriod : std::min(next_, when + kRatePeriod);
    }
  }
  bool Spend(PowerOrders& orders) {
    if (rate_ > 0 && used_ >= rate_) {
      WakeAt(next_, now_, orders);
      return false;
    }
    NoteOrder(now_);
    return true;
  }

 private:
  std::uint32_t rate_;
  Time now_;
  std::uint32_t used_ = 0;
  Time next_ = kNoTime;
};

bool IsIdle(const PowerCandidate& node) {
  return node.state == PowerState::kOn && !node.busy;
}

// The time from which on something may begin on the node without being in the way of switching it
// off now.
std::optional<Duration> KeptFor(const PowerClass& kind, const PowerCandidate& node) {
  return kind.idle <= Duration(0) ? std::nullopt : BreakEven(kind, node.boot);
}

// The nodes of one class.
class ClassRound {
 public:
  ClassRound(const PowerClass& kind, Time now) : kind_(kind), now_(now) {}

  void Add(const PowerCandidate& node) { nodes_.push_back(&node); }

  void Resume(PowerOrders& orders) {
    Budget budget(kind_.rate, now_);
    std::size_t on = 0;
    std::vector<const PowerCandidate*> wanted;
    for (const PowerCandidate* node : nodes_) {
      on += node->state == PowerState::kOff || node->state == PowerState::kFailed ? 0 : 1;
      if (node->state == PowerState::kPoweringUp) {
        budget.NoteOrder(node->since);
      }
      if (node->state == PowerState::kOff && node->needed != kNoTime) {
        const Time due = node->needed - node->boot;
        if (due <= now_) {
          wanted.push_back(node);
        }
        WakeAt(due, now_, orders);
      }
    }
    std::sort(wanted.begin(), wanted.end(), [](const auto* a, const auto* b) {
      return std::tie(a->needed, a->node) < std::tie(b->needed, b->node);
    });
    for (const PowerCandidate* node : wanted) {
      if ((kind_.most_on > 0 && on >= kind_.most_on) || !budget.Spend(orders)) {
        break;
      }
      orders.resume.push_back(node->node);
      ++on;
    }
  }

  void Suspend(PowerOrders& orders) {
    Budget budget(kind_.rate, now_);
    std::size_t idle = 0;
    std::vector<const PowerCandidate*> spare;
    for (const PowerCandidate* node : nodes_) {
      idle += IsIdle(*node) ? 1 : 0;
      if (node->state == PowerState::kPoweringDown) {
        budget.NoteOrder(node->since);
      }
      if (MaySuspend(*node, orders)) {
        spare.push_back(node);
      }
    }
    std::sort(spare.begin(), spare.end(), [](const auto* a, const auto* b) {
      return std::tie(a->idle_since, a->node) < std::tie(b->idle_since, b->node);
    });
    for (const PowerCandidate* node : spare) {
      if (idle <= kind_.keep_on || !budget.Spend(orders)) {
        break;
      }
      orders.suspend.push_back(node->node);
      --idle;
    }
  }

 private:
  bool MaySuspend(const PowerCandidate& node, PowerOrders& orders) const {
    const std::optional<Duration> pays = KeptFor(kind_, node);
    if (!IsIdle(node) || node.excepted || !pays.has_value() ||
        (node.needed != kNoTime && node.needed < now_ + *pays)) {
      return false;
    }
    const Time due = node.idle_since + kind_.idle;
    WakeAt(due, now_, orders);
    return due <= now_;
  }

  const PowerClass& kind_;
  Time now_;
  std::vector<const PowerCandidate*> nodes_;
};

}  // namespace

PowerOrders DecidePower(const std::vector<PowerCandidate>& nodes,
                        const std::vector<PowerClass>& classes, Time now) {
  std::vector<ClassRound> rounds;
  rounds.reserve(classes.size());
  for (const PowerClass& kind : classes) {
    rounds.emplace_back(kind, now);
  }
  for (const PowerCandidate& node : nodes) {
    rounds[node.kind].Add(node);
  }
  PowerOrders orders;
  for (ClassRound& round : rounds) {
    round.Resume(orders);
    round.Suspend(orders);
  }
  return orders;
}

std::optional<Duration> BreakEven(const PowerClass& kind, Duration boot) {
  const Duration away = kind.suspend_time + boot;
  if (kind.busy_watts == 0 && kind.idle_watts == 0 && kind.off_watts == 0) {
    return away;
  }
  if (kind.idle_watts <= kind.off_watts) {
    return std::nullopt;
  }
  // Idle for t: idle * t. Off: busy * away + off * (t - away).
  const std::int64_t saved = std::int64_t{kind.idle_watts} - kind.off_watts;
  const std::int64_t paid =
      std::max<std::int64_t>(0, std::int64_t{kind.busy_watts} - kind.off_watts);
  const std::int64_t pays = (away.count() * paid + saved - 1) / saved;
  return std::max(away, Duration(pays));
}

Time AvailableFrom(const NodePower& power, Time now) {
  switch (power.state) {
    case PowerState::kOn:
      return now;
    case PowerState::kPoweringDown:
      return std::max(now, power.until) + power.boot;
    case PowerState::kOff:
      return now + power.boot;
    case PowerState::kPoweringUp:
      return std::max(now, power.since + power.boot);
    case PowerState::kFailed:
      break;
  }
  return kNoTime;
}

Duration LearnedBootTime(std::vector<Duration> measured, Duration configured) {
  if (measured.size() < kMeasuredLeast) {
    return configured;
  }
  const std::size_t quartile = (measured.size() * 3 + 3) / 4 - 1;
  const auto at = measured.begin() + static_cast<std::ptrdiff_t>(quartile);
  std::nth_element(measured.begin(), at, measured.end());
  return *at;
}

}  // namespace muster::core
