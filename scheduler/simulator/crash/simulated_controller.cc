#include "scheduler/simulator/crash/simulated_controller.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/core/state/state_hash.h"
#include "scheduler/simulator/random_sequence.h"

namespace muster::sim {
namespace {

constexpr Duration kGather{5};                // inputs that come so close share a commit
constexpr Duration kCommitMax{30};            // a commit takes up to
constexpr std::size_t kFingerprintEvery = 8;  // commits: a fingerprint reads the whole state
constexpr Duration kControllerAwayMin{100};
constexpr Duration kControllerAwayMax{60'000};

}  // namespace

void SimulatedController::Start() {
  if (world_.defect == LifeDefect::kTailLost && !disk_.commits.empty()) {
    disk_.LoseLast();
  }
  const bool restored = std::exchange(restores_, false) && !disk_.commits.empty();
  if (restored) {
    Restore();
  }
  for (const JournalEntry& entry : disk_.entries) {
    if (world_.whole) {
      rows_.Note(state_, entry.event);
    }
    state_.Apply(entry.event);
  }
  if (world_.whole) {
    LoadRows();
  }
  alive_ = true;
  if (!disk_.commits.empty() && disk_.commits.back().fingerprint.has_value() &&
      core::HashOf(state_) != *disk_.commits.back().fingerprint) {
    world_.oracle.Broken("promise 6: the restarted controller has another state");
  }
  // The epoch is durable before anybody is listened to.
  BeginTerm(restored);
  if (restored) {
    TakeOver();
  }
  highest_.epoch = state_.epoch();
  if (!objects_.empty()) {
    const auto configured = Judge(ConfigurePolicy{objects_, User{0, 0, "root"}, "scenario"});
    // In a whole life another configuration may have been read since, whose objects jobs name.
    if (!configured->status.ok() && !world_.whole) {
      world_.oracle.Broken(absl::StrCat("the scenario's policy was refused: ",
                                        std::string(configured->status.message())));
    }
  }
  group_.fingerprint = core::HashOf(state_);
  Keep(group_);
  group_.entries.clear();
  group_.fingerprint.reset();
  world_.network.Listen(index_);
  WriteSoon();
  MaybePlan();
  WatchElastic();
  if (restored) {
    restored_();
  }
}

void SimulatedController::LoadRows() {
  constexpr int kDamages = 3;
  const StateImage image = rows_.ImageOf(state_);
  if (!image_.has_value() && image.version.valid()) {
    image_ = image;
  }
  core::ClusterState loaded(image);
  if (core::HashOf(loaded) != core::HashOf(state_)) {
    world_.oracle.Broken("promise 6: the state that a store loads is another");
  }
  RandomSequence random(world_.seed + life_);
  for (int i = 0; i < kDamages; ++i) {
    if (const std::optional<std::string> unseen = UnseenDamage(image, random)) {
      world_.oracle.Broken(*unseen);
    }
  }
  state_ = std::move(loaded);
}

void SimulatedController::Restore() {
  ++world_.faults.counts().states_restored;
  const std::uint64_t lost = 1 + world_.faults.Below(disk_.commits.size());
  for (std::uint64_t i = 0; i < lost; ++i) {
    disk_.LoseLast();
  }
}

// Agents refuse it while they have seen more, of another copy: who puts it in place does it again.
void SimulatedController::TakeOver() {
  const bool again = world_.defect == LifeDefect::kNumbersAgain;
  while (state_.epoch() <= highest_.epoch || (state_.next_job() < highest_.next_job && !again)) {
    BeginTerm(true);
  }
  world_.oracle.Restored(disk_.entries, state_.next_job(), world_.clock.now());
}

void SimulatedController::Die() {
  if (!alive_) {
    return;
  }
  ++world_.faults.counts().controllers_died;
  alive_ = false;
  ++life_;
  const std::uint32_t restored = world_.faults.rates().state_restored;
  restores_ = restores_ || (restored > 0 && world_.faults.Fault(restored));
  highest_.next_job = std::max(highest_.next_job, state_.next_job());
  if (writing_.has_value() && world_.faults.Chance(500)) {
    Keep(*writing_);
  }
  writing_.reset();
  group_ = Group();
  write_asked_ = false;
  Forget();
  state_ = core::ClusterState();
  rows_ = KeptRows();
  world_.network.StopListening(index_);
  world_.clock.After(world_.faults.Between(kControllerAwayMin, kControllerAwayMax),
                     [this] { Start(); });
}

void SimulatedController::WriteSoon() {
  if (write_asked_ || writing_.has_value() || (group_.entries.empty() && group_.after.empty())) {
    return;
  }
  write_asked_ = true;
  Later(world_.faults.Between(Duration(0), kGather), [this] { CloseGroup(); });
}

void SimulatedController::CloseGroup() {
  write_asked_ = false;
  if (world_.faults.DiesAt(DeathPoint::kBeforeCommit)) {
    Die();
    return;
  }
  writing_ = std::exchange(group_, Group());
  if (writing_->entries.empty()) {
    group_.cycles.swap(writing_->cycles);  // they wait for the next event
  }
  if (disk_.commits.size() % kFingerprintEvery == 0) {
    writing_->fingerprint = core::HashOf(state_);
  }
  if (world_.faults.DiesAt(DeathPoint::kInCommit)) {
    Die();
    return;
  }
  Later(world_.faults.Between(Duration(0), kCommitMax), [this] { Durable(); });
}

void SimulatedController::Durable() {
  Group group = *std::exchange(writing_, std::nullopt);
  Keep(group);
  if (world_.faults.DiesAt(DeathPoint::kAfterCommit)) {
    Die();
    return;
  }
  for (const auto& leave : group.after) {
    leave();
    if (world_.faults.DiesAt(DeathPoint::kBetweenEffects)) {
      Die();
      return;
    }
  }
  WriteSoon();
  MaybePlan();
}

void SimulatedController::Keep(Group& group) {
  if (!group.entries.empty()) {
    disk_.Add(std::move(group.entries), group.cycles, group.fingerprint);
  }
}

void SimulatedController::CheckReplay() {
  const std::optional<std::uint64_t> replayed = sim::CheckReplay(disk_, world_.oracle);
  if (image_.has_value()) {
    CheckReplayFrom(*image_, disk_, world_.oracle);
  }
  if (alive_ && replayed.has_value() && group_.entries.empty() && !writing_.has_value() &&
      *replayed != core::HashOf(state_)) {
    world_.oracle.Broken("promise 6: replay of the whole journal gives another state");
  }
}

}  // namespace muster::sim
