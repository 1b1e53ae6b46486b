#include "cli/request/job_changes.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "cli/request/job_option_table.h"
#include "cli/request/job_options.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"

namespace muster::cli {
namespace {

using Values = std::map<std::string, std::string>;

constexpr const char* kNoDependency = "none";
constexpr const char* kThrottle = "array-throttle";
constexpr const char* kPaths = "paths";

// An option, and what of a job it changes (core/handle/changed_options).
struct Changeable {
  const char* option;
  const char* changes;  // "": a member of JobUpdate of its own
};

constexpr Changeable kChangeable[] = {
    {"account", "account"},
    {"begin", ""},
    {"chdir", kPaths},
    {"comment", ""},
    {"constraint", "constraint"},
    {"cpus-per-task", "cpus-per-task"},
    {"deadline", ""},
    {"dependency", ""},
    {"error", kPaths},
    {"every", "every"},
    {"exclude", "exclude"},
    {"exclusive", "exclusive"},
    {"exclusive-user", "exclusive-user"},
    {"gpu-occupied", "gpu-occupied"},
    {"gpus", "gpus"},
    {"gpus-per-node", "gpus"},
    {"gpus-per-task", "gpus"},
    {"gres", "gres"},
    {"input", kPaths},
    {"job-name", ""},
    {"licenses", "licenses"},
    {"mem", "mem"},
    {"mem-per-cpu", "mem"},
    {"mincpus", "mincpus"},
    {"nice", ""},
    {"no-requeue", "requeue"},
    {"nodelist", "nodelist"},
    {"nodes", "nodes"},
    {"ntasks", "ntasks"},
    {"ntasks-per-node", "ntasks-per-node"},
    {"output", kPaths},
    {"overcommit", "overcommit"},
    {"partition", "partition"},
    {"prefer", "prefer"},
    {"priority", "priority"},
    {"qos", "qos"},
    {"recorded", "recorded"},
    {"requeue", "requeue"},
    {"reservation", "reservation"},
    {"sockets-per-node", "sockets-per-node"},
    {"switches", "switches"},
    {"time", ""},
    {"time-min", "time-min"},
    {"tmp", "tmp"},
};

const Changeable* Find(const std::string& option) {
  const auto* found =
      std::find_if(std::begin(kChangeable), std::end(kChangeable),
                   [&option](const Changeable& each) { return option == each.option; });
  return found == std::end(kChangeable) ? nullptr : found;
}

bool IsFlag(const std::string& option) {
  const JobOption* known = FindJobOption(option);
  return known != nullptr && *known->metavar == '\0';
}

// --gres names GPUs, countable things, or both; an empty one takes both away.
void AddGres(const std::string& value, std::set<std::string>& changes) {
  bool gpus = value.empty();
  bool others = value.empty();
  for (const std::string& item : std::vector<std::string>(absl::StrSplit(value, ','))) {
    const bool gpu = item == "gpu" || absl::StartsWith(item, "gpu:");
    gpus = gpus || gpu;
    others = others || !gpu;
  }
  changes.erase("gres");
  if (gpus) {
    changes.insert("gpus");
  }
  if (others) {
    changes.insert("gres");
  }
}

absl::Status ReadThrottle(const std::string& value, JobSpec& asked) {
  const absl::StatusOr<std::uint64_t> most = ParseDigits(value, UINT32_MAX);
  if (!most.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--array-throttle: ", std::string(most.status().message())));
  }
  asked.array.emplace().max_running = static_cast<std::uint32_t>(*most);
  return absl::OkStatus();
}

void TakeOwnMembers(const Values& said, JobSpec& asked, JobUpdate& changes) {
  const auto set = [&said](const char* option, auto& change, auto& value) {
    if (said.contains(option)) {
      change = std::move(value);
    }
  };
  set("job-name", changes.name, asked.name);
  set("comment", changes.comment, asked.comment);
  set("time", changes.time_limit, asked.time_limit);
  set("nice", changes.nice, asked.nice);
  set("begin", changes.begin, asked.begin);
  set("deadline", changes.deadline, asked.deadline);
  set("dependency", changes.dependency, asked.dependency);
}

}  // namespace

std::vector<Option> ChangeOptions() {
  std::vector<Option> options;
  for (const Option& option : JobOptions(JobVerb::kSubmit)) {
    if (Find(option.name) != nullptr && !option.text.empty()) {
      options.push_back(option);
    }
  }
  options.push_back({.name = kThrottle,
                     .letter = 0,
                     .metavar = "N",
                     .text = "How many elements of an array may run at once; 0: all"});
  return options;
}

absl::StatusOr<JobUpdate> ReadJobChanges(Values values, const ParseContext& context) {
  if (const auto depends = values.find("dependency");
      depends != values.end() && depends->second == kNoDependency) {
    depends->second.clear();
  }
  std::set<std::string> changed;
  Values read;  // what has a value to read
  JobSpec throttled;
  std::vector<ChangedPath> paths;
  for (const auto& [option, value] : values) {
    if (option == kThrottle) {
      RETURN_IF_ERROR(ReadThrottle(value, throttled));
      changed.insert(option);
      continue;
    }
    const Changeable* known = Find(option);
    if (known == nullptr) {
      continue;
    }
    if (*known->changes != '\0') {
      changed.insert(known->changes);
    }
    if (std::string_view(known->changes) == kPaths) {
      paths.push_back({option, value});
      continue;
    }
    const bool says = IsFlag(option) ? value != "no" : !value.empty() || option == "job-name";
    if (says) {
      read.insert({option, value});
    }
    if (option == "gres") {
      AddGres(value, changed);
    }
  }
  ASSIGN_OR_RETURN(JobRequest request, ReadJobOptions(read, {}, JobVerb::kSubmit, context));
  RETURN_IF_ERROR(RefuseShareSize(request));
  JobUpdate changes;
  TakeOwnMembers(values, request.spec, changes);
  if (!changed.empty()) {
    changes.options.assign(changed.begin(), changed.end());
    changes.asked = std::move(request.spec);
    changes.asked->array = throttled.array;
    changes.asked->paths = std::move(paths);
  }
  if (changes == JobUpdate()) {
    return absl::InvalidArgumentError("nothing to change: give an option like --time");
  }
  return changes;
}

}  // namespace muster::cli
