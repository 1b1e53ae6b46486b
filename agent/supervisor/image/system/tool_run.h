#pragma once

// Runs a program of the system for `muster-container`, such as skopeo: with a limit, and with its
// words.
//
// Thread promise: the one thread of the program. Invariants: when it returns, neither the program
// nor what it started in its session runs; an error is one line that names the program.

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "scheduler/model/value/time.h"

namespace muster::agent {

struct ToolRun {
  std::vector<std::string> command;      // its name, looked for where the system has programs
  std::vector<std::string> environment;  // "NAME=value"
  Duration limit{0};
  // Asked now and then while it runs: an error ends it. Null: nothing is asked.
  std::function<absl::Status()> watch = nullptr;
  std::vector<int> codes = {0};  // with which it may end
};

// What it printed on its standard output.
absl::StatusOr<std::string> RunTool(const ToolRun& run);

// Its path; NotFound says which package has it.
absl::StatusOr<std::string> FindTool(const std::string& name);

}  // namespace muster::agent
