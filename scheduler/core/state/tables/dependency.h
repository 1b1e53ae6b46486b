#pragma once

// Dependencies as events resolve them: which job waits for which, and how far each term is
// resolved.
//
// Ended jobs leave the state, so what they did is kept with those that wait for them: a start or an
// end costs as much as the job has dependents, never a scan. All elements of an array share one
// record. Thread promise: none; part of a cluster state. Invariants: (1) changed only by
// ClusterState's Apply; (2) a term that is met or can never be met stays so; (3) what it holds
// follows from the live jobs and the histories of their targets, so that a restart finds it again.

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "scheduler/core/state/tables/job_table.h"
#include "scheduler/model/job/dependency.h"
#include "scheduler/model/job/job.h"

namespace muster::core {

// How far the job (or array) of a term has come.
struct TermProgress {
  std::uint32_t left = 0;    // of its elements, those that have not started (kAfter), or not ended
  std::uint32_t failed = 0;  // of those that ended, otherwise than as COMPLETED
  Time started = kNoTime;    // the latest first start
  bool by_element = false;   // kAfterCorr between two arrays
  IndexRanges completed;     // by_element: indices that ended as COMPLETED
  IndexRanges others;        // by_element: and those that ended otherwise
};

// How far each term has come for a job that begins to wait now. NotFound names the first job that
// neither is live nor in the histories.
absl::StatusOr<std::vector<TermProgress>> BeginProgress(const JobTable& jobs,
                                                        const Dependency& dependency, bool is_array,
                                                        const std::vector<TargetHistory>& history);

class DependencyTable {
 public:
  // Whom a record is for: a submission as it was made, or one job since it was changed.
  struct Waiter {
    JobId id;
    bool changed = false;
    friend auto operator<=>(const Waiter&, const Waiter&) = default;
  };

  // `count` jobs of a submission are there. They wait for nothing until Wait says so.
  void Join(const JobSpec& spec, JobId submission, std::uint32_t count);
  void Wait(Waiter waiter, const Dependency& dependency, std::vector<TermProgress> progress,
            std::uint32_t count);
  // A job asks something else from now on. REQUIRES: `job` has its old spec.
  void Change(const Job& job, const JobSpec& spec, std::vector<TermProgress> progress);
  // A job has a spec of its own from now on, with the same dependency. REQUIRES: `job` has its old
  // spec.
  void Separate(const Job& job);
  // How far the terms of the job have come.
  [[nodiscard]] std::vector<TermProgress> ProgressOf(const Job& job) const;
  void Started(const Job& job, Time time);
  // As Started, for a job whose attempt is there already.
  void Allocated(const Job& job);
  void Requeued(const Job& job);
  void Ended(const Job& job, JobState state);

  // What of the job's dependency is not met at `now`; null when it may start.
  [[nodiscard]] std::shared_ptr<const OpenDependency> Look(const Job& job, Time now) const;

  // True when `job` waits, directly or through others, for a job of `submission`.
  [[nodiscard]] bool WaitsFor(const Job& job, JobId submission, const JobTable& jobs) const;

 private:
  struct Record {
    Dependency dependency;
    std::vector<TermProgress> progress;  // parallel to the terms
    std::uint32_t jobs = 0;              // live jobs that share it
  };
  // The jobs of one user with one name, by submission: for kSingleton.
  struct Namesakes {
    std::map<JobId, std::uint32_t> live;
    std::map<JobId, std::uint32_t> allocated;
  };
  using NameKey = std::pair<std::uint32_t, std::string>;

  [[nodiscard]] Waiter WaiterOf(const Job& job) const;
  [[nodiscard]] TermState StateOf(const DependencyTerm& term, const TermProgress& progress,
                                  const Job& job) const;
  [[nodiscard]] bool IsAlone(const Job& job, std::vector<JobId>* holders) const;
  void Leave(const Job& job);
  void Forget(Waiter waiter);
  template <class Visitor>
  void ForEachTermOn(const Job& job, Visitor&& visit);

  std::map<Waiter, Record> records_;
  std::map<JobId, std::set<Waiter>> dependents_;  // by the job that a term names
  std::map<NameKey, Namesakes> namesakes_;
};

// What a job that is not yet in the state would wait for; null when nothing.
std::shared_ptr<const OpenDependency> LookAhead(const Dependency& dependency,
                                                const std::vector<TermProgress>& progress,
                                                Time now);

}  // namespace muster::core
