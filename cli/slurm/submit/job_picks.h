#pragma once

// The jobs that scancel means: its selectors, as one filter over views.
//
// Thread promise: pure functions. Invariants: a list of names is met by any of them, and all lists
// must be met; an empty list is met by every job.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/slurm/frame/words.h"
#include "scheduler/model/view/view.h"

namespace muster::cli::slurm {

struct JobPicks {
  std::string user;  // "": any
  std::vector<std::string> names;
  std::vector<std::string> accounts;
  std::vector<std::string> partitions;
  std::vector<std::string> qos;
  std::vector<std::string> reservations;
  std::vector<std::string> states;  // canonical
  std::vector<std::string> nodes;
};

// Of scancel's options; `self` is what --me means. InvalidArgument is Slurm's line.
absl::StatusOr<JobPicks> ReadPicks(const Words& words, const std::string& self);

// Whether any selector was given.
bool Selects(const JobPicks& picks);

bool Meets(const JobPicks& picks, const JobView& job);

}  // namespace muster::cli::slurm
