#pragma once

// The accounting: what ended, for `history` and `show`. Reading only, beside the writer.
//
// Thread promise: safe from any thread; readings of one object wait for one another, never for a
// commit. Invariants: (1) it sees what is committed and nothing else; (2) jobs are found through an
// index, whatever the filter.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/store/database/database.h"
#include "scheduler/model/job/dependency.h"
#include "scheduler/model/value/ids.h"
#include "scheduler/model/value/time.h"
#include "scheduler/model/view/view.h"
#include "scheduler/runtime/mutex.h"

namespace muster::daemon {

class JobStore;

// Which ended jobs; what is left at its default does not restrict.
struct HistoryFilter {
  std::string user;
  std::vector<std::string> states;  // names as in JobView::state
  Time since = kNoTime;             // ended then or later
  std::uint32_t limit = 100;        // 0: no limit
  std::vector<JobId> jobs;          // an array's id names all its elements
  struct Shown {
    std::string user;
    std::set<std::string> accounts;
  };
  std::optional<Shown> shown = {};  // jobs of that user and in those accounts alone
};

class Accounting {
 public:
  // With a connection of its own to the store's database.
  static absl::StatusOr<std::unique_ptr<Accounting>> Open(JobStore& store);

  // Ended jobs that pass the filter, the newest end first.
  absl::StatusOr<std::vector<JobView>> List(const HistoryFilter& filter);

  // The ended job `id` with its attempts; for an array's id every ended element, in the order of
  // ids, or those whose array index is in `elements`. Empty when none has ended.
  absl::StatusOr<std::vector<JobDetail>> Show(JobId id, const std::vector<std::uint32_t>& elements);

  // Runs of the job's user and name that completed at once, are made of the same program and had as
  // many tasks, CPUs, GPUs and nodes: the newest kRunsMost that ended no later, in that order, and
  // the job's own last.
  static constexpr std::size_t kRunsMost = 64;
  absl::StatusOr<std::vector<JobDetail>> RunsLike(const JobDetail& job);

  // What has ended of the jobs that these terms name.
  absl::StatusOr<std::vector<TargetHistory>> Targets(const std::vector<DependencyTerm>& terms);

  // What a user's attempts that ended at `since` or later were charged, by account and start.
  absl::StatusOr<std::map<std::string, std::vector<ChargedRun>>> Runs(const std::string& user,
                                                                      Time since);

  // The steps of a job, ended or live, in order; of very many the first.
  absl::StatusOr<std::vector<StepView>> Steps(JobId id);

  // The ended attempts of a job, ended or live, in order.
  absl::StatusOr<std::vector<AttemptView>> Attempts(JobId id);
  // The same of many jobs; what their ranks did is left out.
  absl::StatusOr<std::map<JobId, std::vector<AttemptView>>> Attempts(const std::vector<JobId>& ids);

 private:
  explicit Accounting(std::unique_ptr<Database> database) : database_(std::move(database)) {}
  absl::StatusOr<std::vector<AttemptView>> ReadAttempts(JobId id)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::StatusOr<std::vector<StepView>> ReadSteps(JobId id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Mutex mutex_;
  const std::unique_ptr<Database> database_ ABSL_PT_GUARDED_BY(mutex_);
};

}  // namespace muster::daemon
