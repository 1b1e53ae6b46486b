#include "cli/dev/idle_clock.h"

#include <chrono>
#include <cmath>

#include "absl/strings/str_cat.h"

namespace muster::cli {
namespace {

double Seconds(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

}  // namespace

void IdleClock::Looked(const std::optional<RankTable>& table, Time now) {
  if (!table.has_value() || !table->silent.empty()) {
    used_ = now;
    before_.reset();
    return;
  }
  Use use;
  bool busy = !before_.has_value();
  for (const RankUse& rank : table->ranks) {
    use[absl::StrCat(rank.node, " ", rank.step.value(), " ", rank.rank)] += rank.cpu_time;
    busy = busy || rank.gpu_busy > 0;
  }
  if (!busy) {
    // Programs that came and went may leave less than there was.
    double used = 0;
    for (const auto& [who, cpu_time] : use) {
      const auto earlier = before_->find(who);
      used += earlier == before_->end() ? Seconds(cpu_time)
                                        : std::abs(Seconds(cpu_time - earlier->second));
    }
    busy = used > kIdleShare * Seconds(now - looked_);
  }
  used_ = busy ? now : used_;
  before_ = std::move(use);
  looked_ = now;
}

}  // namespace muster::cli
