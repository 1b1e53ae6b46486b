#pragma once

// Rows that are no part of the state: tuned kernels, as one node found them for those like it, and
// what people said of jobs by hand.
//
// Nothing is decided by them, and the journal does not tell of them. Thread promise: belongs to the
// thread of its database.

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "daemon/store/database/database.h"
#include "scheduler/model/machine/tuning.h"
#include "scheduler/model/value/ids.h"
#include "scheduler/model/view/view.h"

namespace muster::daemon {

// Of one kernel, the newest first; "": of all. At most 1,000.
absl::StatusOr<std::vector<Tuning>> ReadTuningRows(Database& database, const std::string& kernel);

using NotesByJob = std::map<JobId, std::vector<JobNote>>;

// Of the jobs from `first` to `last`: those of one name, or of all (""), by name.
absl::StatusOr<NotesByJob> ReadNoteRows(Database& database, JobId first, JobId last,
                                        const std::string& name);

class KeptRowWriter {
 public:
  explicit KeptRowWriter(Database& database) : database_(database) {}
  absl::Status Write(const Tuning& tuning);
  // A note without a text is taken away.
  absl::Status Write(JobId job, const JobNote& note);

 private:
  Database& database_;
  Statement put_tuning_{database_,
                        "INSERT INTO tunings VALUES (?, ?, ?, ?, ?, ?, ?) "
                        "ON CONFLICT (kernel, shape, type, architecture) DO UPDATE SET "
                        "version = excluded.version, choice = excluded.choice, "
                        "time = excluded.time WHERE excluded.version >= tunings.version"};
  Statement put_note_{database_,
                      "INSERT INTO job_notes VALUES (?, ?, ?, ?, ?) "
                      "ON CONFLICT (name, job) DO UPDATE SET text = excluded.text, "
                      "\"user\" = excluded.\"user\", time = excluded.time"};
  Statement delete_note_{database_, "DELETE FROM job_notes WHERE name = ? AND job = ?"};
};

}  // namespace muster::daemon
