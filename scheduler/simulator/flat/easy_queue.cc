#include "scheduler/simulator/flat/easy_queue.h"

#include <algorithm>

#include "scheduler/base/status.h"
#include "scheduler/core/prompt/run_time_prediction.h"
#include "scheduler/simulator/flat/queue_score.h"

namespace muster::sim {

EasyQueue::EasyQueue(const FlatPolicy& policy, std::int64_t processors, Tick now)
    : policy_(policy), timeline_(processors, now) {
  MUSTER_CHECK(processors > 0 && policy.backfill != Backfill::kConservative);
}

const std::vector<FlatStart>& EasyQueue::RunCycle(Tick now) {
  starts_.clear();
  ChargeUsers(now);
  for (const std::uint32_t handle : ended_) {
    known_[handle].running = false;
  }
  Correct(now);
  timeline_.Advance(now);
  TakeEnded(now);
  changed_ = changed_ || timeline_.FreeNow() != free_seen_;
  TakeArrived(now);
  if (!queue_.empty()) {
    if (ScoreMoves(policy_.order)) {
      Rescore(now);
    }
    if (changed_ || head_seen_ != queue_.Front().number) {
      StartHeads(now);
      BackfillAll(now);
    } else if (policy_.backfill == Backfill::kEasy) {
      BackfillArrived(now);
    }
  }
  arrived_.clear();
  free_seen_ = timeline_.FreeNow();
  changed_ = false;
  return starts_;
}

// What has run since it was charged last: of jobs that have ended, and of the others where somebody
// waits who is scored by it.
void EasyQueue::ChargeUsers(Tick now) {
  if (policy_.order != FlatOrder::kFairshare) {
    return;
  }
  const auto charge = [this, now](Known& known) {
    usage_.Charge(known.job.user, known.job.processors, known.charged, now);
    known.charged = now;
  };
  for (const std::uint32_t handle : ended_) {
    charge(known_[handle]);
  }
  if (queue_.empty() && arrived_.empty()) {
    return;
  }
  for (Known& known : known_) {
    if (known.running) {
      charge(known);
    }
  }
}

double EasyQueue::ScoreOf(const FlatJob& job, Tick now) const {
  return policy_.order == FlatOrder::kFairshare
             ? static_cast<double>(usage_.At(job.user, now))
             : QueueScore(policy_.order, job.processors, job.submit, job.estimate, now);
}

// What a job that ended early would have held is free again.
void EasyQueue::TakeEnded(Tick now) {
  for (const std::uint32_t handle : ended_) {
    const Known& known = known_[handle];
    if (known.end > now) {
      timeline_.Give(now, known.end, known.job.processors);
      changed_ = true;
    }
  }
  ended_.clear();
}

// Jobs that run on past their planned end are planned again, unless they must end by now.
void EasyQueue::Correct(Tick now) {
  while (!planned_ends_.empty() && planned_ends_.top().first <= now) {
    const auto [planned, handle] = planned_ends_.top();
    planned_ends_.pop();
    Known& known = known_[handle];
    const bool is_late = known.running && known.end == planned;
    if (!is_late || known.start + known.job.limit <= now) {
      continue;
    }
    while (known.end <= now) {
      known.end = known.start + core::CorrectedPrediction(known.end - known.start,
                                                          known.corrections++, known.job.limit);
    }
    timeline_.Take(planned, known.end, known.job.processors);
    planned_ends_.emplace(known.end, handle);
    changed_ = true;
  }
}

void EasyQueue::TakeArrived(Tick now) {
  for (const std::uint32_t handle : arrived_) {
    Known& known = known_[handle];
    known.score = ScoreOf(known.job, now);
    known.waiting = true;
    Enqueue(known);
  }
}

WaitingEntry EasyQueue::EntryOf(const Known& known, double score) const {
  const FlatJob& job = known.job;
  return {score, known.number, job.handle, job.processors, job.estimate};
}

// Into the lists, by its score.
void EasyQueue::Enqueue(const Known& known) {
  queue_.Insert(EntryOf(known, known.score));
  if (ByEstimate()) {
    by_estimate_.Insert(EntryOf(known, static_cast<double>(known.job.estimate)));
  }
}

// Puts the queue into the order of `now`, unless nobody could start anyway.
void EasyQueue::Rescore(Tick now) {
  changed_ = true;
  if (queue_.FewestProcessors() > timeline_.FreeNow()) {
    return;
  }
  std::vector<WaitingEntry> entries = queue_.Entries();
  for (WaitingEntry& entry : entries) {
    const FlatJob& job = known_[entry.job].job;
    entry.score = ScoreOf(job, now);
  }
  std::sort(entries.begin(), entries.end(), GoesBefore);
  queue_.Clear();
  for (const WaitingEntry& entry : entries) {
    known_[entry.job].score = entry.score;
    queue_.Insert(entry);
  }
}

void EasyQueue::StartHeads(Tick now) {
  while (!queue_.empty() && queue_.Front().processors <= timeline_.FreeNow()) {
    Start(queue_.Front().job, FlatCause::kHead, now);
  }
}

void EasyQueue::SeeShadow(Tick now) {
  const WaitingEntry& head = queue_.Front();
  head_seen_ = head.number;
  shadow_ = timeline_.EarliestFit(1, head.processors);
  extra_ = timeline_.FreeAt(shadow_) - head.processors;
  // A later head of another order, or a job that runs longer than planned, may break the word.
  Known& known = known_[head.job];
  if (policy_.order == FlatOrder::kArrival && !policy_.estimates_fall_short &&
      known.promised == kNever) {
    known.promised = shadow_;
  }
  MUSTER_CHECK(shadow_ > now && shadow_ != kNever);
}

FlatOpening EasyQueue::OpeningAt(Tick now) const {
  return {timeline_.FreeNow(), shadow_ - now, extra_};
}

// Every candidate once, against the shadow of the head that does not fit.
void EasyQueue::BackfillAll(Tick now) {
  if (queue_.empty() || policy_.backfill != Backfill::kEasy) {
    head_seen_ = queue_.empty() ? 0 : queue_.Front().number;
    return;
  }
  SeeShadow(now);
  const WaitingList& candidates = ByEstimate() ? by_estimate_ : queue_;
  WaitingList::Position at;
  while (timeline_.FreeNow() > 0) {
    at = candidates.Find(at, OpeningAt(now));  // never the head: it does not fit
    if (candidates.IsEnd(at)) {
      break;
    }
    StartInShadow(candidates.At(at).job, now);  // The one after it takes its place.
  }
}

// Only those that came since the last cycle, in the order of the candidates.
void EasyQueue::BackfillArrived(Tick now) {
  std::vector<WaitingEntry> entries;
  for (const std::uint32_t handle : arrived_) {
    const Known& known = known_[handle];
    entries.push_back(
        EntryOf(known, ByEstimate() ? static_cast<double>(known.job.estimate) : known.score));
  }
  std::sort(entries.begin(), entries.end(), GoesBefore);
  for (const WaitingEntry& entry : entries) {
    if (OpeningAt(now).Admits(entry.processors, entry.estimate)) {
      StartInShadow(entry.job, now);
    }
  }
}

void EasyQueue::StartInShadow(std::uint32_t handle, Tick now) {
  const FlatJob& job = known_[handle].job;
  if (job.estimate > shadow_ - now) {
    extra_ -= job.processors;
  }
  Start(handle, FlatCause::kBackfilled, now);
}

void EasyQueue::Start(std::uint32_t handle, FlatCause cause, Tick now) {
  Known& known = known_[handle];
  queue_.Remove(known.score, known.number);
  if (ByEstimate()) {
    by_estimate_.Remove(static_cast<double>(known.job.estimate), known.number);
  }
  known.running = true;
  known.waiting = false;
  known.start = known.charged = now;
  known.end = now + known.job.estimate;
  timeline_.Take(now, known.end, known.job.processors);
  if (policy_.estimates_fall_short) {
    planned_ends_.emplace(known.end, handle);
  }
  starts_.push_back({handle, cause, known.promised});
}

void EasyQueue::SaveMore(ValueWriter& writer) const {
  writer.Put(usage_);
}

void EasyQueue::LoadMore(ValueReader& reader) {
  reader.Get(usage_);
}

// What else a queue keeps is worked out again: a cycle that looks at everybody finds what one finds
// that looks at newcomers only.
bool EasyQueue::Resume(Tick now) {
  timeline_.Advance(now);
  for (const Known& known : known_) {
    if (known.waiting) {
      Enqueue(known);
    }
    if (known.running && known.end > now) {
      timeline_.Take(now, known.end, known.job.processors);
    }
    if (known.running && policy_.estimates_fall_short) {
      planned_ends_.emplace(known.end, known.job.handle);
    }
  }
  changed_ = true;
  return true;
}

}  // namespace muster::sim
