#include "agent/link/outbox.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace muster::agent {
namespace {

constexpr const char* kOutboxComponent = "outbox";

}  // namespace

Outbox::Cursor& Outbox::CursorOf(const AttemptKey& key) {
  const auto found = cursors_.find(key);
  if (found != cursors_.end()) {
    return found->second;
  }
  const AttemptDirectory directory = state_.Attempt(key);
  Cursor cursor{.journal = AttemptJournalReader(directory.Journal()), .waiting = {}};
  const absl::StatusOr<std::uint64_t> acked = ReadAcked(directory);
  if (acked.ok()) {
    cursor.acked = *acked;
    cursor.saved = *acked;
  } else {
    log_.Warning(kOutboxComponent,
                 absl::StrCat(std::string(acked.status().message()), "; every report goes again"));
  }
  return cursors_.emplace(key, std::move(cursor)).first->second;
}

void Outbox::Read(const AttemptKey& key, Cursor* cursor) {
  absl::StatusOr<std::vector<Report>> reports = cursor->journal.ReadNew();
  if (!reports.ok()) {
    log_.Error(kOutboxComponent,
               absl::StrCat(ToString(key), ": ", std::string(reports.status().message())),
               ToString(key.job));
    return;
  }
  for (Report& report : *reports) {
    const bool end = std::holds_alternative<RunEnded>(report.fact);
    if (end) {
      cursor->ended = report.index;
    }
    if (end || report.index > cursor->acked) {
      cursor->waiting.push_back(std::move(report));
    }
  }
}

void Outbox::Pump(const AttemptKey& key) {
  Cursor& cursor = CursorOf(key);
  Read(key, &cursor);
  while (!cursor.waiting.empty() && send_(cursor.waiting.front())) {
    cursor.sent = std::max(cursor.sent, cursor.waiting.front().index);
    cursor.waiting.pop_front();
  }
}

void Outbox::Rewind(const AttemptKey& key) {
  Cursor& cursor = CursorOf(key);
  cursor.journal = AttemptJournalReader(state_.Attempt(key).Journal());
  cursor.waiting.clear();
}

void Outbox::Restart(const AttemptKey& key) {
  CursorOf(key).acked = 0;
  Rewind(key);
}

bool Outbox::Acknowledge(const AttemptKey& key, std::uint64_t index) {
  const auto found = cursors_.find(key);
  if (found == cursors_.end()) {
    return false;
  }
  Cursor& cursor = found->second;
  const std::uint64_t acked = std::min(index, cursor.sent);  // what was not sent is not had
  if (cursor.ended != 0 && acked >= cursor.ended) {
    return true;
  }
  cursor.acked = std::max(cursor.acked, acked);
  return false;
}

void Outbox::Save() {
  for (auto& [key, cursor] : cursors_) {
    if (cursor.acked == cursor.saved) {
      continue;
    }
    const absl::Status status = WriteAcked(state_.Attempt(key), cursor.acked);
    if (status.ok()) {
      cursor.saved = cursor.acked;
    } else {
      log_.Warning(kOutboxComponent, std::string(status.message()));
    }
  }
}

}  // namespace muster::agent
