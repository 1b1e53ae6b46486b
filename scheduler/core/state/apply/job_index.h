#pragma once

// Which live jobs wait, are suspended, or are elastic and hold resources, for those who must not
// look at every job.
//
// Untouched elements of arrays are not in it: the job table counts them. Thread promise: none;
// owned by one thread. Invariants: (1) a job is in `pending` exactly while it is PENDING, in
// `suspended` exactly while it is SUSPENDED; (2) no array has a count of 0.

#include <cstdint>
#include <map>
#include <set>

#include "scheduler/model/job/job.h"
#include "scheduler/model/value/ids.h"

namespace muster::core {

class JobIndex {
 public:
  [[nodiscard]] const std::set<JobId>& pending() const { return pending_; }
  [[nodiscard]] const std::set<JobId>& suspended() const { return suspended_; }
  // The elastic jobs that hold resources.
  [[nodiscard]] const std::set<JobId>& elastic() const { return elastic_; }
  // Elements of arrays with a throttle that hold resources, by submission.
  [[nodiscard]] const std::map<JobId, std::uint32_t>& array_running() const {
    return array_running_;
  }

  // Whether some job may have asked that its nodes have jobs of its user alone.
  [[nodiscard]] bool by_user() const { return by_user_; }

  // A job has this spec from now on.
  void NoteSpec(const JobSpec& spec);
  // The job is new, or its state may have changed.
  void Note(const Job& job);
  // The job is live no more.
  void Erase(JobId job);
  // The job holds resources from now on.
  void AddHolder(const Job& job);
  // It holds none any more. REQUIRES: it did.
  void RemoveHolder(const Job& job);

 private:
  std::set<JobId> pending_;
  std::set<JobId> suspended_;
  std::set<JobId> elastic_;
  std::map<JobId, std::uint32_t> array_running_;
  bool by_user_ = false;
};

}  // namespace muster::core
