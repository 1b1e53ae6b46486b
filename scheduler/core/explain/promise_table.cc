#include "scheduler/core/explain/promise_table.h"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace muster::core {
namespace {

constexpr Duration kSlack = std::chrono::seconds(1);

double Seconds(Duration duration) {
  return static_cast<double>(duration.count()) / 1000;
}

void Add(Time promised, Time start, PromiseTally& tally) {
  tally.held += start <= promised + kSlack ? 1 : 0;
  tally.error_s += std::abs(Seconds(start - promised));
}

}  // namespace

void PromiseTable::Plan(const muster::Plan& plan, Time now) {
  for (const PlannedReservation& reservation : plan.reservations) {
    const auto [promise, is_new] = open_.try_emplace(reservation.job);
    if (is_new) {
      promise->second.made = now;
      promise->second.first = reservation.start;
    }
    promise->second.last = reservation.start;
  }
}

void PromiseTable::Apply(const Event& event) {
  if (const auto* promised = std::get_if<StartPromised>(&event)) {
    const auto [promise, is_new] = open_.try_emplace(promised->job);
    if (is_new) {
      promise->second.made = promised->time;
      promise->second.first = promised->by;
    }
    promise->second.last = promised->by;
  } else if (const auto* start = std::get_if<AttemptStarted>(&event)) {
    Start(start->job, start->time);
  } else if (const auto* end = std::get_if<JobEnded>(&event)) {
    open_.erase(open_.lower_bound(end->job),
                open_.upper_bound(JobId(end->job.value() + end->more)));
  } else if (const auto* held = std::get_if<JobHeld>(&event)) {
    open_.erase(held->job);
  } else if (const auto* updated = std::get_if<JobUpdated>(&event)) {
    open_.erase(updated->job);
  }
}

void PromiseTable::Start(JobId job, Time now) {
  const auto found = open_.find(job);
  if (found == open_.end()) {
    return;
  }
  const Promise& promise = found->second;
  ++sums_.starts;
  Add(promise.first, now, sums_.first);
  Add(promise.last, now, sums_.last);
  sums_.promised_wait_s += Seconds(promise.first - promise.made);
  const double late = Seconds(now - promise.first);
  if (late > std::max(sums_.worst_s, Seconds(kSlack))) {
    sums_.worst_s = late;
    sums_.worst = job;
  }
  open_.erase(found);
}

PromiseReport PromiseTable::Report() const {
  PromiseReport report = sums_;
  const double count = std::max<double>(1, static_cast<double>(report.starts));
  report.first.error_s /= count;
  report.last.error_s /= count;
  report.promised_wait_s /= count;
  return report;
}

}  // namespace muster::core
