#pragma once

// Where an attempt stands, by what its directory says: the one question that launching, adopting
// and cleaning up all begin with.
//
// Invariants: (1) "cannot tell" is an error and never kDead: a live attempt taken for dead would
// run twice; (2) the journal is read after the claims' holders were found dead, so that their last
// words count; (3) after a boot what cannot be read is what a loss of power left: nobody lives who
// wrote it.

#include <string>

#include "absl/status/statusor.h"
#include "agent/supervisor/attempt/attempt_directory.h"

namespace muster::agent {

enum class AttemptStatus {
  kEnded,       // the journal holds its RunEnded
  kEmpty,       // its order was never written: it was not taken
  kUnclaimed,   // ordered; no process supervises it yet
  kSupervised,  // its supervisor lives
  kDead,        // its supervisor died without a RunEnded
  kEpilog,      // and a living process runs the site's epilog for it
  kOtherBoot,   // it was under way when the machine went down
};

// Reads it. `boot_id` is this boot's; `rebooted` says that the records are from an earlier one.
absl::StatusOr<AttemptStatus> ReadAttemptStatus(const AttemptDirectory& directory,
                                                const std::string& boot_id, bool rebooted);

}  // namespace muster::agent
