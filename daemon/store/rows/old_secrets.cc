#include "daemon/store/rows/old_secrets.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "daemon/store/database/blob.h"
#include "scheduler/base/status.h"

namespace muster::daemon {
namespace {

constexpr std::uint64_t kEntriesOfPiece = 1024;

}  // namespace

absl::StatusOr<std::uint64_t> OldSecrets::Left() {
  find_left_.Start();
  ASSIGN_OR_RETURN(const bool found, find_left_.Next());
  const std::uint64_t left = found ? find_left_.Unsigned(0) : 0;
  find_left_.Reset();
  return left;
}

absl::Status OldSecrets::TakePiece(std::uint64_t left) {
  const std::uint64_t before = left - std::min(left, kEntriesOfPiece);
  std::vector<JournalEntry> entries;
  entries_.Start(before, left);
  while (true) {
    ASSIGN_OR_RETURN(const bool more, entries_.Next());
    if (!more) {
      break;
    }
    const std::string where =
        absl::StrCat(database_.path(), ": journal entry ", entries_.Unsigned(0));
    RETURN_IF_ERROR(Decode(entries_.Bytes(1), where, &entries.emplace_back()));
  }
  for (const JournalEntry& entry : entries) {
    if (const auto* submitted = std::get_if<JobSubmitted>(&entry.event)) {
      RETURN_IF_ERROR(Take(entry, *submitted));
    } else if (const auto* started = std::get_if<StepStarted>(&entry.event)) {
      RETURN_IF_ERROR(Take(entry, *started));
    } else if (const auto* queued = std::get_if<StepQueued>(&entry.event)) {
      RETURN_IF_ERROR(Take(entry, *queued));
    }
  }
  return put_left_.Run(before);
}

absl::Status OldSecrets::PutEntry(const JournalEntry& entry) {
  std::string payload;
  Encode(entry, &payload);
  return put_entry_.Run(Blob{payload}, entry.version.value());
}

absl::Status OldSecrets::Take(const JournalEntry& entry, const JobSubmitted& event) {
  const std::uint64_t first = event.first.value();
  JobSubmitted bare = event;
  find_program_.Start(first);
  ASSIGN_OR_RETURN(const bool found, find_program_.Next());
  if (!found) {
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(Decode(find_program_.Bytes(0),
                         absl::StrCat(database_.path(), ": program ", first), &bare.program));
  const bool open = find_program_.Integer(1) > 0;
  find_program_.Reset();
  const std::string secrets = TakeSecrets(scripts_, &bare);
  std::string program;
  Encode(std::exchange(bare.program, Program()), &program);
  RETURN_IF_ERROR(
      put_program_.Run(Blob{program}, Blob{open ? secrets : std::string_view()}, first));
  return bare.components.empty() ? absl::OkStatus()
                                 : PutEntry(JournalEntry{entry.version, std::move(bare)});
}

template <class StepEvent>
absl::Status OldSecrets::Take(const JournalEntry& entry, StepEvent event) {
  find_end_.Start(event.job.value());
  ASSIGN_OR_RETURN(const bool ended, find_end_.Next());
  find_end_.Reset();
  std::string secret;
  Encode(TakeSecret(scripts_, &event.program), &secret);
  if (!ended) {
    RETURN_IF_ERROR(put_step_.Run(Blob{secret}, event.job.value(), event.attempt.value(),
                                  event.step.value(), entry.version.value()));
  }
  return PutEntry(JournalEntry{entry.version, std::move(event)});
}

}  // namespace muster::daemon
