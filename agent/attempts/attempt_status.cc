#include "agent/attempts/attempt_status.h"

#include <unistd.h>

#include <vector>

#include "agent/supervisor/attempt/journal.h"
#include "scheduler/base/status.h"

namespace muster::agent {
namespace {

// Nothing here is synced: after a boot a file may hold anything.
bool IsTorn(const absl::Status& status, bool rebooted) {
  return rebooted && (absl::IsDataLoss(status) || absl::IsInvalidArgument(status));
}

absl::StatusOr<bool> HasEnded(const AttemptDirectory& directory, bool rebooted) {
  const absl::StatusOr<std::vector<Report>> reports =
      AttemptJournalReader(directory.Journal()).ReadNew();
  if (IsTorn(reports.status(), rebooted)) {
    return false;
  }
  RETURN_IF_ERROR(reports.status());
  return !reports->empty() && std::holds_alternative<RunEnded>(reports->back().fact);
}

// Whether somebody who lives runs the epilog.
absl::StatusOr<bool> IsInEpilog(const AttemptDirectory& directory) {
  const absl::StatusOr<ProcessIdentity> claim = ReadEpilogClaim(directory);
  if (absl::IsNotFound(claim.status())) {
    return false;
  }
  RETURN_IF_ERROR(claim.status());
  return IsAlive(*claim);
}

// Where an attempt stands that nobody claimed and that has not ended.
AttemptStatus Unclaimed(const AttemptDirectory& directory, bool rebooted) {
  if (access(directory.Order().c_str(), F_OK) != 0) {
    return AttemptStatus::kEmpty;
  }
  return rebooted ? AttemptStatus::kOtherBoot : AttemptStatus::kUnclaimed;
}

}  // namespace

absl::StatusOr<AttemptStatus> ReadAttemptStatus(const AttemptDirectory& directory,
                                                const std::string& boot_id, bool rebooted) {
  // Most often it is over. Whoever ended meanwhile is asked again, below.
  ASSIGN_OR_RETURN(const bool ended_before, HasEnded(directory, rebooted));
  if (ended_before) {
    return AttemptStatus::kEnded;
  }
  const absl::StatusOr<ProcessIdentity> claim = ReadClaim(directory);
  AttemptStatus otherwise = AttemptStatus::kDead;
  if (absl::IsNotFound(claim.status())) {
    otherwise = Unclaimed(directory, rebooted);
  } else if (IsTorn(claim.status(), rebooted) || (claim.ok() && claim->boot_id != boot_id)) {
    otherwise = AttemptStatus::kOtherBoot;
  } else if (!claim.ok()) {
    return claim.status();
  } else {
    ASSIGN_OR_RETURN(const bool alive, IsAlive(*claim));
    // A claim of our own only keeps supervisors out.
    otherwise = alive && claim->pid != getpid() ? AttemptStatus::kSupervised : AttemptStatus::kDead;
  }
  if (otherwise == AttemptStatus::kDead) {
    ASSIGN_OR_RETURN(const bool in_epilog, IsInEpilog(directory));
    otherwise = in_epilog ? AttemptStatus::kEpilog : otherwise;
  }
  ASSIGN_OR_RETURN(const bool ended, HasEnded(directory, rebooted));
  return ended ? AttemptStatus::kEnded : otherwise;
}

}  // namespace muster::agent
