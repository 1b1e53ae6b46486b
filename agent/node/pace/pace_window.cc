#include "agent/node/pace/pace_window.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace muster::agent {
namespace {

using WeighedNumber = std::pair<std::uint32_t, Duration>;

// Of numbers that each held for a time, the least that held, or was passed, for half of all.
std::optional<std::uint32_t> MedianByTime(std::vector<WeighedNumber> numbers) {
  std::sort(numbers.begin(), numbers.end());
  Duration all{0};
  for (const WeighedNumber& number : numbers) {
    all += number.second;
  }
  Duration passed{0};
  for (const WeighedNumber& number : numbers) {
    passed += number.second;
    if (2 * passed >= all) {
      return number.first;
    }
  }
  return std::nullopt;
}

template <class Look>
Duration SpanOf(const std::deque<Look>& looks) {
  Duration span{0};
  for (const Look& look : looks) {
    span += look.span;
  }
  return span;
}

template <class Look>
void Keep(const Look& look, std::deque<Look>& looks) {
  if (look.span <= Duration(0)) {
    return;
  }
  looks.push_back(look);
  while (looks.size() > 1 &&
         (looks.size() > kPaceLooksMost || SpanOf(looks) - looks.front().span >= kPaceWindow)) {
    looks.pop_front();
  }
}

template <class Look, class Member>
std::optional<std::uint32_t> MedianOf(const std::deque<Look>& looks, Member member) {
  std::vector<WeighedNumber> told;
  for (const Look& look : looks) {
    if ((look.*member).has_value()) {
      told.emplace_back(*(look.*member), look.span);
    }
  }
  return MedianByTime(std::move(told));
}

// By time, of the looks that tell it.
template <class Look>
std::optional<std::uint32_t> MeanOf(const std::deque<Look>& looks,
                                    std::optional<std::uint32_t> Look::*member) {
  std::int64_t sum = 0;
  Duration told{0};
  for (const Look& look : looks) {
    if ((look.*member).has_value()) {
      sum += static_cast<std::int64_t>(*(look.*member)) * look.span.count();
      told += look.span;
    }
  }
  return told == Duration(0) ? std::nullopt
                             : std::optional(static_cast<std::uint32_t>(sum / told.count()));
}

std::optional<std::uint32_t> LastingBrakes(const std::deque<GpuLook>& looks) {
  constexpr std::uint32_t kBits = 32;
  Duration told{0};
  std::vector<Duration> held(kBits, Duration(0));
  for (const GpuLook& look : looks) {
    if (look.brakes.has_value()) {
      told += look.span;
      for (std::uint32_t bit = 0; bit < kBits; ++bit) {
        held[bit] += (*look.brakes >> bit & 1U) != 0 ? look.span : Duration(0);
      }
    }
  }
  if (told == Duration(0)) {
    return std::nullopt;
  }
  std::uint32_t lasting = 0;
  for (std::uint32_t bit = 0; bit < kBits; ++bit) {
    lasting |= 2 * held[bit] >= told && held[bit] > Duration(0) ? 1U << bit : 0U;
  }
  return lasting;
}

}  // namespace

void RankWindow::Add(const RankLook& look) {
  Keep(look, looks_);
}

void RankWindow::Mark(double step, Time said, Time now) {
  if (!marks_.empty() && step < marks_.back().step) {
    marks_.clear();
  }
  if (marks_.empty() || (said > marks_.back().said && step > marks_.back().step)) {
    marks_.push_back({step, said});
  }
  while (!marks_.empty() &&
         (marks_.size() > kPaceLooksMost || now - marks_.front().said > kPaceWindow)) {
    marks_.pop_front();
  }
}

RankPace RankWindow::Now() const {
  RankPace pace;
  pace.span = SpanOf(looks_);
  pace.looks = static_cast<std::uint32_t>(looks_.size());
  pace.wanted = MeanOf(looks_, &RankLook::wanted);
  pace.granted = MedianOf(looks_, &RankLook::granted);
  pace.stolen = MedianOf(looks_, &RankLook::stolen);
  pace.cpu_mhz = MedianOf(looks_, &RankLook::cpu_mhz);
  if (!marks_.empty() && marks_.back().said - marks_.front().said >= kMarksApart) {
    constexpr double kMsOfMillionSeconds = 1e9;
    const Duration apart = marks_.back().said - marks_.front().said;
    pace.progress = static_cast<std::uint64_t>(
        std::llround((marks_.back().step - marks_.front().step) * kMsOfMillionSeconds /
                     static_cast<double>(apart.count())));
  }
  return pace;
}

void GpuWindow::Add(const GpuLook& look) {
  Keep(look, looks_);
}

GpuPace GpuWindow::Now() const {
  std::deque<GpuLook> busy;
  for (const GpuLook& look : looks_) {
    if (look.busy_percent.value_or(0) >= kBusyPercent) {
      busy.push_back(look);
    }
  }
  GpuPace pace;
  pace.span = SpanOf(looks_);
  pace.looks = static_cast<std::uint32_t>(busy.size());
  pace.busy = SpanOf(busy);
  pace.clock_mhz = MedianOf(busy, &GpuLook::clock_mhz);
  pace.clock_most_mhz = MedianOf(busy, &GpuLook::clock_most_mhz);
  pace.brakes = LastingBrakes(busy);
  pace.work = MeanOf(looks_, &GpuLook::work);
  if (!busy.empty() && busy.back().link != GpuLink()) {
    pace.link = busy.back().link;
  }
  return pace;
}

}  // namespace muster::agent
