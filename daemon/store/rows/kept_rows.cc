#include "daemon/store/rows/kept_rows.h"

#include <cstdint>

#include "scheduler/base/status.h"

namespace muster::daemon {

absl::StatusOr<std::vector<Tuning>> ReadTuningRows(Database& database, const std::string& kernel) {
  std::vector<Tuning> tunings;
  Statement rows(database,
                 "SELECT kernel, shape, type, architecture, version, choice, time FROM tunings "
                 "WHERE kernel = ? OR ? = '' ORDER BY time DESC LIMIT 1000");
  rows.Start(kernel, kernel);
  while (true) {
    ASSIGN_OR_RETURN(const bool more, rows.Next());
    if (!more) {
      return tunings;
    }
    tunings.push_back(Tuning{std::string(rows.Text(0)), std::string(rows.Text(1)),
                             std::string(rows.Text(2)), std::string(rows.Text(3)),
                             static_cast<std::uint32_t>(rows.Integer(4)), std::string(rows.Text(5)),
                             Time(Duration(rows.Integer(6)))});
  }
}

absl::StatusOr<NotesByJob> ReadNoteRows(Database& database, JobId first, JobId last,
                                        const std::string& name) {
  NotesByJob notes;
  Statement rows(database,
                 "SELECT job, text, \"user\", time FROM job_notes "
                 "WHERE name = ? AND job BETWEEN ? AND ?");
  for (const JobNoteKind& kind : kJobNotes) {
    if (!name.empty() && name != kind.name) {
      continue;
    }
    rows.Start(std::string(kind.name), static_cast<std::int64_t>(first.value()),
               static_cast<std::int64_t>(last.value()));
    while (true) {
      ASSIGN_OR_RETURN(const bool more, rows.Next());
      if (!more) {
        break;
      }
      notes[JobId(static_cast<std::uint64_t>(rows.Integer(0)))].push_back(
          JobNote{kind.name, std::string(rows.Text(1)), std::string(rows.Text(2)),
                  Time(Duration(rows.Integer(3)))});
    }
    rows.Reset();
  }
  return notes;
}

absl::Status KeptRowWriter::Write(const Tuning& tuning) {
  return put_tuning_.Run(tuning.kernel, tuning.shape, tuning.type, tuning.architecture,
                         tuning.version, tuning.choice,
                         std::int64_t{tuning.time.time_since_epoch().count()});
}

absl::Status KeptRowWriter::Write(JobId job, const JobNote& note) {
  const auto number = static_cast<std::int64_t>(job.value());
  return note.text.empty() ? delete_note_.Run(note.name, number)
                           : put_note_.Run(note.name, number, note.text, note.user,
                                           std::int64_t{note.time.time_since_epoch().count()});
}

}  // namespace muster::daemon
