#include "daemon/store/archive/journal_segment.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "daemon/store/database/blob.h"
#include "daemon/store/database/schema.h"
#include "daemon/store/database/table_rows.h"
#include "daemon/store/rows/journal.h"
#include "daemon/store/rows/meta_rows.h"
#include "daemon/store/state_reader.h"
#include "scheduler/base/status.h"

namespace muster::daemon {
namespace {

constexpr std::uint64_t kEntriesOfPiece = 512;
constexpr std::size_t kRangesOfPiece = 64;

absl::StatusOr<std::vector<std::uint64_t>> ReadNumbers(Statement& rows) {
  std::vector<std::uint64_t> numbers;
  while (true) {
    ASSIGN_OR_RETURN(const bool more, rows.Next());
    if (!more) {
      return numbers;
    }
    numbers.push_back(rows.Unsigned(0));
  }
}

// The ended jobs of which a start needs to know: of submissions that live on, and those that live
// jobs depend on.
absl::Status CopyHistory(Database& store, Database& file, const StateImage& image) {
  Statement partly(store, "SELECT first FROM submissions WHERE open > 0 AND open < count");
  ASSIGN_OR_RETURN(const std::vector<std::uint64_t> submissions, ReadNumbers(partly));
  std::vector<std::uint64_t> targets;
  for (const TargetHistory& target : image.history) {
    targets.push_back(target.job.value());
  }
  const std::string listed = absl::StrCat("(", store.numbers(), ")");
  const RowFilter jobs{
      absl::StrCat("id IN ", listed, " OR submission IN ", listed, " OR submission IN ", listed),
      {NumberList(targets), NumberList(targets), NumberList(submissions)}};
  RETURN_IF_ERROR(CopyTable(store, file, TableNamed("history"), jobs).status());
  const RowFilter attempts{
      absl::StrCat("number = 1 AND (job IN ", listed,
                   " OR job IN (SELECT id FROM history WHERE submission IN ", listed, "))"),
      {NumberList(targets), NumberList(targets)}};
  return CopyTable(store, file, TableNamed("attempts"), attempts).status();
}

// The entry as one row says it.
JournalEntry WholeEntry(JournalEntry entry, Scripts scripts) {
  if (auto* submitted = std::get_if<JobSubmitted>(&entry.event)) {
    TakeSecrets(scripts, submitted);
  } else if (auto* started = std::get_if<StepStarted>(&entry.event)) {
    TakeSecret(scripts, &started->program);
  } else if (auto* queued = std::get_if<StepQueued>(&entry.event)) {
    TakeSecret(scripts, &queued->program);
  }
  return entry;
}

// Ranges of versions become pieces.
class Pieces {
 public:
  explicit Pieces(Version begins) { now_.journal_begins = begins; }
  void Add(std::uint64_t from, std::uint64_t to) {
    while (from <= to) {
      const std::uint64_t end = std::min(to, from + kEntriesOfPiece - 1 - entries_);
      now_.entries.emplace_back(Version(from), Version(end));
      entries_ += end - from + 1;
      from = end + 1;
      if (entries_ == kEntriesOfPiece || now_.entries.size() == kRangesOfPiece) {
        End();
      }
    }
  }
  // With the cycles of these ids, a part to each piece.
  std::vector<Drops> Take(std::int64_t first_cycle, std::int64_t last_cycle) {
    End();
    const auto pieces = static_cast<std::int64_t>(pieces_.size());
    for (std::int64_t i = 0; i < pieces; ++i) {
      pieces_[static_cast<std::size_t>(i)].cycles =
          last_cycle - (last_cycle - first_cycle + 1) * (pieces - 1 - i) / pieces;
    }
    return std::move(pieces_);
  }

 private:
  void End() {
    pieces_.push_back(std::exchange(now_, Drops()));
    entries_ = 0;
  }
  Drops now_;
  std::uint64_t entries_ = 0;
  std::vector<Drops> pieces_;
};

}  // namespace

absl::StatusOr<Version> CopyState(Database& store, Database& file) {
  Transaction reading(store);
  RETURN_IF_ERROR(reading.Begin(Transaction::Kind::kRead));
  ASSIGN_OR_RETURN(const StateImage image, ReadStateWithin(store));
  Transaction writing(file);
  RETURN_IF_ERROR(writing.Begin(Transaction::Kind::kWrite));
  for (const char* name : {"jobs", "nodes", "meta", "policy", "node_health", "node_failures",
                           "node_power", "alerts", "narrow_links"}) {
    RETURN_IF_ERROR(CopyTable(store, file, TableNamed(name)).status());
  }
  RETURN_IF_ERROR(CopyTable(store, file, TableNamed("submissions"), {"open > 0", {}}).status());
  RETURN_IF_ERROR(CopyHistory(store, file, image));
  RETURN_IF_ERROR(
      CopyTable(store, file, TableNamed("steps"), {"job IN (SELECT id FROM jobs)", {}}).status());
  const RowFilter needed{
      "version IN (SELECT version FROM submissions WHERE open > 0) OR version = ?",
      {static_cast<std::int64_t>(image.version.value())}};
  RETURN_IF_ERROR(CopyTable(store, file, TableNamed("journal"), needed).status());
  RETURN_IF_ERROR(file.Execute("UPDATE steps SET secret = NULL"));
  RETURN_IF_ERROR(PutMeta(file, "next_job", static_cast<std::int64_t>(image.next_job.value())));
  RETURN_IF_ERROR(
      PutMeta(file, "journal_begins", static_cast<std::int64_t>(image.version.Next().value())));
  RETURN_IF_ERROR(writing.Commit());
  return image.version;
}

absl::Status CopyEntries(Database& store, Database& file, Version last, Scripts scripts) {
  ASSIGN_OR_RETURN(const Version begins, ReadJournalBegins(file));
  Transaction writing(file);
  RETURN_IF_ERROR(writing.Begin(Transaction::Kind::kWrite));
  Statement insert(file, "INSERT INTO journal VALUES (?, ?, ?, ?, ?)");
  std::string payload;
  absl::Status status;
  RETURN_IF_ERROR(ReadJournalRows(store, begins, [&](const JournalEntry& entry) {
    if (entry.version > last) {
      return false;
    }
    Encode(WholeEntry(entry, scripts), &payload);
    const JournalColumns columns = ColumnsOf(entry.event);
    status = insert.Run(entry.version.value(), TimeColumn(columns.time), columns.kind, columns.job,
                        Blob{payload});
    return status.ok();
  }));
  RETURN_IF_ERROR(status);
  RETURN_IF_ERROR(CopyTable(store, file, TableNamed("settings")).status());
  const RowFilter cycles{
      "version >= ? AND version <= ?",
      {static_cast<std::int64_t>(begins.value()) - 1, static_cast<std::int64_t>(last.value())}};
  RETURN_IF_ERROR(CopyTable(store, file, TableNamed("passes"), cycles).status());
  return writing.Commit();
}

absl::StatusOr<std::vector<Drops>> FindDroppedEntries(Database& store, Version last) {
  Transaction reading(store);
  RETURN_IF_ERROR(reading.Begin(Transaction::Kind::kRead));
  ASSIGN_OR_RETURN(const Version begins, ReadJournalBegins(store));
  Statement submissions(store, "SELECT version FROM submissions WHERE open > 0 AND version <= ?");
  submissions.Start(last.value());
  ASSIGN_OR_RETURN(std::vector<std::uint64_t> needed, ReadNumbers(submissions));
  Statement steps(store,
                  "SELECT steps.version FROM jobs CROSS JOIN steps "
                  "WHERE steps.job = jobs.id AND steps.version <= ?");
  steps.Start(last.value());
  ASSIGN_OR_RETURN(const std::vector<std::uint64_t> of_steps, ReadNumbers(steps));
  needed.insert(needed.end(), of_steps.begin(), of_steps.end());
  needed.push_back(last.value());  // it may be the newest, and then it says how far the journal is
  std::sort(needed.begin(), needed.end());
  Pieces pieces(last.Next());
  // What live jobs needed when the journal began again the last time, or what was left when that
  // was cut off.
  Statement kept(store,
                 "SELECT version FROM journal WHERE version < ? AND kind <> 'policy_changed' "
                 "ORDER BY version");
  kept.Start(std::min(begins, last.Next()).value());
  ASSIGN_OR_RETURN(const std::vector<std::uint64_t> before, ReadNumbers(kept));
  for (auto at = before.begin(); at != before.end();) {
    const auto is_needed = [&](std::uint64_t version) {
      return std::binary_search(needed.begin(), needed.end(), version);
    };
    auto end = at + 1;
    if (!is_needed(*at)) {
      while (end != before.end() && *end == *(end - 1) + 1 && !is_needed(*end)) {
        ++end;
      }
      pieces.Add(*at, *(end - 1));
    }
    at = end;
  }
  std::uint64_t from = begins.value();
  for (auto next = std::lower_bound(needed.begin(), needed.end(), from); next != needed.end();
       ++next) {
    if (*next > from) {
      pieces.Add(from, *next - 1);
    }
    from = *next + 1;
  }
  if (from <= last.value()) {
    pieces.Add(from, last.value());
  }
  ASSIGN_OR_RETURN(const std::int64_t first_cycle,
                   store.ReadInteger("SELECT id FROM passes ORDER BY id LIMIT 1"));
  Statement cycles(store, "SELECT id FROM passes WHERE version < ? ORDER BY id DESC LIMIT 1");
  cycles.Start(last.value());
  ASSIGN_OR_RETURN(const bool found, cycles.Next());
  return pieces.Take(first_cycle, found ? cycles.Integer(0) : first_cycle - 1);
}

}  // namespace muster::daemon
