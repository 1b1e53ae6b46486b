#include "scheduler/simulator/crash/replay_check.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "scheduler/core/explain/replay.h"
#include "scheduler/core/state/state_hash.h"

namespace muster::sim {
namespace {

// Applies the entry and checks the cycles made at its version, which are then behind; the first
// difference.
std::optional<core::ReplayDifference> DifferenceAt(const JournalEntry& entry,
                                                   std::span<const CycleRecord>& cycles,
                                                   core::Replay& replay) {
  std::optional<core::ReplayDifference> difference = replay.Apply(entry);
  for (; !cycles.empty() && cycles.front().version == entry.version; cycles = cycles.subspan(1)) {
    std::optional<core::ReplayDifference> other = replay.Check(cycles.front());
    difference = difference.has_value() ? difference : other;
  }
  return difference;
}

// A start that names another plan, or another place than its plan has.
JournalEntry WithAnotherStart(JournalEntry entry) {
  auto& start = std::get<AttemptStarted>(entry.event);
  if (entry.version.value() % 2 == 0) {
    ++start.plan_hash;
  } else {
    start.allocation.nodes.front().memory += kMebibyte;
  }
  return entry;
}

// What a replay finds no fault with, of records that are wrong: the cycle, and then the start.
std::optional<std::string> UnseenFault(const CycleRecord& cycle, const JournalEntry& start,
                                       core::Replay& replay) {
  CycleRecord other = cycle;
  other.version = replay.version();
  other.follows = false;
  ++other.hash;
  if (!replay.Check(other).has_value()) {
    return "a plan that was never made";
  }
  return replay.Apply(WithAnotherStart(start)).has_value()
             ? std::nullopt
             : std::optional<std::string>("a start that no plan has");
}

}  // namespace

void KeptJournal::Add(std::vector<JournalEntry> added, const std::vector<CycleRecord>& made,
                      std::optional<std::uint64_t> fingerprint) {
  for (JournalEntry& entry : added) {
    entries.push_back(std::move(entry));
  }
  cycles.insert(cycles.end(), made.begin(), made.end());
  commits.push_back(Commit{entries.back().version, fingerprint});
}

void KeptJournal::LoseLast() {
  commits.pop_back();
  const Version last = commits.empty() ? Version() : commits.back().version;
  const auto later = [last](const auto& each) { return each.version > last; };
  std::erase_if(entries, later);
  std::erase_if(cycles, later);
}

std::optional<std::uint64_t> CheckReplay(const KeptJournal& kept, Oracle& oracle) {
  core::Replay replay;
  auto commit = kept.commits.begin();
  std::span<const CycleRecord> cycles(kept.cycles);
  for (const JournalEntry& entry : kept.entries) {
    if (entry.version != replay.version().Next()) {
      oracle.Broken(absl::StrCat("promise 6: the journal has version ", ToString(entry.version),
                                 " in place ", ToString(replay.version().Next())));
      return std::nullopt;
    }
    const std::optional<core::ReplayDifference> difference = DifferenceAt(entry, cycles, replay);
    if (difference.has_value()) {
      oracle.Broken(absl::StrCat("promise 6: at version ", ToString(difference->version), " ",
                                 difference->text));
      return std::nullopt;
    }
    if (commit == kept.commits.end() || entry.version != commit->version) {
      continue;
    }
    if (commit->fingerprint.has_value() && core::HashOf(replay.state()) != *commit->fingerprint) {
      oracle.Broken(absl::StrCat("promise 6: replay differs at version ", ToString(entry.version)));
      return std::nullopt;
    }
    ++commit;
  }
  if (!cycles.empty() || replay.starts_unchecked() > 0) {
    oracle.Broken("promise 6: a cycle, or a start's, is not on record where it was made");
  }
  return core::HashOf(replay.state());
}

void CheckReplayFrom(const StateImage& image, const KeptJournal& kept, Oracle& oracle) {
  constexpr std::uint64_t kStarts = 8;  // that are checked at most
  core::Replay replay(image);
  const auto behind = [&image](const auto& each) { return each.version > image.version; };
  std::span<const CycleRecord> cycles(std::find_if(kept.cycles.begin(), kept.cycles.end(), behind),
                                      kept.cycles.end());
  if (!cycles.empty() && image.version.value() % 2 == 0) {
    cycles = cycles.subspan(1);  // the next keeps to a plan that is not known then
  }
  for (auto entry = std::find_if(kept.entries.begin(), kept.entries.end(), behind);
       entry != kept.entries.end(); ++entry) {
    if (replay.starts() >= kStarts && std::holds_alternative<AttemptStarted>(entry->event)) {
      if (const auto unseen = UnseenFault(kept.cycles.back(), *entry, replay)) {
        oracle.Broken(absl::StrCat("promise 6: a replay finds no fault with ", *unseen));
      }
      return;
    }
    if (const auto difference = DifferenceAt(*entry, cycles, replay)) {
      oracle.Broken(absl::StrCat("promise 6: replayed from an image, at version ",
                                 ToString(difference->version), " ", difference->text));
      return;
    }
  }
}

}  // namespace muster::sim
