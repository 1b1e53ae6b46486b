#include <unistd.h>

#include <algorithm>

#include "cli/frame/json_output.h"
#include "cli/frame/output.h"
#include "cli/frame/verbs.h"
#include "cli/page/shell_words.h"
#include "cli/request/job_options.h"
#include "cli/request/step_request.h"
#include "cli/run/stream_options.h"
#include "cli/scale/scale_page.h"
#include "cli/scale/scale_runs.h"
#include "scheduler/base/status.h"

namespace muster::cli {
namespace {

absl::StatusOr<int> ScaleProgram(const Invocation& invocation) {
  ASSIGN_OR_RETURN(const ScalingRequest request, ReadScale(invocation));
  ASSIGN_OR_RETURN(const ScaleMeasured measured, MeasureScaling(invocation, request));
  // What was measured before a run failed may have taken hours.
  if (measured.points.size() >= 2) {
    Json document =
        request.json ? ScalingDocument(request, invocation.arguments, measured.points) : Json();
    if (!measured.stopped.ok()) {
      document["stopped"] = std::string(measured.stopped.message());
    }
    RETURN_IF_ERROR(WriteOut(
        request.json ? PrintJson(document)
                     : ScalePage(request, ShellWords(invocation.arguments), measured.points,
                                 StyleFor(invocation.environment, STDOUT_FILENO))));
  }
  RETURN_IF_ERROR(measured.stopped);
  return 0;
}

// Those of `muster run` that have a meaning for several runs.
std::vector<Option> RunOptions() {
  std::vector<Option> options = JobOptions(JobVerb::kRun);
  for (const std::vector<Option>& more : {StepOptions(), StreamOptions()}) {
    options.insert(options.end(), more.begin(), more.end());
  }
  const std::vector<Option> ours = ScaleOptions();
  const auto taken = [&ours](const Option& option) {
    return option.name == "input" || option.name == "open-mode" || option.name == "stage-in" ||
           option.name == "stage-out" ||
           std::any_of(ours.begin(), ours.end(),
                       [&option](const Option& own) { return own.name == option.name; });
  };
  options.erase(std::remove_if(options.begin(), options.end(), taken), options.end());
  return options;
}

}  // namespace

Verb ScaleVerb() {
  Verb verb;
  verb.name = "scale";
  verb.purpose = "Measure how a program scales over ranks or GPUs, and what limits it";
  verb.synopsis = "-- CMD [ARG…]";
  verb.examples = {"muster scale --max 16 --repeat 3 -- ./solver input.dat",
                   "muster scale --max 8 --weak -- ./heat --rows-per-rank 4096",
                   "muster scale --gpus --max 8 --ntasks-per-gpu 1 --higher-is-better "
                   "--measure 'images/s: ([0-9.]+)' -- python train.py"};
  verb.remarks =
      "Runs CMD by 1, 2, 4 and so on up to --max ranks or GPUs, as jobs, or inside a job as steps\n"
      "of it, and prints the times, the speed-up, the efficiency, the serial fraction (Amdahl's;\n"
      "with --weak Gustafson's) and the knee. {N} in CMD is replaced by the number. What CMD\n"
      "writes to its standard output goes nowhere, unless --output names files.";
  verb.options = ScaleOptions();
  for (const Option& option : RunOptions()) {
    verb.options.push_back(option);
  }
  verb.arguments_min = 1;
  verb.arguments_max = kAnyNumber;
  verb.takes_command = true;
  verb.run = ScaleProgram;
  return verb;
}

}  // namespace muster::cli
