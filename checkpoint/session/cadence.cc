#include "checkpoint/session/cadence.h"

#include <ctime>
#include <utility>

namespace muster::checkpoint {
namespace {

constexpr double kMillisecondsPerSecond = 1000;

double SecondsOf(clockid_t clock) {
  constexpr double kNanosecond = 1e-9;
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + kNanosecond * static_cast<double>(now.tv_nsec);
}

}  // namespace

Cadence::Cadence(double interval_s, bool together, HintFile hints, ProgressSlot progress)
    : together_(together),
      hints_(std::move(hints)),
      progress_(std::move(progress)),
      last_end_s_(SecondsOf(CLOCK_MONOTONIC)),
      goes_on_s_(last_end_s_) {
  pace_.interval_s = interval_s;
}

void Cadence::Begin() {
  began_s_ = SecondsOf(CLOCK_MONOTONIC);
  failed_ = false;
  if (!together_) {
    asked_notice_ = hints_.Read().notice_number;
  }
}

void Cadence::End() {
  last_end_s_ = SecondsOf(CLOCK_MONOTONIC);
  goes_on_s_ = last_end_s_;
  cost_sum_s_ += last_end_s_ - began_s_;
  ++checkpoints_;
  pace_.cost_s = cost_sum_s_ / static_cast<double>(checkpoints_);
  pace_.deadline_answered = asked_ == Need::kTimeLimit;
  answered_ = pace_.deadline_answered || pace_.answered_notice != asked_notice_;
  pace_.answered_notice = asked_notice_;
}

bool Cadence::WantsCopy(std::uint64_t since_copy) {
  const Committed committed{since_copy, answered_, pace_.cost_s};
  return IsCopied(hints_.Read(), committed, SecondsOf(CLOCK_REALTIME));
}

void Cadence::Fail() {
  if (!std::exchange(failed_, true)) {
    progress_.Failed();
  }
}

void Cadence::Report(const Error& error) {
  const double now_s = SecondsOf(CLOCK_MONOTONIC);
  goes_on_s_ = now_s;
  if (error.failed() && error.fault != Fault::kNotShared) {
    Fail();
    return;
  }
  constexpr double kMicrosecondsPerSecond = 1e6;
  const double now_ms = SecondsOf(CLOCK_REALTIME) * kMillisecondsPerSecond;
  const auto at = [&](double time_s) {
    return static_cast<std::uint64_t>(now_ms - (now_s - time_s) * kMillisecondsPerSecond);
  };
  progress_.Committed(
      {.begun_ms = at(began_s_),
       .ended_ms = at(last_end_s_),
       .cost_us = static_cast<std::uint64_t>((now_s - began_s_) * kMicrosecondsPerSecond),
       .bytes = written_bytes_,
       .notice = pace_.answered_notice});
}

void Cadence::Restored() {
  constexpr std::uint64_t kMilliseconds = 1000;
  constexpr std::uint64_t kNanosecondsPerMillisecond = 1000000;
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  progress_.Restored(static_cast<std::uint64_t>(now.tv_sec) * kMilliseconds +
                     static_cast<std::uint64_t>(now.tv_nsec) / kNanosecondsPerMillisecond);
}

Need Cadence::Ask() {
  const Hints& hints = hints_.Read();
  pace_.since_last_s = SecondsOf(CLOCK_MONOTONIC) - goes_on_s_;
  const Need need = Decide(hints, pace_, hints.deadline_ms != 0 ? SecondsOf(CLOCK_REALTIME) : 0);
  asked_ = need;
  asked_notice_ = hints.notice_number;
  progress_.Beat();
  return need;
}

void Cadence::AskedFor(std::uint32_t notice) {
  asked_notice_ = notice;
  progress_.Beat();
}

}  // namespace muster::checkpoint
