#include "scheduler/core/handle/nodes/health_judge.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace muster::core {
namespace {

constexpr std::uint64_t kScale = 14826;  // ten-thousandths: from the MAD to a standard deviation
constexpr std::uint64_t kScaleUnit = 10000;

std::uint64_t Median(std::vector<std::uint64_t>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) {
    return *middle;
  }
  const std::uint64_t below = *std::max_element(values.begin(), middle);
  return below + (*middle - below) / 2;
}

HealthStatus Compare(const HealthVerdict& verdict, const HealthPolicy& policy) {
  const HealthFigure& figure = verdict.figure;
  const std::uint64_t slow =
      std::max(policy.mad * verdict.spread, verdict.median / 100 * policy.slack_percent);
  const bool suspect = figure.sense == HealthSense::kHigher ? figure.value + slow < verdict.median
                                                            : figure.value > verdict.median + slow;
  return suspect ? HealthStatus::kSuspect : HealthStatus::kGood;
}

std::string Amount(std::uint64_t value, const std::string& unit) {
  return absl::StrCat(Thousandths(value), unit.empty() ? "" : " ", unit);
}

std::string TextOf(const HealthVerdict& verdict) {
  const HealthFigure& figure = verdict.figure;
  std::string measured = absl::StrCat(figure.component, " ", Amount(figure.value, figure.unit));
  if (figure.sense == HealthSense::kNever) {
    return absl::StrCat(measured, ", must be 0");
  }
  if (verdict.samples == 0) {
    return measured;
  }
  return absl::StrCat(measured, ", class median ", Amount(verdict.median, figure.unit), " (MAD ",
                      Thousandths(verdict.spread * kScaleUnit / kScale), ")");
}

}  // namespace

HealthVerdict Judge(HealthFigure figure, std::vector<std::uint64_t> pool,
                    const HealthPolicy& policy) {
  HealthVerdict verdict;
  verdict.figure = std::move(figure);
  const HealthFigure& of = verdict.figure;
  if (of.sense == HealthSense::kNever) {
    verdict.status = of.value > 0 ? HealthStatus::kFailed : HealthStatus::kGood;
    return verdict;
  }
  if (of.sense == HealthSense::kShown) {
    verdict.status = HealthStatus::kGood;
    return verdict;
  }
  if (pool.empty() || pool.size() < policy.samples) {
    return verdict;  // unjudged
  }
  verdict.samples = static_cast<std::uint32_t>(pool.size());
  verdict.median = Median(pool);
  for (std::uint64_t& value : pool) {
    value = value > verdict.median ? value - verdict.median : verdict.median - value;
  }
  verdict.spread = Median(pool) * kScale / kScaleUnit;
  verdict.status = Compare(verdict, policy);
  return verdict;
}

HealthVerdict Missing(const HealthVerdict& before) {
  HealthVerdict verdict = before;
  verdict.figure.value = 0;
  verdict.status = HealthStatus::kSuspect;
  return verdict;
}

HealthStatus WorstOf(const std::vector<HealthVerdict>& verdicts) {
  HealthStatus worst = HealthStatus::kUnjudged;
  bool unjudged = false;
  for (const HealthVerdict& verdict : verdicts) {
    unjudged = unjudged || verdict.status == HealthStatus::kUnjudged;
    worst = std::max(worst, verdict.status);
  }
  return worst == HealthStatus::kGood && unjudged ? HealthStatus::kUnjudged : worst;
}

std::string TextOf(const std::vector<HealthVerdict>& verdicts, HealthStatus status) {
  std::string text;
  for (const HealthVerdict& verdict : verdicts) {
    if (verdict.status == status) {
      absl::StrAppend(&text, text.empty() ? "" : "; ", TextOf(verdict));
    }
  }
  return text;
}

std::string NamesOf(const std::vector<HealthVerdict>& verdicts, HealthStatus status) {
  std::string text;
  for (const HealthVerdict& verdict : verdicts) {
    if (verdict.status == status) {
      absl::StrAppend(&text, text.empty() ? "" : ", ", verdict.figure.component);
    }
  }
  return text;
}

std::string Thousandths(std::uint64_t value) {
  // Three digits are enough to compare by; small numbers keep those behind the point.
  const std::uint64_t whole = value / 1000;
  std::string text = absl::StrCat(whole);
  const std::size_t digits = whole >= 100 ? 0 : whole >= 10 ? 1 : whole >= 1 ? 2 : 3;
  std::string rest = absl::StrCat(1000 + value % 1000).substr(1, digits);
  rest.erase(rest.find_last_not_of('0') + 1);
  return rest.empty() ? text : absl::StrCat(text, ".", rest);
}

}  // namespace muster::core
