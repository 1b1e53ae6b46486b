#include "scheduler/core/explain/replay.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"
#include "scheduler/core/plan/planner.h"

namespace muster::core {
namespace {

constexpr std::size_t kPlansKept = 4;

}  // namespace

Replay::Replay(StateImage beginning)
    : state_(std::move(beginning)), has_beginning_(state_.version().valid()) {}

std::optional<ReplayDifference> Replay::Apply(const JournalEntry& entry) {
  MUSTER_CHECK(entry.version == version().Next());
  std::optional<ReplayDifference> difference;
  if (const auto* start = std::get_if<AttemptStarted>(&entry.event)) {
    difference = CheckStart(*start);
  }
  state_.Apply(entry.event);
  snapshots_.Note(entry.event, state_.version());
  promises_.Apply(entry.event);
  ++entries_;
  return difference;
}

std::optional<ReplayDifference> Replay::CheckStart(const AttemptStarted& start) {
  if (plans_.empty()) {
    ++starts_unchecked_;  // no cycle was made again yet
    return std::nullopt;
  }
  ++starts_;
  const bool planned = std::any_of(plans_.begin(), plans_.end(), [&start](const Plan& plan) {
    return plan.hash == start.plan_hash &&
           std::any_of(plan.starts.begin(), plan.starts.end(), [&start](const PlannedStart& each) {
             return each.job == start.job && each.allocation == start.allocation;
           });
  });
  if (planned) {
    return std::nullopt;
  }
  return ReplayDifference{
      version().Next(), start.time,
      absl::StrCat("job ", start.job.value(), " was started by plan ", HashText(start.plan_hash),
                   "; no plan made again lately has that start")};
}

std::optional<ReplayDifference> Replay::Check(const CycleRecord& record) {
  MUSTER_CHECK(record.version == version());
  if (record.follows && plans_.empty() && has_beginning_) {
    ++cycles_unchecked_;
    return std::nullopt;
  }
  std::shared_ptr<const Snapshot> snapshot = snapshots_.Build(
      state_, record.now, record.follows && !plans_.empty() ? &plans_.back() : nullptr,
      record.config->network);
  plans_.push_back(MakePlan(std::move(snapshot), *record.config, memory_));
  if (plans_.size() > kPlansKept) {
    plans_.pop_front();
  }
  if (record.config->priority.order != QueueRule::kPrompt) {  // there the journal says them
    promises_.Plan(plans_.back(), record.now);
  }
  ++cycles_;
  if (plans_.back().hash == record.hash) {
    return std::nullopt;
  }
  return ReplayDifference{record.version, record.now,
                          absl::StrCat("a cycle made plan ", HashText(record.hash),
                                       ", made again it is ", HashText(plans_.back().hash))};
}

}  // namespace muster::core
