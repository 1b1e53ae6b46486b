#include "cli/request/job_options.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "cli/parse/request/notice_words.h"
#include "cli/parse/request/resources.h"
#include "cli/request/job_option_table.h"
#include "cli/request/slurm_option_table.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"

namespace muster::cli {
namespace {

absl::Status AddTranslated(const SlurmOption& option, const std::optional<std::string>& value,
                           const std::string& where, std::vector<GivenOption>* given) {
  const absl::StatusOr<std::vector<OwnOption>> own =
      Translate(option, value.has_value(), value.value_or(""));
  if (!own.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(where, ": ", std::string(own.status().message())));
  }
  for (const OwnOption& each : *own) {
    if (FindJobOption(each.name) == nullptr) {
      continue;  // of a command line alone, as --wrap
    }
    given->push_back({.name = each.name, .value = each.value, .where = where});
  }
  return absl::OkStatus();
}

// One directive line as options, word by word as a command line would be.
class DirectiveReader {
 public:
  DirectiveReader(const DirectiveLine& line, const std::string& script)
      : words_(line.words),
        place_(absl::StrCat(script, ":", line.line, ": ")),
        of_slurm_(line.of_slurm) {}

  // Words of an option's value; `place` begins its errors.
  DirectiveReader(const std::vector<std::string>& words, std::string place)
      : words_(words), place_(std::move(place)) {}

  absl::Status Read(std::vector<GivenOption>* given) {
    while (next_ < words_.size()) {
      const std::string word = words_[next_++];
      if (word.size() > 2 && word.rfind("--", 0) == 0) {
        RETURN_IF_ERROR(ReadLong(word, given));
      } else if (word.size() > 1 && word[0] == '-' && word[1] != '-') {
        RETURN_IF_ERROR(ReadLetters(word, given));
      } else {
        return absl::InvalidArgumentError(
            absl::StrCat(place_, Quote(word), " is not an option: begin it with - or --"));
      }
    }
    return absl::OkStatus();
  }

 private:
  absl::Status Unknown(const std::string& word) const {
    return absl::InvalidArgumentError(
        absl::StrCat(place_, Quote(word), " is not an option: see muster submit --help"));
  }

  absl::Status ReadLong(const std::string& word, std::vector<GivenOption>* given) {
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(2, equals == std::string::npos ? equals : equals - 2);
    const JobOption* option = FindJobOption(name);
    if (const SlurmOption* slurms = of_slurm_ ? FindSlurmOption(name, kSbatch) : nullptr) {
      return TakeSlurms(
          *slurms,
          equals == std::string::npos ? std::optional<std::string>() : word.substr(equals + 1),
          given);
    }
    if (option == nullptr || !option->submit) {
      return Unknown(word);
    }
    if (equals == std::string::npos) {
      return Take(*option, std::nullopt, given);
    }
    if (*option->metavar == '\0') {
      return absl::InvalidArgumentError(
          absl::StrCat(place_, "--", option->name, ": takes no value"));
    }
    return Take(*option, word.substr(equals + 1), given);
  }

  absl::Status ReadLetters(const std::string& word, std::vector<GivenOption>* given) {
    for (std::size_t i = 1; i < word.size(); ++i) {
      if (const SlurmOption* slurms = of_slurm_ ? FindSlurmOption(word[i], kSbatch) : nullptr) {
        const bool rest = slurms->takes != SlurmValue::kNone && i + 1 < word.size();
        RETURN_IF_ERROR(
            TakeSlurms(*slurms, rest ? std::optional(word.substr(i + 1)) : std::nullopt, given));
        if (rest) {
          return absl::OkStatus();
        }
        continue;
      }
      const JobOption* option = FindJobOption(word[i]);
      if (option == nullptr || !option->submit) {
        return Unknown(word);
      }
      const bool flag = *option->metavar == '\0';
      if (!flag && i + 1 < word.size()) {
        return Take(*option, word.substr(i + 1), given);
      }
      RETURN_IF_ERROR(Take(*option, std::nullopt, given));
    }
    return absl::OkStatus();
  }

  // `value` is what stood in the same word; without one, an option that needs one takes the next.
  absl::Status Take(const JobOption& option, std::optional<std::string> value,
                    std::vector<GivenOption>* given) {
    const std::string where = absl::StrCat(place_, "--", option.name);
    if (!value.has_value() && *option.metavar != '\0') {
      if (next_ == words_.size()) {
        return absl::InvalidArgumentError(absl::StrCat(where, ": needs a value"));
      }
      value = words_[next_++];
    }
    given->push_back({.name = option.name, .value = value.value_or(""), .where = where});
    return absl::OkStatus();
  }

  // The same for an option of Slurm's, which may become several of ours, or none.
  absl::Status TakeSlurms(const SlurmOption& option, std::optional<std::string> value,
                          std::vector<GivenOption>* given) {
    const std::string where = absl::StrCat(place_, "--", option.name);
    if (option.takes == SlurmValue::kNone && value.has_value()) {
      return absl::InvalidArgumentError(absl::StrCat(where, ": takes no value"));
    }
    if (option.takes == SlurmValue::kRequired && !value.has_value()) {
      if (next_ == words_.size()) {
        return absl::InvalidArgumentError(absl::StrCat(where, ": needs a value"));
      }
      value = words_[next_++];
    }
    return AddTranslated(option, value, where, given);
  }

  const std::vector<std::string>& words_;
  const std::string place_;
  const bool of_slurm_ = false;
  std::size_t next_ = 0;
};

// Each time it is given adds to the others.
bool AddsUp(const std::string& name) {
  return name == "recorded" || name == "stage-in" || name == "stage-in-node" || name == "stage-out";
}

// --mem and --mem-per-cpu say one thing in two ways, as --requeue and --no-requeue do: the one
// given later replaces both.
bool Replaces(const std::string& later, const std::string& earlier) {
  const auto is_memory = [](const std::string& name) {
    return name == "mem" || name == "mem-per-cpu";
  };
  const auto is_requeue = [](const std::string& name) {
    return name == "requeue" || name == "no-requeue";
  };
  return (later == earlier && !AddsUp(later)) || (is_memory(later) && is_memory(earlier)) ||
         (is_requeue(later) && is_requeue(earlier));
}

absl::Status RefuseOpposites(const std::map<std::string, std::string>& values) {
  if (values.count("requeue") != 0 && values.count("no-requeue") != 0) {
    return absl::InvalidArgumentError("--requeue and --no-requeue exclude each other: give one");
  }
  for (const char* name :
       {"container-entrypoint", "container-mount-home", "container-remap-root"}) {
    const std::string opposite = absl::StrCat("no-", name);
    if (values.count(name) != 0 && values.count(opposite) != 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("--", name, " and --", opposite, " exclude each other: give one"));
    }
  }
  if (values.count("mem") != 0 && values.count("mem-per-cpu") != 0) {
    return absl::InvalidArgumentError("--mem and --mem-per-cpu exclude each other: give one");
  }
  return absl::OkStatus();
}

absl::Status Apply(const GivenOption& given, const ParseContext& context, JobRequest* request) {
  const JobOption* option = FindJobOption(given.name);
  MUSTER_CHECK(option != nullptr);
  if (option->read == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(given.where, ": not in this version"));
  }
  const absl::Status status = option->read(given.value, context, request);
  request->said.push_back(given.name);
  return status.ok() ? status
                     : absl::InvalidArgumentError(
                           absl::StrCat(given.where, ": ", std::string(status.message())));
}

// The variables of `muster run`; SLURM_… of an enclosing job say more, and are not meant for it.
constexpr std::array<std::array<const char*, 2>, 4> kRunVariables = {
    {{"partition", "SLURM_PARTITION"},
     {"account", "SLURM_ACCOUNT"},
     {"qos", "SLURM_QOS"},
     {"reservation", "SLURM_RESERVATION"}}};

// What may differ between alternatives.
bool MayDiffer(const std::string& name) {
  constexpr std::array kNames = {
      "nodes",       "ntasks",  "ntasks-per-node", "cpus-per-task",  "mem",
      "mem-per-cpu", "gpus",    "gpus-per-node",   "gpus-per-task",  "exclusive",
      "overcommit",  "time",    "constraint",      "nodelist",       "exclude",
      "switches",    "segment", "parallel",        "exclusive-user", "gpu-occupied",
      "grid"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

// One alternative: the request with these options instead.
absl::Status ReadAlternative(const std::string& text, const ParseContext& context,
                             JobRequest* request) {
  const std::vector<std::string> words =
      absl::StrSplit(text, absl::ByAnyChar(" \t"), absl::SkipEmpty());
  std::vector<GivenOption> given;
  RETURN_IF_ERROR(DirectiveReader(words, "--alt: ").Read(&given));
  if (given.empty()) {
    return absl::InvalidArgumentError(
        "--alt: an alternative is empty: write \"OPTIONS | OPTIONS\"");
  }
  for (const GivenOption& option : given) {
    if (!MayDiffer(option.name)) {
      return absl::InvalidArgumentError(absl::StrCat(
          option.where, ": is the same for all alternatives; give it outside of --alt"));
    }
    RETURN_IF_ERROR(Apply(option, context, request));
  }
  return absl::OkStatus();
}

// --alt, once everything else is read.
absl::Status ReadAlternatives(const ParseContext& context, JobRequest* request) {
  if (request->alternatives.empty()) {
    return absl::OkStatus();
  }
  for (const std::string& text :
       std::vector<std::string>(absl::StrSplit(request->alternatives, '|'))) {
    JobRequest alternative = *request;
    RETURN_IF_ERROR(ReadAlternative(text, context, &alternative));
    request->spec.alternatives.push_back(
        Alternative{alternative.spec.request, alternative.spec.time_limit});
  }
  request->spec.request = request->spec.alternatives.front().request;
  request->spec.time_limit = request->spec.alternatives.front().time_limit;
  return absl::OkStatus();
}

// What alloc runs it runs here, with the environment that we have.
bool Takes(JobVerb verb, const JobOption& option) {
  const std::string_view name = option.name;
  return verb == JobVerb::kSubmit ? option.submit
         : verb == JobVerb::kRun  ? option.run
                                  : option.run && name != "mpi" && name != "export";
}

// --ntasks-per-gpu, once everything else is read: it says the tasks, or the GPUs.
absl::Status FillPerGpu(JobRequest* request) {
  const std::uint32_t each = request->tasks_per_gpu;
  ResourceRequest& asks = request->spec.request;
  if (each == 0) {
    return absl::OkStatus();
  }
  if (asks.gpus_per_node.count > 0 && asks.tasks == 0 && asks.tasks_per_node == 0) {
    asks.tasks_per_node = asks.gpus_per_node.count * each;
  } else if (asks.gpus.count > 0 && asks.tasks == 0) {
    asks.tasks = asks.gpus.count * each;
  } else if (asks.gpus.count + asks.gpus_per_node.count + asks.gpus_per_task.count == 0 &&
             asks.tasks > 0 && asks.tasks % each == 0) {
    asks.gpus.count = asks.tasks / each;
  } else {
    return absl::InvalidArgumentError(
        "--ntasks-per-gpu: goes with --gpus, --gpus-per-node or a multiple in --ntasks alone");
  }
  return absl::OkStatus();
}

// --gpus-per-socket, once everything else is read: GPUs of as many sockets as it asks for.
absl::Status FillGpusPerSocket(JobRequest* request) {
  const GpuRequest& each = request->gpus_per_socket;
  ResourceRequest& asks = request->spec.request;
  if (each.count == 0) {
    return absl::OkStatus();
  }
  if (asks.sockets_per_node == 0) {
    return absl::InvalidArgumentError(
        "--gpus-per-socket: say on how many sockets: add --sockets-per-node");
  }
  if (asks.gpus.count + asks.gpus_per_node.count + asks.gpus_per_task.count > 0) {
    return absl::InvalidArgumentError(
        "--gpus-per-socket: say GPUs once: leave --gpus, --gpus-per-node or --gpus-per-task out");
  }
  asks.gpus_per_node = GpuRequest{each.type, each.count * asks.sockets_per_node};
  return absl::OkStatus();
}

// What --gpu-share=20G is for a controller that does not know sizes: none takes it.
constexpr GpuShare kShareNotKnown(kWholeGpu.value() + 1);

// --gpu-memory, once everything else is read: of the GPUs that it asks for.
absl::Status FillGpuMemory(JobRequest* request) {
  ResourceRequest& asks = request->spec.request;
  if (request->gpu_memory.zero()) {
    return absl::OkStatus();
  }
  if (asks.gpus.count + asks.gpus_per_node.count + asks.gpus_per_task.count == 0 &&
      !asks.gpu_share.zero()) {
    asks.gpus_per_task.count = 1;
  }
  bool any = false;
  for (GpuRequest* gpus : {&asks.gpus, &asks.gpus_per_node, &asks.gpus_per_task}) {
    if (gpus->count > 0) {
      gpus->memory = request->gpu_memory;
      any = true;
    }
  }
  return any ? absl::OkStatus()
             : absl::InvalidArgumentError(
                   "--gpu-memory: the job asks for no GPUs; say how many: --gpus=1");
}

// --cpus-per-gpu, once everything else is read: CPUs of the tasks that share the GPUs, rounded up.
absl::Status FillCpusPerGpu(JobRequest* request) {
  const std::uint32_t each = request->cpus_per_gpu;
  ResourceRequest& asks = request->spec.request;
  if (each == 0) {
    return absl::OkStatus();
  }
  if (asks.cpus_per_task > 1) {
    return absl::InvalidArgumentError("--cpus-per-gpu: excludes --cpus-per-task: give one of them");
  }
  std::uint32_t gpus = asks.gpus_per_task.count;
  std::uint32_t tasks = 1;
  if (gpus == 0 && asks.gpus_per_node.count > 0) {
    gpus = asks.gpus_per_node.count;
    tasks = asks.tasks_per_node > 0 ? asks.tasks_per_node
                                    : std::max(asks.tasks, 1U) / std::max(asks.min_nodes, 1U);
  } else if (gpus == 0) {
    gpus = asks.gpus.count;
    tasks = asks.tasks > 0 ? asks.tasks
                           : std::max(asks.tasks_per_node, 1U) * std::max(asks.min_nodes, 1U);
  }
  if (gpus == 0) {
    return absl::InvalidArgumentError("--cpus-per-gpu: the job asks for no GPUs; say -c");
  }
  tasks = std::max(tasks, 1U);
  asks.cpus_per_task = (each * gpus + tasks - 1) / tasks;
  return absl::OkStatus();
}

// --mem-per-gpu, once everything else is read: of tasks that have GPUs of their own it is memory of
// their CPUs, rounded up, else of the node.
absl::Status FillMemoryPerGpu(JobRequest* request) {
  const Bytes each = request->memory_per_gpu;
  ResourceRequest& asks = request->spec.request;
  if (each.zero()) {
    return absl::OkStatus();
  }
  if (!asks.memory_per_node.zero() || !asks.memory_per_cpu.zero()) {
    return absl::InvalidArgumentError(
        "--mem-per-gpu: excludes --mem and --mem-per-cpu: give one of them");
  }
  const std::uint32_t tasks = std::max(asks.tasks, 1U);
  std::uint32_t of_task = asks.gpus_per_task.count;
  std::uint32_t of_node = asks.gpus_per_node.count;
  if (asks.gpus.count > 0 && asks.gpus.count % tasks == 0) {
    of_task = asks.gpus.count / tasks;
  } else if (asks.gpus.count > 0 && asks.min_nodes <= 1) {
    of_node = asks.gpus.count;
  }
  of_task = of_task + of_node == 0 && !asks.gpu_share.zero() ? 1 : of_task;
  const std::uint64_t cpus = std::max(asks.cpus_per_task, 1U);
  if (of_task > 0) {
    asks.memory_per_cpu = Bytes((each.value() * of_task + cpus - 1) / cpus);
  } else if (of_node > 0) {
    asks.memory_per_node = each * of_node;
  } else {
    return absl::InvalidArgumentError(
        asks.gpus.count > 0 ? "--mem-per-gpu: the GPUs do not divide over the tasks; say --mem"
                            : "--mem-per-gpu: the job asks for no GPUs; say --mem");
  }
  return absl::OkStatus();
}

}  // namespace

std::vector<Option> JobOptions(JobVerb verb) {
  std::vector<Option> options;
  for (const JobOption& option : AllJobOptions()) {
    if (Takes(verb, option)) {
      options.push_back({.name = option.name,
                         .letter = *option.letter,
                         .metavar = option.metavar,
                         .text = option.text,
                         .joined_by = AddsUp(option.name) ? '\n' : '\0'});
    }
  }
  return options;
}

absl::Status ReadGpuShare(const std::string& value, JobRequest* request) {
  const bool is_size =
      !value.empty() && std::isalpha(static_cast<unsigned char>(value.back())) != 0;
  request->spec.request.gpu_share_memory = Bytes();
  if (!is_size) {
    ASSIGN_OR_RETURN(request->spec.request.gpu_share, ParseGpuShare(value));
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(request->spec.request.gpu_share_memory, ParseMemory(value));
  request->spec.request.gpu_share = kShareNotKnown;
  return absl::OkStatus();
}

absl::Status RefuseShareSize(const JobRequest& request) {
  return request.spec.request.gpu_share_memory.zero()
             ? absl::OkStatus()
             : absl::InvalidArgumentError(
                   "--gpu-share: here it is a part of a GPU, like 0.25; a size is for a job of its "
                   "own");
}

absl::StatusOr<std::vector<GivenOption>> ReadDirectives(const std::vector<DirectiveLine>& lines,
                                                        const std::string& script) {
  std::vector<GivenOption> given;
  for (const DirectiveLine& line : lines) {
    RETURN_IF_ERROR(DirectiveReader(line, script).Read(&given));
  }
  return given;
}

absl::StatusOr<std::vector<GivenOption>> OptionsFrom(const Environment& environment, JobVerb verb) {
  std::vector<GivenOption> given;
  if (verb == JobVerb::kRun) {
    for (const auto& [option, variable] : kRunVariables) {
      if (!environment.Get(variable).empty()) {
        given.push_back({.name = option, .value = environment.Get(variable), .where = variable});
      }
    }
    return given;
  }
  const unsigned command = verb == JobVerb::kSubmit ? kSbatch : kSalloc;
  const std::string command_name = verb == JobVerb::kSubmit ? "SBATCH_" : "SALLOC_";
  for (const SlurmOption& option : AllSlurmOptions()) {
    if ((option.commands & command) == 0 || *option.variable == '\0') {
      continue;
    }
    const std::string variable = absl::StrCat(command_name, option.variable);
    std::string value = environment.Get(variable);
    if (value.empty()) {
      continue;
    }
    const std::string wait = environment.Get(command_name + "WAIT4SWITCH");
    if (std::string_view(option.name) == "switches" && !wait.empty() &&
        value.find('@') == std::string::npos) {
      absl::StrAppend(&value, "@", wait);
    }
    const bool has_value = option.takes != SlurmValue::kNone;
    if (has_value || (value != "0" && value != "no")) {
      RETURN_IF_ERROR(
          AddTranslated(option, has_value ? std::optional(value) : std::nullopt, variable, &given));
    }
  }
  return given;
}

// Only a submission leaves a process behind that can tell the desktop.
absl::Status RefuseDesktop(JobVerb verb, const std::vector<std::string>& recorded) {
  return verb == JobVerb::kSubmit || !WantsDesktop(recorded)
             ? absl::OkStatus()
             : absl::InvalidArgumentError(
                   "--notify=desktop: is for muster submit; this command itself waits for the job");
}

absl::StatusOr<JobRequest> ReadJobOptions(const std::map<std::string, std::string>& values,
                                          const std::vector<GivenOption>& directives, JobVerb verb,
                                          const ParseContext& context) {
  RETURN_IF_ERROR(RefuseOpposites(values));
  std::vector<GivenOption> all = directives;
  for (const auto& value : values) {
    const JobOption* option = FindJobOption(value.first);
    if (option != nullptr && Takes(verb, *option)) {
      all.push_back({.name = value.first, .value = value.second, .where = "--" + value.first});
    }
  }
  JobRequest request;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const GivenOption& given = all[i];
    const bool replaced = std::any_of(
        all.begin() + static_cast<std::ptrdiff_t>(i) + 1, all.end(),
        [&given](const GivenOption& later) { return Replaces(later.name, given.name); });
    if (!replaced) {
      RETURN_IF_ERROR(Apply(given, context, &request));
    }
  }
  request.spec.kind = verb == JobVerb::kRun ? JobKind::kRun : JobKind::kBatch;
  RETURN_IF_ERROR(RefuseDesktop(verb, request.spec.recorded));
  RETURN_IF_ERROR(FillGpusPerSocket(&request));
  RETURN_IF_ERROR(FillPerGpu(&request));
  RETURN_IF_ERROR(FillGpuMemory(&request));
  RETURN_IF_ERROR(FillCpusPerGpu(&request));
  RETURN_IF_ERROR(FillMemoryPerGpu(&request));
  RETURN_IF_ERROR(ReadAlternatives(context, &request));
  return request;
}

}  // namespace muster::cli
