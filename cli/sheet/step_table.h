#pragma once

// The steps of jobs as a table: what each had, used and ended as.
//
// Pure.

#include <string>
#include <vector>

#include "cli/page/style.h"
#include "scheduler/model/view/view.h"

namespace muster::cli {

struct JobSteps {
  std::string label;  // the job's
  std::vector<StepView> steps;
};

std::string PrintSteps(const std::vector<JobSteps>& jobs, Time now, const Style& style);

}  // namespace muster::cli
