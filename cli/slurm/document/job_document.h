#pragma once

// Jobs as `squeue --json`, `scontrol show job --json` and `sacct --json` have them.
//
// Pure, except for the names of groups. Invariants: a key is there for every job of its document;
// what only a job in full has is there when it was fetched.

#include <map>
#include <string>
#include <vector>

#include "cli/frame/json_output.h"
#include "scheduler/model/view/view.h"

namespace muster::cli::slurm {

struct JobDocumentScene {
  std::string cluster;
  Time now = kNoTime;
  const std::vector<NodeView>* nodes = nullptr;  // who holds what there; null: not asked for
};

// `detail`: null where it was not asked for. `elements`: of an array, that wait together.
Json QueuedJob(const JobView& job, const JobDetail* detail,
               const std::vector<std::uint64_t>& elements, const JobDocumentScene& scene);

// A job of the accounting with its steps.
Json AccountedJob(const JobDetail& detail, const JobDocumentScene& scene);

}  // namespace muster::cli::slurm
