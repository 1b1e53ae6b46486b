#pragma once

// Replays as a person or a program asks for them: a state directory, or one cycle out of a bundle.
//
// Thread promise: pure but for the files read. Invariants: nothing is written to what is read.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "scheduler/core/explain/replay.h"

namespace muster::daemon {

struct DirectoryReplay {
  std::uint64_t begins = 1;  // the first entry
  std::uint64_t entries = 0;
  std::uint64_t cycles = 0;            // made again
  std::uint64_t cycles_unchecked = 0;  // that kept to a plan from before the beginning
  std::uint64_t starts = 0;            // that a cycle made again has
  std::uint64_t starts_unchecked = 0;  // from before the first cycle made again
  core::PromiseReport promises;
  std::uint64_t differences = 0;
  std::vector<core::ReplayDifference> first;  // of them, at most kDifferencesShown
  [[nodiscard]] bool same() const { return differences == 0; }
};
inline constexpr std::size_t kDifferencesShown = 10;

// Applies the journal from its beginning, makes every cycle again, and compares the state with what
// the rows beside the journal say. `archive`: see JournalReader. `progress(done, all)` is called
// now and then with entries.
absl::StatusOr<DirectoryReplay> ReplayDirectory(
    const std::string& place, const std::string& archive,
    const std::function<void(std::uint64_t done, std::uint64_t all)>& progress);

struct BundleReplay {
  std::string program;  // that made the bundle
  Version version;
  Time now = kNoTime;
  std::size_t nodes = 0;
  std::size_t waiting = 0;
  std::size_t running = 0;
  std::uint64_t recorded = 0;  // the plan's hash
  std::uint64_t made = 0;      // made again
  // A job that the cycle left though it fits.
  struct Left {
    JobId job;
    std::vector<std::string> nodes;
    std::string reason;  // what the plan says of it
    bool still = false;  // made again, the plan leaves it too
  };
  std::vector<Left> overlooked;
  [[nodiscard]] bool same() const { return recorded == made; }
};

absl::StatusOr<BundleReplay> ReplayBundleFile(const std::string& path);

// As text for people, with a line end; as one JSON document.
std::string PrintReplay(const DirectoryReplay& replay);
std::string PrintReplay(const BundleReplay& replay);
std::string ReplayDocument(const DirectoryReplay& replay);
std::string ReplayDocument(const BundleReplay& replay);

}  // namespace muster::daemon
