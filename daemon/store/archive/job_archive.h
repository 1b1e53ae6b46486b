#pragma once

// Ended jobs that left the store, in files from which they can be loaded again.
//
// A file "jobs-FROM-TO-COUNT.db.zst" is a SQLite file of the store's own schema with all rows of
// these jobs, compressed; FROM and TO are when the first and the last of them ended, in
// milliseconds. Thread promise: belongs to the thread of its databases. Invariants: (1) a file is
// there whole or not at all; (2) loading a file twice, or one of which a part is there, adds what
// is missing and changes nothing else.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/store/database/database.h"
#include "daemon/store/rows/batch.h"
#include "scheduler/model/value/ids.h"
#include "scheduler/model/value/time.h"

namespace muster::daemon {

// Writes the jobs and submissions that these pieces name to a file in the directory; returns its
// path. REQUIRES: the pieces name at least one job.
absl::StatusOr<std::string> WriteJobs(Database& store, const std::string& directory,
                                      const std::vector<Drops>& pieces);

// A file's jobs, read a piece after the other.
class ArchivedJobs {
 public:
  // `name` is that of a file in the directory. InvalidArgument: it cannot be one; NotFound: it is
  // not there.
  static absl::StatusOr<std::unique_ptr<ArchivedJobs>> Open(const std::string& directory,
                                                            const std::string& name,
                                                            JobId after = JobId(0));
  ArchivedJobs(const ArchivedJobs&) = delete;
  ArchivedJobs& operator=(const ArchivedJobs&) = delete;
  ~ArchivedJobs();

  // The next jobs, without those that `store` has; nullopt: there are no more. They stay until
  // `until`.
  absl::StatusOr<std::optional<Loads>> Next(Database& store, Time until);

  // The last one that Next looked at.
  [[nodiscard]] JobId last() const { return last_; }
  // How many Next passed on, and how many it left out.
  [[nodiscard]] std::uint64_t missing() const { return missing_; }
  [[nodiscard]] std::uint64_t present() const { return present_; }

 private:
  ArchivedJobs(std::unique_ptr<Database> file, std::string unpacked, JobId after);

  const std::unique_ptr<Database> file_;
  const std::string unpacked_;
  JobId last_;
  std::uint64_t missing_ = 0;
  std::uint64_t present_ = 0;
};

}  // namespace muster::daemon
