#pragma once

// A command inside a running job: a step of one rank beside what runs there, with its streams here.
//
// Invariant: the step waits for nothing and takes nothing from other steps; its program has no
// environment of its own but the terminal's kind, for the job's supervisor puts the job's there.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/frame/verb.h"
#include "cli/run/joined_place.h"
#include "scheduler/model/job/job_spec.h"
#include "scheduler/model/view/view.h"

namespace muster::cli {

struct EnteringCommand {
  std::string verb;  // "exec": who asks, for a refusal
  std::string job;   // as it was named, perhaps with a step: "12", "12_3.1", "last"
  std::vector<std::string> argv;
  bool terminal = false;  // it gets one, and this one's keys
  bool quiet = false;     // nothing is said of how it ended
  bool input = true;      // it gets our standard input
  // What of its standard output goes on; without it all.
  std::function<std::string_view(std::string_view)> passes = {};
};

// --node and --rank, which choose where in the job.
std::vector<Option> EnterOptions();

// Runs it to its end, as EnterOptions() of the invocation choose; its exit code.
absl::StatusOr<int> RunInside(const Invocation& invocation, const EnteringCommand& command);

// The step that such a command is.
StepSpec EnteringStep(const JoinedPlace& place);
Program EnteringProgram(const JobDetail& job, const JoinedPlace& place,
                        const std::vector<std::string>& argv);

}  // namespace muster::cli
