#pragma once

// In what two jobs differ.
//
// Pure. Invariants: a job does not differ from itself; swapping the jobs swaps the values; what is
// there of one job alone differs, its other side being empty.

#include <string>
#include <vector>

#include "cli/frame/json_output.h"
#include "scheduler/model/view/view.h"

namespace muster::cli {

struct Difference {
  std::string group;  // "program", "record", "asked", "got", "outcome"
  std::string name;   // "git.commit", "request.gpus.count"
  std::string first;
  std::string second;
  friend bool operator==(const Difference&, const Difference&) = default;
};

// By group, in the order above, and name. Of attempts the last counts. Scripts are compared where
// both are there.
std::vector<Difference> DifferencesOf(const JobDetail& first, const JobDetail& second);

// The lines of two scripts that differ, as diff -u has them without a context; empty: none.
std::string ScriptDifference(const std::string& first, const std::string& second);

}  // namespace muster::cli
