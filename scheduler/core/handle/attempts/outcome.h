#pragma once

// How a job ended, from how its attempt ended on each node.
//
// Invariants: the state it gives is terminal; success needs every node to have ended in order.

#include <string>

#include "scheduler/model/job/job.h"

namespace muster::core {

struct Outcome {
  JobState state = JobState::kCompleted;
  ExitStatus status;
  std::string text = {};     // why, when it did not end by itself
  bool node_failed = false;  // a node failed it: it can run elsewhere
};

// REQUIRES: every run of the attempt has ended.
Outcome OutcomeOf(const JobSpec& spec, const Attempt& attempt);

}  // namespace muster::core
