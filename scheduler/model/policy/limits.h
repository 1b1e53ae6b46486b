#pragma once

// Limits: how much of the cluster users and accounts may hold, run, queue and use up. Slurm's
// names.
//
// One value for QOS, accounts and associations. A limit that is not there limits nothing; 0 allows
// nothing. Whom each is counted for: Grp* over all users under an account, association or QOS;
// Max*PerJob and MaxWall over one job; MaxJobs and MaxSubmitJobs over a user (of a QOS) or an
// association (an account's is what its associations have that say none); *PerAccount over a job's
// own account within a QOS.

#include <cstdint>
#include <optional>

#include "scheduler/model/policy/tres.h"
#include "scheduler/model/value/fields.h"
#include "scheduler/model/value/time.h"

namespace muster {

struct Limits {
  TresList grp_tres;  // held at once, by all together
  TresList max_tres_per_job;
  TresList max_tres_per_node;     // of one job on each of its nodes
  TresList max_tres_per_user;     // QOS only
  TresList max_tres_per_account;  // QOS only
  TresList grp_tres_mins;  // a budget: amounts times minutes of wall time, ended and promised
  std::optional<std::uint32_t> grp_jobs;
  std::optional<std::uint32_t> grp_submit_jobs;
  std::optional<std::uint32_t> max_jobs;
  std::optional<std::uint32_t> max_submit_jobs;
  std::optional<std::uint32_t> max_jobs_per_account;         // QOS only
  std::optional<std::uint32_t> max_submit_jobs_per_account;  // QOS only
  std::optional<Duration> max_wall;
  std::optional<Duration> grp_wall;  // a budget: wall time of all jobs, ended and promised
  static constexpr auto Fields(auto list) {
    return list(
        Field{"grp_tres", &Limits::grp_tres}, Field{"max_tres_per_job", &Limits::max_tres_per_job},
        Field{"max_tres_per_node", &Limits::max_tres_per_node},
        Field{"max_tres_per_user", &Limits::max_tres_per_user},
        Field{"max_tres_per_account", &Limits::max_tres_per_account},
        Field{"grp_tres_mins", &Limits::grp_tres_mins}, Field{"grp_jobs", &Limits::grp_jobs},
        Field{"grp_submit_jobs", &Limits::grp_submit_jobs}, Field{"max_jobs", &Limits::max_jobs},
        Field{"max_submit_jobs", &Limits::max_submit_jobs},
        Field{"max_jobs_per_account", &Limits::max_jobs_per_account},
        Field{"max_submit_jobs_per_account", &Limits::max_submit_jobs_per_account},
        Field{"max_wall", &Limits::max_wall}, Field{"grp_wall", &Limits::grp_wall});
  }
  friend bool operator==(const Limits&, const Limits&) = default;
};

// True when the limits hold budgets, which need a record of what was used.
inline bool HasBudget(const Limits& limits) {
  return !limits.grp_tres_mins.empty() || limits.grp_wall.has_value();
}

}  // namespace muster
