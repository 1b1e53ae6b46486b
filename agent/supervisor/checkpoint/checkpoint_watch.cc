#include "agent/supervisor/checkpoint/checkpoint_watch.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>

#include "absl/status/statusor.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/process.h"

namespace muster::agent {
namespace {

using checkpoint::SlotReport;

constexpr std::uint64_t kCommitsMax = 1'000'000;  // between two looks: more is not believed
constexpr std::uint64_t kMicroseconds = 1000;     // of a millisecond
constexpr int kWeight = 4;                        // of the mean before: three parts of four

bool IsRunning(const SlotReport& slot, const std::string& boot_id) {
  ProcessIdentity who;
  who.pid = static_cast<pid_t>(slot.pid);
  who.start_time_ticks = slot.start_ticks;
  who.boot_id = boot_id;
  return who.pid > 0 && IsAlive(who).value_or(true);  // "cannot tell" is not "dead"
}

// `us` as a duration that is at most `most`.
Duration Bounded(std::uint64_t us, Duration most) {
  const auto limit = static_cast<std::uint64_t>(std::max(most, Duration(0)).count());
  return Duration(static_cast<std::int64_t>(std::min(us / kMicroseconds, limit)));
}

std::uint64_t Sum(std::uint64_t a, std::uint64_t b) {
  return b > std::numeric_limits<std::uint64_t>::max() - a
             ? std::numeric_limits<std::uint64_t>::max()
             : a + b;
}

// Of no sessions: 0.
std::uint32_t LeastNotice(const std::vector<const SlotReport*>& sessions) {
  std::uint32_t least = sessions.empty() ? 0 : sessions.front()->notice;
  for (const SlotReport* slot : sessions) {
    least = std::min(least, slot->notice);
  }
  return least;
}

// Any one that fails leaves the others without.
std::uint32_t MostFailed(const std::vector<const SlotReport*>& sessions) {
  std::uint64_t most = 0;
  for (const SlotReport* slot : sessions) {
    most = std::max(most, slot->failed);
  }
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  return static_cast<std::uint32_t>(std::min(most, kMost));
}

std::uint64_t Gain(std::uint64_t now, std::uint64_t before) {
  return now > before ? now - before : 0;
}

}  // namespace

absl::Status CheckpointWatch::Make(const std::string& path, const JobUser* user, Time started) {
  checkpoint::Result<int> made = checkpoint::CreateProgress(path);
  if (!made.ok()) {
    return absl::InternalError("no page for checkpoints' progress: " + made.error.text);
  }
  page_ = UniqueFd(made.value);
  started_ = started;
  looked_ = started;
  if (user != nullptr && fchown(page_.get(), user->uid, user->gid) != 0) {
    return absl::ErrnoToStatus(errno, "no page for checkpoints' progress: " + path);
  }
  return absl::OkStatus();
}

void CheckpointWatch::Look(std::uint32_t notice, Time now) {
  if (!page_.valid()) {
    return;
  }
  const checkpoint::Result<checkpoint::ProgressReport> report =
      checkpoint::ReadProgress(page_.get());
  if (!report.ok() || report.value.slots.empty()) {
    return;
  }
  const absl::StatusOr<std::string> boot = ReadBootId();
  Take(
      report.value, [&](const SlotReport& slot) { return !boot.ok() || IsRunning(slot, *boot); },
      notice, now);
}

void CheckpointWatch::Take(const checkpoint::ProgressReport& report, const IsLiving& living,
                           std::uint32_t notice, Time now) {
  Slots open;
  Slots sessions;  // and those that are over since they committed
  for (const SlotReport& slot : report.slots) {
    Counted& counted = seen_[slot.index];
    if (counted.serial != slot.serial) {
      counted = {slot.serial, 0, 0, 0};
    }
    beats_ += std::min(Gain(slot.beats, counted.beats), std::uint64_t{1} << 32);
    counted.beats = slot.beats;
    TakeRestart(slot, now);
    const bool is_open = !slot.closed && living(slot);
    if (is_open) {
      open.push_back(&slot);
    }
    if (is_open || slot.commits > counted.commits) {
      sessions.push_back(&slot);
    }
  }
  TakeStall(sessions, now);
  TakeCommits(sessions, now);
  TakeCopies(report, now);
  record_.failed = MostFailed(open);
  record_.refused = report.refused;
  crowded_ = report.crowded;
  answered_ = LeastNotice(open);
  // Who answered and ended at once has answered.
  const std::uint32_t told = open.empty() ? LeastNotice(sessions) : answered_;
  record_.notice = std::max(record_.notice, std::min(told, notice));
  looked_ = std::max(looked_, now);
}

void CheckpointWatch::TakeSafeTime(Duration took) {
  safe_times_.Add(std::max(took, Duration(1)));
  record_.slow = safe_times_.Slow();
  record_.cost = record_.slow;
}

bool CheckpointWatch::Answered(std::uint32_t notice) const {
  return notice != 0 && answered_ >= notice && !crowded_;
}

Time CheckpointWatch::Within(std::uint64_t unix_ms, Time now) const {
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  const Time time{Duration(static_cast<std::int64_t>(std::min(unix_ms, kMost)))};
  return std::clamp(time, started_, std::max(now, started_));
}

// Several ranks stand still at the same time.
void CheckpointWatch::TakeStall(const Slots& sessions, Time now) {
  std::uint64_t most_us = 0;
  for (const SlotReport* slot : sessions) {
    Counted& counted = seen_[slot->index];
    most_us = std::max(most_us, Gain(slot->stall_us, counted.stall_us));
    counted.stall_us = slot->stall_us;
  }
  record_.stall += Bounded(most_us, now - started_ - record_.stall);
}

void CheckpointWatch::TakeCommits(const Slots& sessions, Time now) {
  if (sessions.empty()) {
    return;
  }
  std::uint64_t all = kCommitsMax;  // committed by each
  for (const SlotReport* slot : sessions) {
    all = std::min(all, Gain(slot->commits, seen_[slot->index].commits));
  }
  if (all == 0) {
    return;
  }
  std::uint64_t cost_us = 0;
  std::uint64_t bytes = 0;
  Time begun = Time::max();
  Time committed = kNoTime;
  for (const SlotReport* slot : sessions) {
    seen_[slot->index].commits += all;
    cost_us = std::max(cost_us, slot->cost_us);
    bytes = Sum(bytes, slot->bytes);
    begun = std::min(begun, Within(slot->begun_ms, now));
    committed = std::max(committed, Within(slot->ended_ms, now));
  }
  const Duration cost = Bounded(cost_us, now - started_);
  record_.cost = record_.count == 0 ? cost : ((kWeight - 1) * record_.cost + cost) / kWeight;
  safe_times_.Add(std::max(cost, committed - begun) + record_.flush);
  record_.slow = safe_times_.Slow();
  record_.count += all;
  record_.bytes = Bytes(bytes);
  record_.begun = std::max(record_.begun, begun);
  record_.committed = std::max({record_.committed, record_.begun, committed});
}

void CheckpointWatch::TakeCopies(const checkpoint::ProgressReport& report, Time now) {
  if (report.copies <= copies_) {
    return;
  }
  copies_ = report.copies;
  const Duration flush = std::max(Bounded(report.copy_us, now - started_), Duration(1));
  const bool first = record_.flush == Duration(0);
  record_.flush = first ? flush : ((kWeight - 1) * record_.flush + flush) / kWeight;
}

// The ranks of the first program that came back from a checkpoint had all begun by then.
void CheckpointWatch::TakeRestart(const SlotReport& slot, Time now) {
  if (slot.restored_ms == 0 || (restored_ms_ != 0 && slot.opened_ms > restored_ms_)) {
    return;
  }
  restored_ms_ = restored_ms_ == 0 ? slot.restored_ms : restored_ms_;
  record_.restart = std::max(record_.restart, Within(slot.restored_ms, now) - started_);
}

}  // namespace muster::agent
