#pragma once

// What the store need not keep for ever: has the journal begin again, and old jobs go.
//
// While the controller leads, now and then: the state is written as one that the journal may begin
// with; entries older than what is kept go to the archive, then out of the store; then jobs that
// ended long ago. Thread promise: construction and destruction are main's; the work has a thread of
// its own. Invariants: (1) rows go in small pieces, each part of what the store's writer commits
// anyway; (2) what was cut off is gone on with after the next start.

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "daemon/controller/controller.h"
#include "daemon/store/archive/ended_jobs.h"
#include "daemon/store/archive/journal_archive.h"
#include "daemon/store/job_store.h"
#include "scheduler/model/value/time.h"
#include "scheduler/runtime/clock.h"
#include "scheduler/runtime/log.h"

namespace muster::daemon {

// [retention]
struct Retention {
  Duration journal{0};  // how long entries stay in the store; 0: for ever
  JobsKept jobs;
  std::string archive;  // directory; empty: in the controller's

  [[nodiscard]] std::string DirectoryOf(const JobStore& store) const {
    return archive.empty() ? store.directory() + "/archive" : archive;
  }
};

class Housekeeping {
 public:
  // All that is referred to outlives it. REQUIRES: retention.journal > 0.
  Housekeeping(JobStore& store, Controller& controller, const Clock& clock, const Logger& log,
               Retention retention, Scripts scripts);
  Housekeeping(const Housekeeping&) = delete;
  Housekeeping& operator=(const Housekeeping&) = delete;
  // Ends the work between two pieces.
  ~Housekeeping();

 private:
  void Run();
  // Between two files of a kind.
  [[nodiscard]] Duration Between() const;
  bool Pause(std::chrono::milliseconds time);
  absl::Status LookOnce();
  absl::Status BeginAgain(const JournalArchive& archive, Database& reader);
  absl::Status DropJobs(const std::string& directory, Database& reader);
  absl::Status Drop(std::vector<Drops> pieces);

  JobStore& store_;
  Controller& controller_;
  const Clock& clock_;
  const Logger& log_;
  const Retention retention_;
  const Scripts scripts_;
  std::string complained_;
  Time jobs_dropped_ = kNoTime;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace muster::daemon
