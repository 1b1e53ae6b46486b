#include "scheduler/core/handle/changed_options.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/core/handle/submit/new_job.h"
#include "scheduler/core/policy/job_access.h"
#include "scheduler/core/state/tables/alternatives.h"
#include "scheduler/model/job/program_check.h"

namespace muster::core {
namespace {

// One option: how the asked spec's value comes into the job's.
struct ChangedOption {
  std::string_view name;
  void (*take)(const JobSpec& asked, JobSpec& spec);
  bool of_policy = false;    // it says where the job is counted
  bool of_request = false;   // each of its alternatives has it
  bool for_running = false;  // also when the job has started
};

// The nodes that a job without a word about them was given by its tasks, and the other way round:
// they follow what is changed.
void LoosenNodes(ResourceRequest& request) {
  if (request.as_wide_as_fits) {
    request.tasks = 0;
    request.as_wide_as_fits = false;
  } else if (request.min_nodes == 1 && request.max_nodes == request.tasks) {
    request.min_nodes = 0;
    request.max_nodes = 0;
  }
}

void TakeNodes(const JobSpec& asked, JobSpec& spec) {
  ResourceRequest& request = spec.request;
  const bool implied =
      request.as_wide_as_fits || (request.min_nodes == request.max_nodes &&
                                  request.tasks == request.min_nodes * TasksOnEach(request));
  request.tasks = implied ? 0 : request.tasks;
  request.as_wide_as_fits = false;
  request.min_nodes = asked.request.min_nodes;
  request.max_nodes = asked.request.max_nodes;
}

void TakeTasks(const JobSpec& asked, JobSpec& spec) {
  LoosenNodes(spec.request);
  spec.request.tasks = asked.request.tasks;
}

void TakeTasksPerNode(const JobSpec& asked, JobSpec& spec) {
  ResourceRequest& request = spec.request;
  const bool implied = request.min_nodes == request.max_nodes &&
                       request.tasks == request.min_nodes * TasksOnEach(request);
  request.tasks = implied || request.as_wide_as_fits ? 0 : request.tasks;
  request.as_wide_as_fits = false;
  request.tasks_per_node = asked.request.tasks_per_node;
}

void TakeMemory(const JobSpec& asked, JobSpec& spec) {
  spec.request.memory_per_node = asked.request.memory_per_node;
  spec.request.memory_per_cpu = asked.request.memory_per_cpu;
}

void TakeGpus(const JobSpec& asked, JobSpec& spec) {
  spec.request.gpus = asked.request.gpus;
  spec.request.gpus_per_node = asked.request.gpus_per_node;
  spec.request.gpus_per_task = asked.request.gpus_per_task;
  spec.request.own_gpus = asked.request.gpus_per_task.count > 0;
}

void TakeThrottle(const JobSpec& asked, JobSpec& spec) {
  if (spec.array.has_value() && asked.array.has_value()) {
    spec.array->max_running = asked.array->max_running;
  }
}

// Options without effect: one of a name that is there takes its place; without a value it goes.
void TakeRecorded(const JobSpec& asked, JobSpec& spec) {
  for (const std::string& option : asked.recorded) {
    const std::string name = option.substr(0, option.find('='));
    std::erase_if(spec.recorded, [&name](const std::string& other) {
      return other.substr(0, other.find('=')) == name;
    });
    if (option.size() > name.size() + 1) {
      spec.recorded.push_back(option);
    }
  }
}

// The paths that are named take the place of those of before.
void TakePaths(const JobSpec& asked, JobSpec& spec) {
  for (const ChangedPath& path : asked.paths) {
    std::erase_if(spec.paths,
                  [&path](const ChangedPath& other) { return other.option == path.option; });
    spec.paths.push_back(path);
  }
}

#define MUSTER_TAKE(MEMBER) [](const JobSpec& asked, JobSpec& spec) { spec.MEMBER = asked.MEMBER; }

constexpr ChangedOption kChangedOptions[] = {
    {"account", MUSTER_TAKE(account), true},
    {"array-throttle", TakeThrottle, false, false, true},
    {"constraint", MUSTER_TAKE(request.constraint), false, true},
    {"cpus-per-task", MUSTER_TAKE(request.cpus_per_task), false, true},
    {"every", MUSTER_TAKE(every), false, false, true},
    {"exclude", MUSTER_TAKE(request.exclude), false, true},
    {"exclusive", MUSTER_TAKE(request.exclusive), false, true},
    {"exclusive-user", MUSTER_TAKE(request.exclusive_user), false, true},
    {"gpu-occupied", MUSTER_TAKE(request.gpu_occupied), false, true},
    {"gpus", TakeGpus, false, true},
    {"gres", MUSTER_TAKE(request.gres), false, true},
    {"licenses", MUSTER_TAKE(licenses)},
    {"mem", TakeMemory, false, true},
    {"mincpus", MUSTER_TAKE(request.min_cpus), false, true},
    {"nodelist", MUSTER_TAKE(request.nodelist), false, true},
    {"nodes", TakeNodes, false, true},
    {"ntasks", TakeTasks, false, true},
    {"ntasks-per-node", TakeTasksPerNode, false, true},
    {"overcommit", MUSTER_TAKE(request.overcommit), false, true},
    {"partition", MUSTER_TAKE(partition), true},
    {"paths", TakePaths},
    {"prefer", MUSTER_TAKE(prefer), false, true},
    {"priority", MUSTER_TAKE(priority)},
    {"qos", MUSTER_TAKE(qos), true},
    {"recorded", TakeRecorded, false, false, true},
    {"requeue", MUSTER_TAKE(requeue), false, false, true},
    {"reservation", MUSTER_TAKE(reservation), true},
    {"sockets-per-node", MUSTER_TAKE(request.sockets_per_node), false, true},
    {"switches",
     [](const JobSpec& asked, JobSpec& spec) {
       spec.request.switches = asked.request.switches;
       spec.request.switches_wait = asked.request.switches_wait;
     },
     false, true},
    {"time-min", MUSTER_TAKE(time_min), false, true},
    {"tmp", MUSTER_TAKE(request.tmp), false, true},
};

#undef MUSTER_TAKE

const ChangedOption* FindOption(std::string_view name) {
  const auto* found =
      std::find_if(std::begin(kChangedOptions), std::end(kChangedOptions),
                   [name](const ChangedOption& option) { return option.name == name; });
  return found == std::end(kChangedOptions) ? nullptr : found;
}

// Requests that --time-min and --prefer made are made again; those of --alt are the user's own.
absl::Status UndoChoices(JobSpec& spec) {
  if (spec.alternatives.empty()) {
    return absl::OkStatus();
  }
  if (spec.time_min == Duration(0) && spec.prefer.every.postfix.empty()) {
    return absl::FailedPreconditionError(
        "the job has alternatives (--alt): cancel it and submit another");
  }
  spec.request = spec.alternatives.back().request;  // the plain one; the first has its limit
  spec.alternatives.clear();
  return absl::OkStatus();
}

// Where a job writes is no operator's to say: its files are made as its owner.
absl::Status CheckMayTake(const std::string& name, const Actor& by, const SchedulerConfig& config,
                          const JobSpec& spec) {
  if (name == "priority" && !IsOperator(by, config)) {
    return absl::PermissionDeniedError("--priority: only operators fix a priority");
  }
  if (name == "paths" && by.uid != spec.user.uid && !IsAdministrator(by, config)) {
    return absl::PermissionDeniedError("a job's files are its owner's to name");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status TakeOptions(const JobUpdate& changes, const Actor& by, const SchedulerConfig& config,
                         JobSpec& spec) {
  if (changes.options.empty()) {
    return absl::OkStatus();
  }
  if (!changes.asked.has_value()) {
    return absl::InvalidArgumentError("options without the values that they are to have");
  }
  const JobSpec& asked = *changes.asked;
  bool request = false;
  for (const std::string& name : changes.options) {
    const ChangedOption* option = FindOption(name);
    if (option == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat("--", name.substr(0, 64), ": is not changed once a job is submitted"));
    }
    request = request || option->of_request;
  }
  RETURN_IF_ERROR(CheckPaths(asked.paths));
  if (request) {
    RETURN_IF_ERROR(UndoChoices(spec));
  }
  for (const std::string& name : changes.options) {
    RETURN_IF_ERROR(CheckMayTake(name, by, config, spec));
    FindOption(name)->take(asked, spec);
  }
  return request ? AddChoices(config, spec) : absl::OkStatus();
}

bool ChangesPolicy(const JobUpdate& changes) {
  return std::any_of(changes.options.begin(), changes.options.end(), [](const std::string& name) {
    const ChangedOption* option = FindOption(name);
    return option != nullptr && option->of_policy;
  });
}

bool AreForRunning(const std::vector<std::string>& options) {
  return std::all_of(options.begin(), options.end(), [](const std::string& name) {
    const ChangedOption* option = FindOption(name);
    return option != nullptr && option->for_running;
  });
}

}  // namespace muster::core
