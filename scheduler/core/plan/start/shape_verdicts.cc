#include "scheduler/core/plan/start/shape_verdicts.h"

#include <algorithm>
#include <utility>

#include "scheduler/core/plan/search/feasibility.h"
#include "scheduler/core/plan/search/nodes_at_once.h"

namespace muster::core {

bool ShapeVerdicts::NeverFits(const StartOption& option) {
  if (option.anywhere != nullptr) {  // it takes any switches in the end
    const bool beyond = NeverFits(*option.anywhere);
    std::optional<Reason> why = On(*option.anywhere).beyond;
    On(option).beyond = std::move(why);
    return beyond;
  }
  Verdict& verdict = On(option);
  if (verdict.fits || verdict.beyond.has_value()) {
    return !verdict.fits;
  }
  if (!availability_.EverFits(option.need)) {
    verdict.beyond = WhyNotNow(snapshot_.nodes, availability_, option.need, snapshot_.now);
  } else {
    verdict.beyond =
        NeverOnAtOnce(snapshot_.nodes, option.need.inside, *option.need.request, power_);
  }
  verdict.fits = !verdict.beyond.has_value();
  return verdict.beyond.has_value();
}

std::optional<Reason> ShapeVerdicts::WhyNever(const std::vector<const StartOption*>& options) {
  const bool none = std::all_of(options.begin(), options.end(),
                                [this](const StartOption* option) { return NeverFits(*option); });
  return none ? On(*options.front()).beyond : std::nullopt;
}

const Reason* ShapeVerdicts::WhyReserved(const StartOption& option) {
  if (option.need.reserved == nullptr) {
    return nullptr;
  }
  Verdict& verdict = On(option);
  if (!verdict.reserved.has_value()) {
    Reason why = WhyNotNow(snapshot_.nodes, availability_, option.need, snapshot_.now);
    verdict.reserved.emplace();
    if (why.kind == ReasonKind::kReservation) {
      *verdict.reserved = std::move(why);
    }
  }
  return verdict.reserved->has_value() ? &**verdict.reserved : nullptr;
}

}  // namespace muster::core
