#include "agent/supervisor/values/value_watch.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_format.h"

namespace muster::agent {
namespace {

bool GoesDown(std::string_view name) {
  constexpr std::array<std::string_view, 3> kPieces = {"loss", "norm", "perplexity"};
  return std::any_of(kPieces.begin(), kPieces.end(), [name](std::string_view piece) {
    return absl::StrContains(std::string(name), std::string(piece));
  });
}

bool IsThroughput(std::string_view name) {
  constexpr std::array<std::string_view, 4> kEnds = {"/s", "_per_s", "_per_second", "throughput"};
  return std::any_of(kEnds.begin(), kEnds.end(),
                     [name](std::string_view end) { return name.ends_with(end); });
}

bool IsCounter(std::string_view name) {
  return name == "step" || name == "global_step" || name == "iteration";
}

double Median(const std::deque<double>& window) {
  std::vector<double> sorted(window.begin(), window.end());
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return *middle;
}

void Keep(double value, std::deque<double>& window) {
  window.push_back(value);
  if (window.size() > ValueWatch::kWindow) {
    window.pop_front();
  }
}

bool NamesTeller(const NamedValue& said) {
  return said.name == kTellersStep || said.name == kTellersRank;
}

// A number of a step or of a rank; nothing where it is none.
std::optional<std::uint32_t> NumberOf(const std::vector<NamedValue>& values,
                                      std::string_view name) {
  const auto said = std::find_if(values.begin(), values.end(),
                                 [name](const NamedValue& each) { return each.name == name; });
  constexpr double kMost = std::numeric_limits<std::uint32_t>::max();
  if (said == values.end() || !(said->value >= 0 && said->value <= kMost)) {
    return std::nullopt;
  }
  return static_cast<std::uint32_t>(said->value);
}

Teller TellerOf(const std::vector<NamedValue>& values, pid_t process) {
  const std::optional<std::uint32_t> step = NumberOf(values, kTellersStep);
  const std::optional<std::uint32_t> rank = NumberOf(values, kTellersRank);
  return step.value_or(0) > 0 && rank.has_value() ? Teller{*step, *rank, 0} : Teller{0, 0, process};
}

}  // namespace

void ValueWatch::TakeMark(double step, Time now, const Teller& who) {
  if (marks_.size() >= kMarksMax && !marks_.contains(who)) {
    marks_.erase(std::min_element(marks_.begin(), marks_.end(), [](const auto& a, const auto& b) {
      return a.second.time < b.second.time;
    }));
  }
  marks_[who] = {who, step, now};
}

void ValueWatch::Take(const std::vector<NamedValue>& values, Time now, pid_t who) {
  const Teller teller = TellerOf(values, who);
  for (const NamedValue& said : values) {
    if (NamesTeller(said)) {
      continue;
    }
    if (teller != Teller() && IsCounter(said.name) && std::isfinite(said.value)) {
      TakeMark(said.value, now, teller);
    }
    if (known_.size() >= kValuesMax && !known_.contains(said.name)) {
      continue;
    }
    Known& known = known_[said.name];
    if (std::isfinite(said.value)) {
      TakeNumber(said.name, said.value, now, known);
    } else if (known.not_a_number == kNoTime || known.number_again != kNoTime) {
      known.not_a_number = now;
      known.number_again = kNoTime;
    }
    known.value.name = said.name;
    known.value.last = said.value;
    known.value.time = now;
    ++known.value.count;
  }
}

void ValueWatch::TakeNumber(const std::string& name, double value, Time now, Known& known) {
  if (known.not_a_number != kNoTime && known.number_again == kNoTime) {
    known.number_again = now;
  }
  if (IsThroughput(name)) {
    TakeRate(value, now, known.rate);
    return;
  }
  if (IsCounter(name)) {
    const double seconds = std::chrono::duration<double>(now - known.value.time).count();
    if (known.value.count > 0 && seconds > 0 && value > known.value.last) {
      TakeRate((value - known.value.last) / seconds, now, known.rate);
    }
    return;
  }
  if (!GoesDown(name)) {
    return;
  }
  if (known.window.size() >= kWindowLeast) {
    const double usual = Median(known.window);
    if (usual > 0 && value > kSpike * usual) {
      known.spike = now;
      known.spike_value = value;
      known.spike_usual = usual;
    }
  }
  Keep(value, known.window);
}

// What is low does not become what is usual.
void ValueWatch::TakeRate(double rate, Time now, Rate& known) {
  known.last = rate;
  const double usual = known.window.empty() ? 0 : Median(known.window);
  if (known.window.size() >= kWindowLeast && rate < kDrop * usual) {
    if (++known.low == kDropsLeast) {
      known.since = now;
      known.usual = usual;
    }
    return;
  }
  known.low = 0;
  known.since = kNoTime;
  Keep(rate, known.window);
}

void ValueWatch::Tell(const std::string& name, const Known& known, Time now, ReportedValues& told) {
  if (known.not_a_number != kNoTime &&
      (known.number_again == kNoTime || now - known.number_again < kKept)) {
    told.findings.push_back(
        {"ValueNotANumber",
         absl::StrFormat("%s is %s", name,
                         std::isfinite(known.value.last) ? std::string("a number again")
                                                         : absl::StrFormat("%g", known.value.last)),
         known.not_a_number});
  }
  if (known.spike != kNoTime && now - known.spike < kKept) {
    told.findings.push_back(
        {"ValueSpike",
         absl::StrFormat("%s rose to %g, from %g", name, known.spike_value, known.spike_usual),
         known.spike});
  }
  if (known.rate.since != kNoTime) {
    told.findings.push_back(
        {"ThroughputDropped",
         absl::StrFormat("%s%s fell to %g, from %g", name, IsCounter(name) ? " a second" : "",
                         known.rate.last, known.rate.usual),
         known.rate.since});
  }
}

ReportedValues ValueWatch::Now(Time now) const {
  ReportedValues told;
  for (const auto& [name, known] : known_) {
    told.values.push_back(known.value);
    Tell(name, known, now, told);
  }
  for (const auto& [who, mark] : marks_) {
    told.marks.push_back(mark);
  }
  return told;
}

}  // namespace muster::agent
