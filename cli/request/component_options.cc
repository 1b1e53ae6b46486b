// The options of a heterogeneous job's further components.
#include <array>

#include "absl/strings/str_cat.h"
#include "cli/request/job_options.h"
#include "scheduler/base/contains.h"
#include "scheduler/base/status.h"

namespace muster::cli {
namespace {

// What the first component says for all that do not say otherwise.
bool IsInherited(const std::string& name) {
  constexpr std::array kNames = {"account", "chdir", "comment", "export", "job-name", "time"};
  return Contains(kNames, name);
}

// What there is once for the whole job.
bool IsOfTheWhole(const std::string& name) {
  constexpr std::array kNames = {
      "alt",       "array",    "begin",       "deadline",     "dependency",          "every",
      "error",     "hold",     "input",       "nice",         "kill-on-invalid-dep", "priority",
      "time-min",  "prefer",   "export-file", "get-user-env", "no-requeue",          "output",
      "open-mode", "parsable", "requeue",     "requeue-exit", "test-only",           "wait",
      "stage-in",  "stage-out"};
  return Contains(kNames, name);
}

}  // namespace

absl::StatusOr<JobRequest> ReadComponentOptions(const ComponentOptions& first,
                                                const ComponentOptions& own,
                                                const std::vector<GivenOption>& environment,
                                                JobVerb verb, const ParseContext& context) {
  std::vector<GivenOption> given;
  for (const GivenOption& option : first.directives) {
    if (IsInherited(option.name)) {
      given.push_back(option);
    }
  }
  for (const auto& [name, value] : first.values) {
    if (IsInherited(name)) {
      given.push_back({.name = name, .value = value, .where = "--" + name});
    }
  }
  std::vector<std::string> said;
  for (const GivenOption& option : own.directives) {
    said.push_back(option.name);
  }
  for (const auto& [name, value] : own.values) {
    said.push_back(name);
  }
  for (const std::string& name : said) {
    if (IsOfTheWhole(name)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--", name, ": concerns the whole heterogeneous job: give it before the first ':'"));
    }
  }
  given.insert(given.end(), own.directives.begin(), own.directives.end());
  given.insert(given.end(), environment.begin(), environment.end());
  ASSIGN_OR_RETURN(JobRequest component, ReadJobOptions(own.values, given, verb, context));
  return component;
}

}  // namespace muster::cli
