#include "scheduler/simulator/flat/conservative_queue.h"

#include <algorithm>

#include "scheduler/base/status.h"
#include "scheduler/core/prompt/run_time_prediction.h"

namespace muster::sim {

ConservativeQueue::ConservativeQueue(const FlatPolicy& policy, std::int64_t processors, Tick now)
    : estimates_fall_short_(policy.estimates_fall_short), timeline_(processors, now) {
  MUSTER_CHECK(processors > 0 && policy.order == FlatOrder::kArrival);
}

const std::vector<FlatStart>& ConservativeQueue::RunCycle(Tick now) {
  starts_.clear();
  for (const std::uint32_t handle : ended_) {
    known_[handle].running = false;
  }
  if (estimates_fall_short_ && MustCorrect(now)) {
    Correct(now);
  } else {
    timeline_.Advance(now);
    TakeEnded(now);
    if (ended_early_) {
      Compress(now);
    }
  }
  ended_early_ = false;
  for (const std::uint32_t handle : arrived_) {
    Reserve(handle);
    Known& known = known_[handle];
    known.promised = estimates_fall_short_ ? kNever : known.start;
    known.waiting = true;
    Enqueue(known);
  }
  arrived_.clear();
  StartDue(now);
  return starts_;
}

void ConservativeQueue::Enqueue(const Known& known) {
  const FlatJob& job = known.job;
  queue_.Insert({0, known.number, job.handle, job.processors, job.estimate});
}

void ConservativeQueue::TakeEnded(Tick now) {
  for (const std::uint32_t handle : ended_) {
    const Known& known = known_[handle];
    if (known.end > now) {
      timeline_.Give(now, known.end, known.job.processors);
      freed_until_ = std::max(freed_until_, known.end);
      ended_early_ = true;
    }
  }
  ended_.clear();
}

// True when a running job has outlived its prediction and need not end by now.
bool ConservativeQueue::MustCorrect(Tick now) {
  while (!planned_ends_.empty() && planned_ends_.top().at <= now) {
    const Known& known = known_[planned_ends_.top().handle];
    if (known.running && known.number == planned_ends_.top().number &&
        known.end == planned_ends_.top().at && known.start + known.job.limit > now) {
      return true;
    }
    planned_ends_.pop();
  }
  return false;
}

// A running job stays where others had reserved: all reservations are given back, the job's own is
// made longer, and the waiting are put back in queue order.
void ConservativeQueue::Correct(Tick now) {
  const std::vector<WaitingEntry> waiting = queue_.Entries();
  for (const WaitingEntry& entry : waiting) {
    const Known& known = known_[entry.job];
    timeline_.Give(known.start, known.end, known.job.processors);
  }
  while (MustCorrect(now)) {
    Known& known = known_[planned_ends_.top().handle];
    planned_ends_.pop();
    const Tick planned = known.end;
    while (known.end <= now) {
      known.end = known.start + core::CorrectedPrediction(known.end - known.start,
                                                          known.corrections++, known.job.limit);
    }
    timeline_.Take(planned, known.end, known.job.processors);
    planned_ends_.push({known.end, known.number, known.job.handle});
  }
  timeline_.Advance(now);
  TakeEnded(now);
  for (const WaitingEntry& entry : waiting) {
    Reserve(entry.job);
  }
  freed_until_ = now;  // All have been tried.
}

// Everybody who waits tries to start earlier. Whoever could not before can only where something
// became free since: until freed_until_, by early ends and by moves of this cycle and the one
// before.
void ConservativeQueue::Compress(Tick now) {
  Tick freed = freed_until_;
  Tick moved = now;  // what the moves of this cycle freed
  std::int64_t highest = timeline_.HighestUntil(freed);
  WaitingList::Position at;
  for (;;) {
    at = queue_.Find(at, {.processors = highest, .window = kNever, .extra = 0});
    if (queue_.IsEnd(at)) {
      break;
    }
    Known& known = known_[queue_.At(at).job];
    at = queue_.Next(at);
    const Tick earlier =
        known.start > now
            ? timeline_.EarlierFit(known.job.estimate, known.job.processors, known.start, freed)
            : kNever;
    if (earlier != kNever) {
      moved = std::max(moved, known.end);
      freed = std::max(freed, known.end);
      MoveTo(known, earlier);
      highest = timeline_.HighestUntil(freed);
    }
  }
  freed_until_ = moved;
}

void ConservativeQueue::MoveTo(Known& known, Tick start) {
  timeline_.Give(known.start, known.end, known.job.processors);
  known.start = start;
  known.end = start + known.job.estimate;
  timeline_.Take(known.start, known.end, known.job.processors);
  NotifyDue(known);
}

void ConservativeQueue::Reserve(std::uint32_t handle) {
  Known& known = known_[handle];
  known.start = timeline_.EarliestFit(known.job.estimate, known.job.processors);
  MUSTER_CHECK(known.start != kNever);
  known.end = known.start + known.job.estimate;
  timeline_.Take(known.start, known.end, known.job.processors);
  NotifyDue(known);
}

void ConservativeQueue::NotifyDue(const Known& known) {
  due_.push({known.start, known.number, known.job.handle});
}

// Takes entries off the top until one stands for a reservation that still holds.
void ConservativeQueue::ForgetStaleDue() {
  while (!due_.empty()) {
    const Known& known = known_[due_.top().handle];
    if (known.number == due_.top().number && !known.running && known.start == due_.top().at) {
      return;
    }
    due_.pop();
  }
}

Tick ConservativeQueue::NextWake() {
  ForgetStaleDue();
  return due_.empty() ? kNever : due_.top().at;
}

void ConservativeQueue::StartDue(Tick now) {
  for (Tick next = NextWake(); next <= now; next = NextWake()) {
    MUSTER_CHECK(next == now);
    Known& known = known_[due_.top().handle];
    due_.pop();
    const bool is_head = queue_.Front().number == known.number;
    queue_.Remove(0, known.number);
    known.running = true;
    known.waiting = false;
    if (estimates_fall_short_) {
      planned_ends_.push({known.end, known.number, known.job.handle});
    }
    starts_.push_back(
        {known.job.handle, is_head ? FlatCause::kHead : FlatCause::kReserved, known.promised});
  }
}

void ConservativeQueue::SaveMore(ValueWriter& writer) const {
  writer.Put(freed_until_);
}

void ConservativeQueue::LoadMore(ValueReader& reader) {
  reader.Get(freed_until_);
}

bool ConservativeQueue::Resume(Tick now) {
  timeline_.Advance(now);
  for (const Known& known : known_) {
    if ((known.waiting || known.running) && known.end > now) {
      timeline_.Take(std::max(known.start, now), known.end, known.job.processors);
    }
    if (known.waiting) {
      Enqueue(known);
      NotifyDue(known);
    } else if (known.running && estimates_fall_short_) {
      planned_ends_.push({known.end, known.number, known.job.handle});
    }
  }
  return true;
}

}  // namespace muster::sim
