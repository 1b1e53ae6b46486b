#include "daemon/store/followed_journal.h"

#include <utility>

#include "daemon/store/rows/program_secret.h"

namespace muster::daemon {

void FollowedJournal::Read(std::optional<JournalEntry> last) {
  last_ = last.has_value() ? std::optional(WithoutSecrets(*std::move(last))) : std::nullopt;
}

bool FollowedJournal::IsContradictedBy(const JournalEntry& entry, Version at) const {
  return last_.has_value() && entry.version == at && last_->version == at &&
         WithoutSecrets(entry) != *last_;
}

}  // namespace muster::daemon
