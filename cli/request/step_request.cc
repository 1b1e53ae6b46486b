#include "cli/request/step_request.h"

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"
#include "cli/parse/selector.h"
#include "scheduler/base/text/words.h"

namespace muster::cli {
namespace {

constexpr const char* kNoGpus = "none";

// What a step may ask for.
constexpr std::array kOfStep = {"nodes",
                                "ntasks",
                                "cpus-per-task",
                                "chdir",
                                "export",
                                "mpi",
                                "label",
                                "job-name",
                                "partition",
                                "mem",
                                "overcommit",
                                "distribution",
                                "cpu-bind",
                                "mem-bind",
                                "gpu-bind",
                                "hint",
                                "gpus",
                                "gpus-per-task",
                                "parallel",
                                "grid",
                                "nodelist",
                                "threads-per-core",
                                "ntasks-per-socket",
                                "exclusive",
                                "exact",
                                "overlap",
                                "immediate",
                                "het-group",
                                "pty",
                                "multi-prog",
                                "kill-on-bad-exit",
                                "quit-on-interrupt",
                                "wait",
                                "output",
                                "error",
                                "input",
                                "open-mode",
                                "propagate",
                                "container",
                                "container-entrypoint",
                                "container-env",
                                "container-image",
                                "container-mount-home",
                                "container-mounts",
                                "container-name",
                                "container-remap-root",
                                "container-save",
                                "container-workdir",
                                "container-writable",
                                "no-container-entrypoint",
                                "no-container-mount-home",
                                "no-container-remap-root"};

}  // namespace

bool IsStepOption(std::string_view name) {
  return std::find(kOfStep.begin(), kOfStep.end(), name) != kOfStep.end();
}

std::vector<Option> StepOptions() {
  return {
      {.name = "exact",
       .letter = 0,
       .metavar = "",
       .text = "A step has the CPUs that it asks for and no more (it always does)"},
      {.name = "overlap",
       .letter = 0,
       .metavar = "",
       .text =
           "Share what other steps of the job have, and wait for none of them, nor they for it"},
      {.name = "immediate",
       .letter = 'I',
       .metavar = "",
       .text = "Refuse a step that would have to wait for others"},
      {.name = "het-group",
       .letter = 0,
       .metavar = "N",
       .text = "Inside a heterogeneous job: a step of component N"}};
}

std::map<std::string, std::string> WithoutNoGpus(const Invocation& invocation) {
  std::map<std::string, std::string> values = invocation.values;
  if (invocation.environment.Has("MUSTER_JOB_ID") && invocation.Value("gpus") == kNoGpus) {
    values.erase("gpus");
  }
  return values;
}

absl::StatusOr<StepSpec> ReadStep(const Invocation& invocation, const JobSpec& spec) {
  for (const Option& option : JobOptions(JobVerb::kRun)) {
    if (invocation.Has(option.name) && !IsStepOption(option.name)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--", option.name,
          option.name.rfind("stage-", 0) == 0
              ? ": is of a job: give it to the job, or have the step run muster stage SRC DST"
              : ": a step inside a job uses the job's resources: leave it out"));
    }
  }
  if (invocation.Has("overlap") && (invocation.Has("exact") || invocation.Has("exclusive"))) {
    return absl::InvalidArgumentError(
        "--overlap: shares what --exact and --exclusive have alone; leave one of them out");
  }
  const ResourceRequest& request = spec.request;
  return StepSpec{.tasks = request.tasks,
                  .cpus_per_task = invocation.Has("cpus-per-task") ? request.cpus_per_task : 0,
                  .nodes = request.min_nodes,
                  .overcommit = request.overcommit,
                  .layout = request.layout,
                  .gpus = request.gpus,
                  .gpus_per_task = request.gpus_per_task,
                  .memory_per_node = request.memory_per_node,
                  .overlap = invocation.Has("overlap"),
                  .immediate = invocation.Has("immediate"),
                  .no_gpus = invocation.Value("gpus") == kNoGpus,
                  .nodelist = request.nodelist,
                  .name = invocation.Has("job-name") ? spec.name : ""};
}

absl::StatusOr<JobId> OwnJob(const Invocation& invocation) {
  std::string variable = "MUSTER_JOB_ID";
  if (invocation.Has("het-group")) {
    const std::string value = invocation.Value("het-group");
    constexpr std::uint64_t kComponentMax = 9999;
    const absl::StatusOr<std::uint64_t> component = ParseDigits(value, kComponentMax);
    if (!component.ok()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--het-group: ", Quote(value), " is not a component: use its number, like 1"));
    }
    variable = absl::StrCat("MUSTER_JOB_ID_HET_GROUP_", *component);
    if (!invocation.environment.Has(variable)) {
      return absl::InvalidArgumentError(
          absl::StrCat("--het-group: the job has no component ", *component, "; it has ",
                       invocation.environment.Has("MUSTER_HET_SIZE")
                           ? invocation.environment.Get("MUSTER_HET_SIZE")
                           : "none"));
    }
  }
  absl::StatusOr<JobId> job = ParseJobId(invocation.environment.Get(variable));
  if (!job.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(variable, ": ", std::string(job.status().message())));
  }
  return job;
}

}  // namespace muster::cli
