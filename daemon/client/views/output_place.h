#pragma once

// Where the output of a job, or of a rank of a step, is: the file that its supervisor or its
// `muster run` writes, and the node on which it does.
//
// Pure. Invariants: a path is what the writer made of its pattern, and absolute; what is in no file
// is refused in one line that says where it goes instead.

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "scheduler/model/change/event.h"
#include "scheduler/model/job/job_spec.h"
#include "scheduler/model/request/job_questions.h"
#include "scheduler/model/view/view.h"

namespace muster::daemon {

struct OutputPlace {
  std::string path;
  std::string node;  // by name
  friend bool operator==(const OutputPlace&, const OutputPlace&) = default;
};

// Whether the question is about a step that a `muster run` in the job has started: its event is
// asked for then.
bool IsOfStep(const ReadOutput& asked, const JobDetail& job);

// REQUIRES: the last of the job's attempts has begun; `step` is the event of the step that is
// meant, where IsOfStep() says so, and null otherwise.
absl::StatusOr<OutputPlace> FindOutput(const ReadOutput& asked, const JobDetail& job,
                                       const Program& program, const StepStarted* step);

}  // namespace muster::daemon
