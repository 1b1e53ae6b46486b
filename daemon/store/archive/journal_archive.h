#pragma once

// The directory of a journal's archive: states that the journal may begin with, and segments.
//
// "beginning-VERSION-TIME.db" is the state at a version, "journal-FIRST-LAST.db.zst" the entries
// from FIRST on, until the next beginning, with the state before them. Thread promise: belongs to
// one thread. Invariants: (1) files are there whole or not at all; (2) nothing else is touched.

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/store/database/database.h"
#include "daemon/store/rows/program_secret.h"
#include "scheduler/model/value/ids.h"
#include "scheduler/model/value/time.h"

namespace muster::daemon {

// A state that a journal may begin with.
struct JournalBeginning {
  Version version;
  Time taken = kNoTime;
  std::string path;
};

// A segment's file.
struct JournalSegment {
  Version first;
  Version last;
  std::string path;
};

class JournalArchive {
 public:
  // To read: of a directory that is not there nothing.
  explicit JournalArchive(std::string directory) : directory_(std::move(directory)) {}
  // Makes the directory when it is not there.
  static absl::StatusOr<JournalArchive> Open(const std::string& directory);
  // The name ends as a segment's.
  static bool IsSegment(const std::string& path);

  // By version.
  [[nodiscard]] std::vector<JournalBeginning> Beginnings() const;
  [[nodiscard]] std::vector<JournalSegment> Segments() const;

  // Writes the state of the store.
  absl::StatusOr<JournalBeginning> Take(Database& store, Time now) const;
  // Writes the entries from `begins` until `last`, if they are not there. FailedPrecondition: the
  // state before them is not here.
  absl::Status Write(Database& store, Version begins, Version last, Scripts scripts) const;
  // Removes the beginnings of versions before.
  void RemoveBefore(Version version) const;

 private:
  std::string directory_;
};

}  // namespace muster::daemon
