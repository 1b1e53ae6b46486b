#pragma once

// What a user keeps of checkpoints, over all jobs: which directories, and how much is in each.
//
//   LEDGER/ledger.json   one document, replaced as a whole
//   LEDGER/lock          held while it is changed
//
// The user's own file, where all nodes see it. It says where to look; the directories themselves
// have the last word. Thread promise: one thread at a time. Invariant: who changes it holds it from
// reading to writing, so that two jobs never take the same room.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/frame/environment.h"
#include "scheduler/model/job/checkpoint_record.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::cli {

struct LedgerEntry {
  std::string directory;  // without links
  std::string cluster;    // of the job that wrote there last
  std::uint64_t job = 0;
  std::uint64_t bytes = 0;  // of complete generations
  std::uint64_t count = 0;
  std::string refused;  // why the newest may not be there; "": it may
  std::int64_t refused_ms = 0;
  friend bool operator==(const LedgerEntry&, const LedgerEntry&) = default;
};

struct LedgerPage {
  CheckpointQuota quota;  // as the last job had it
  std::vector<LedgerEntry> entries;
};

std::string PrintLedger(const LedgerPage& page);
// FailedPrecondition: it is no such document.
absl::StatusOr<LedgerPage> ParseLedger(std::string_view text);

// $MUSTER_CHECKPOINT_LEDGER, or the user's data directory.
absl::StatusOr<std::string> LedgerPlace(const Environment& environment);
// Without holding it; empty where there is none.
absl::StatusOr<LedgerPage> ReadLedger(const std::string& place);

class Ledger {
 public:
  // Makes it where there is none; waits for who holds it.
  static absl::StatusOr<Ledger> Hold(const std::string& place);

  LedgerPage& page() { return page_; }
  // The directory's own, made where there is none.
  LedgerEntry& Of(const std::string& directory);
  absl::Status Write() const;

 private:
  Ledger(std::string place, UniqueFd lock, LedgerPage page)
      : place_(std::move(place)), lock_(std::move(lock)), page_(std::move(page)) {}

  std::string place_;
  UniqueFd lock_;
  LedgerPage page_;
};

}  // namespace muster::cli
