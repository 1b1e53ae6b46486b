#include "scheduler/simulator/flat/prompt_queue.h"

#include <algorithm>

#include "scheduler/base/status.h"

namespace muster::sim {
namespace {

double KeyOf(const core::PromptRules& rules, const FlatJob& job) {
  return static_cast<double>(core::PromptKey(rules, job.submit, job.estimate));
}

}  // namespace

PromptQueue::PromptQueue(const FlatPolicy& policy, std::int64_t processors, Tick now)
    : rules_(policy.prompt),
      processors_(processors),
      places_(processors, now),
      running_(processors, now) {
  MUSTER_CHECK(processors > 0 && policy.order == FlatOrder::kPrompt);
}

const std::vector<FlatStart>& PromptQueue::RunCycle(Tick now) {
  starts_.clear();
  places_.Advance(now);
  running_.Advance(now);
  TakeEnded(now);
  TakeArrived(now);
  StartDue(now);
  if (by_key_.empty()) {
    arrived_.clear();
    return starts_;
  }
  patience_ = core::PatienceAt(rules_, by_estimate_.Drain(processors_, in_use_, now));
  const Known& first = known_[by_arrival_.Front().job];
  changed_ = changed_ || (IsImpatient(first, now) && !head_is_impatient_);
  if (changed_) {
    LookAtAll(now);
  } else {
    LookAtArrived(now);
  }
  arrived_.clear();
  return starts_;
}

Tick PromptQueue::Backlog::Drain(std::int64_t processors, std::int64_t in_use, Tick now) const {
  const absl::int128 left = ends - absl::int128(in_use) * now;
  const absl::int128 work = waiting + (left > 0 ? left : absl::int128(0));
  return static_cast<Tick>(std::min<absl::int128>(work / processors, core::kLongSpan));
}

void PromptQueue::Enqueue(const Known& known) {
  const FlatJob& job = known.job;
  by_key_.Insert({KeyOf(rules_, job), known.number, job.handle, job.processors, job.limit});
  by_arrival_.Insert({0, known.number, job.handle, job.processors, job.limit});
  by_estimate_.waiting += absl::int128(job.processors) * job.estimate;
  by_limit_.waiting += absl::int128(job.processors) * job.limit;
}

void PromptQueue::Dequeue(const Known& known) {
  const FlatJob& job = known.job;
  by_key_.Remove(KeyOf(rules_, job), known.number);
  by_arrival_.Remove(0, known.number);
  by_estimate_.waiting -= absl::int128(job.processors) * job.estimate;
  by_limit_.waiting -= absl::int128(job.processors) * job.limit;
}

void PromptQueue::CountRunning(const Known& known, int sign) {
  const FlatJob& job = known.job;
  in_use_ += sign * job.processors;
  by_estimate_.ends += sign * absl::int128(job.processors) * (known.start + job.estimate);
  by_limit_.ends += sign * absl::int128(job.processors) * (known.start + job.limit);
}

void PromptQueue::TakeEnded(Tick now) {
  for (const std::uint32_t handle : ended_) {
    Known& known = known_[handle];
    known.running = false;
    places_.GiveBack(known.place());
    running_.GiveBack(known.place());
    CountRunning(known, -1);
    changed_ = true;
  }
  ended_.clear();
  changed_ = changed_ || places_.now() != now;
}

// Each gets its promise and a place, as late as that allows.
void PromptQueue::TakeArrived(Tick now) {
  for (const std::uint32_t handle : arrived_) {
    Known& known = known_[handle];
    const FlatJob& job = known.job;
    const Tick earliest = places_.Earliest(now, job.limit, job.processors);
    MUSTER_CHECK(earliest != core::kNoPromise);
    const Tick worked_off = now + by_limit_.Drain(processors_, in_use_, now);
    known.promised = core::PromiseOf(rules_, std::max(earliest, earliest > now ? worked_off : now));
    KeepLate(known);
    known.waiting = true;
    Enqueue(known);
  }
}

void PromptQueue::KeepAt(Known& known, Tick start) {
  const core::KeptPlace place = places_.Keep(start, known.job.limit, known.job.processors);
  known.start = place.start;
  known.from = place.from;
  known.until = place.until;
  due_.push({start, known.number, known.job.handle});
  by_until_.emplace(known.until, known.job.handle);
}

// What is kept for it is free again.
void PromptQueue::GiveUp(Known& known) {
  places_.GiveBack(known.place());
  by_until_.erase({known.until, known.job.handle});
}

// The waiting jobs with places that meet [from, until); nothing where that takes too many looks.
std::optional<std::vector<std::uint32_t>> PromptQueue::KeptWithin(Tick from, Tick until) const {
  constexpr int kLooksMost = 256;
  constexpr std::size_t kQueueMost = 4096;  // of longer ones each cycle would look in vain
  std::vector<std::uint32_t> handles;
  int looks = 0;
  for (auto at = by_until_.upper_bound({from, UINT32_MAX}); at != by_until_.end(); ++at) {
    if (++looks > kLooksMost || by_until_.size() > kQueueMost) {
      return std::nullopt;
    }
    if (known_[at->second].from < until) {
      handles.push_back(at->second);
    }
  }
  return handles;
}

// Gives each a place as late as its promise allows, the latest promise first; none where that
// cannot be. REQUIRES: they have none.
bool PromptQueue::KeepAllLate(std::vector<std::uint32_t> handles) {
  std::sort(handles.begin(), handles.end(), [this](std::uint32_t a, std::uint32_t b) {
    return std::pair(known_[b].promised, b) < std::pair(known_[a].promised, a);
  });
  for (std::size_t i = 0; i < handles.size(); ++i) {
    Known& known = known_[handles[i]];
    const Tick late = places_.Latest(known.promised, known.job.limit, known.job.processors);
    if (late == core::kNoPromise) {
      for (std::size_t kept = 0; kept < i; ++kept) {
        GiveUp(known_[handles[kept]]);
      }
      return false;
    }
    KeepAt(known, late);
  }
  return true;
}

// Keeps the job a place from `start` on, and moves the places of others that are in its way. False,
// and all is as it was, where a promise could not be kept then.
bool PromptQueue::MakeWay(Known& known, Tick start) {
  std::optional<std::vector<std::uint32_t>> moved = KeptWithin(start, start + known.job.limit);
  if (!moved.has_value()) {
    return false;
  }
  std::erase(*moved, known.job.handle);
  std::vector<Known> before = {known};
  GiveUp(known);
  for (const std::uint32_t handle : *moved) {
    before.push_back(known_[handle]);
    GiveUp(known_[handle]);
  }
  if (places_.Earliest(start, known.job.limit, known.job.processors) == start) {
    KeepAt(known, start);
    if (KeepAllLate(*std::move(moved))) {
      return true;
    }
    GiveUp(known);
  }
  for (const Known& old : before) {
    known_[old.job.handle] = old;
    places_.KeepAgain(old.place());
    due_.push({old.start, old.number, old.job.handle});
    by_until_.emplace(old.until, old.job.handle);
  }
  return false;
}

void PromptQueue::KeepLate(Known& known) {
  const Tick start = places_.Latest(known.promised, known.job.limit, known.job.processors);
  MUSTER_CHECK(start != core::kNoPromise);
  KeepAt(known, start);
}

void PromptQueue::Start(Known& known, FlatCause cause, Tick now) {
  Dequeue(known);
  GiveUp(known);
  known.waiting = false;
  known.running = true;
  const core::KeptPlace place = places_.Keep(now, known.job.limit, known.job.processors);
  known.start = place.start;
  known.from = place.from;
  known.until = place.until;
  running_.KeepAgain(place);
  CountRunning(known, 1);
  if (has_head_ && head_ == known.job.handle) {
    has_head_ = false;
    head_is_impatient_ = false;
    changed_ = true;
  }
  starts_.push_back({known.job.handle, cause, known.promised});
}

// Takes entries off the top until one stands for a place that is still kept.
Tick PromptQueue::NextWake() {
  while (!due_.empty()) {
    const Known& known = known_[due_.top().handle];
    if (known.number == due_.top().number && known.waiting && known.start == due_.top().at) {
      return due_.top().at;
    }
    due_.pop();
  }
  return kNever;
}

void PromptQueue::StartDue(Tick now) {
  for (Tick next = NextWake(); next <= now; next = NextWake()) {
    MUSTER_CHECK(next == now);
    Known& known = known_[due_.top().handle];
    due_.pop();
    Start(known, FlatCause::kReserved, now);
  }
}

void PromptQueue::LeaveHead() {
  if (has_head_ && !head_is_impatient_) {
    Known& known = known_[head_];
    GiveUp(known);
    KeepLate(known);
  }
  has_head_ = false;
  head_is_impatient_ = false;
}

// Its place is moved to where it could start first; what was promised holds in any case.
void PromptQueue::BecomeHead(Known& known, Tick now) {
  if (!has_head_ || head_ != known.job.handle) {
    LeaveHead();
  }
  has_head_ = true;
  head_ = known.job.handle;
  GiveUp(known);
  const Tick earliest = places_.Earliest(now, known.job.limit, known.job.processors);
  KeepAt(known, std::min(earliest, known.start));
  const Tick alone = running_.Earliest(now, known.job.limit, known.job.processors);
  if (alone < known.start) {
    MakeWay(known, alone);
  }
  head_is_impatient_ = IsImpatient(known, now);
  if (head_is_impatient_) {
    known.promised = std::min(known.promised, known.start);
  }
}

// Those whose patience is over, first come first; then all, by key.
void PromptQueue::LookAtAll(Tick now) {
  blocked_ = false;
  LookAlong(by_arrival_, true, now);
  LookAlong(by_key_, false, now);
  if (!blocked_) {
    LeaveHead();
  }
  changed_ = false;
}

// Along the list, each that could still fit. The first that cannot start becomes the head, if it
// has too few processors or has lost its patience.
void PromptQueue::LookAlong(const WaitingList& list, bool only_impatient, Tick now) {
  WaitingList::Position at;
  FlatOpening opening = OpeningAt(now);
  for (;;) {
    at = list.Find(at, opening);
    if (list.IsEnd(at)) {
      return;
    }
    Known& known = known_[list.At(at).job];
    const bool is_impatient = IsImpatient(known, now);
    if (only_impatient && !is_impatient) {
      return;
    }
    const bool has_room = known.job.processors <= processors_ - in_use_;
    if (has_room && (places_.FitsNow(known.job.limit, known.job.processors, known.place()) ||
                     (!blocked_ && MakeWay(known, now)))) {
      Start(known, blocked_ ? FlatCause::kBackfilled : FlatCause::kHead, now);
      opening = OpeningAt(now);
      continue;  // the next one stands there now
    }
    if (!blocked_ && (!has_room || is_impatient)) {
      blocked_ = true;
      BecomeHead(known, now);
      opening = OpeningAt(now);
    }
    at = list.Next(at);
  }
}

// Who cannot be ruled out at once: everybody until somebody is blocked.
FlatOpening PromptQueue::OpeningAt(Tick now) const {
  if (!blocked_) {
    return {processors_, kNever, processors_};
  }
  const std::int64_t free = processors_ - in_use_;
  if (by_key_.empty()) {
    return {0, 0, 0};
  }
  core::PromisedPlaces::Narrow narrow = places_.FirstNarrow(by_key_.FewestProcessors() - 1);
  if (narrow.at == core::kNoPromise) {
    narrow = places_.FirstNarrow(free / 4);
  }
  return {free, narrow.at == core::kNoPromise ? kNever : narrow.at - now, narrow.free};
}

// Nothing became free since all were looked at: only newcomers may fit.
void PromptQueue::LookAtArrived(Tick now) {
  std::sort(arrived_.begin(), arrived_.end(), [this](std::uint32_t a, std::uint32_t b) {
    const double key_a = KeyOf(rules_, known_[a].job);
    const double key_b = KeyOf(rules_, known_[b].job);
    return key_a != key_b ? key_a < key_b : known_[a].number < known_[b].number;
  });
  for (const std::uint32_t handle : arrived_) {
    Known& known = known_[handle];
    if (known.waiting && places_.FitsNow(known.job.limit, known.job.processors, known.place())) {
      Start(known, has_head_ ? FlatCause::kBackfilled : FlatCause::kHead, now);
    }
  }
}

void PromptQueue::SaveMore(ValueWriter& writer) const {
  writer.Put(head_);
  writer.Put(has_head_);
  writer.Put(head_is_impatient_);
  writer.Put(changed_);
}

void PromptQueue::LoadMore(ValueReader& reader) {
  reader.Get(head_);
  reader.Get(has_head_);
  reader.Get(head_is_impatient_);
  reader.Get(changed_);
}

bool PromptQueue::Resume(Tick now) {
  if (has_head_ && head_ >= known_.size()) {
    return false;
  }
  places_.Advance(now);
  running_.Advance(now);
  for (const Known& known : known_) {
    if (known.running || known.waiting) {
      places_.KeepAgain(known.place());
    }
    if (known.waiting) {
      Enqueue(known);
      due_.push({known.start, known.number, known.job.handle});
      by_until_.emplace(known.until, known.job.handle);
    } else if (known.running) {
      running_.KeepAgain(known.place());
      CountRunning(known, 1);
    }
  }
  return true;
}

}  // namespace muster::sim
