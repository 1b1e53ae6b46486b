#pragma once

// The live jobs that a listing wants, and the bytes of its reply.
//
// Elements of an array that nobody has touched are taken from the state in one piece and written
// one by one beside the controller's loop, which a list of 100,000 lines then does not stop. Thread
// promise: ListOf on the controller's thread; the rest from any. Invariants: each job once, in the
// order of ids; of a list that is folded, elements that wait for the same stand in one view, and so
// do, where that is asked as well, many single jobs in a row that wait alike.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "daemon/client/views/sight.h"
#include "daemon/controller/controller.h"
#include "scheduler/model/job/job.h"
#include "scheduler/model/plan/reason.h"
#include "scheduler/model/request/job_questions.h"
#include "scheduler/model/value/ids.h"
#include "scheduler/model/view/view.h"

namespace muster::daemon {

// Which live jobs a listing wants.
struct WantedJobs {
  std::set<std::string> states;
  std::string user;
  std::set<JobId> jobs;
  bool fold = false;
  bool fold_jobs = false;  // single jobs, too
  std::size_t limit;       // of views
  JobId after;             // with a value: only those of higher ids, and no jobs are named
  Sight sight;

  explicit WantedJobs(const ListJobs& asked, Sight shown = {});
  [[nodiscard]] bool Wants(const Job& job) const;
  // Whether none that runs is wanted.
  [[nodiscard]] bool OnlyWaiting() const;
};

// A job as it is shown, or elements of an array from one on that wait as it does.
struct ListedJobs {
  JobView view;
  Reason reason;
  std::uint32_t alike = 1;                        // how many, with ids in a row
  std::shared_ptr<const JobSpec> spec = nullptr;  // of elements
};

// The job as it is shown, and why it waits.
JobView ViewIn(const StateView& state_view, const Job& job);

std::vector<ListedJobs> ListOf(const StateView& state_view, const WantedJobs& filter);
// How many views they are.
std::size_t CountOf(const std::vector<ListedJobs>& jobs);

// Appends the reply to ListJobs that has these, without a message of each.
void AppendJobs(const std::vector<ListedJobs>& jobs, std::string* bytes);

}  // namespace muster::daemon
