#pragma once

// The settings of the order called prompt: how far short jobs pass longer ones, and what is
// promised.
//
// core/prompt/prompt_order has the formulas. Invariants: durations are not negative; all zero:
// settings recorded before there were any.

#include <chrono>
#include <cstdint>

#include "scheduler/model/value/fields.h"
#include "scheduler/model/value/time.h"

namespace muster {

struct PromptPolicy {
  std::uint32_t stretch_permille = 10'000;     // of the estimate, in the key
  Duration patience = std::chrono::hours(16);  // of every job
  std::uint32_t backlog_permille = 500;        // of the time to work off the backlog, beside it
  Duration slack = std::chrono::hours(12);     // between what FCFS gives and the promise
  std::uint32_t promises = 1000;               // waiting jobs that have a promised start, at most
  static constexpr auto Fields(auto list) {
    return list(Field{"stretch_permille", &PromptPolicy::stretch_permille},
                Field{"patience", &PromptPolicy::patience},
                Field{"backlog_permille", &PromptPolicy::backlog_permille},
                Field{"slack", &PromptPolicy::slack}, Field{"promises", &PromptPolicy::promises});
  }
  friend bool operator==(const PromptPolicy&, const PromptPolicy&) = default;
};

}  // namespace muster
