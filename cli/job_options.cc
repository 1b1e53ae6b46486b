#include "cli/job_options.h"

#include <algorithm>
#include <array>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "cli/parse/array.h"
#include "cli/parse/begin_time.h"
#include "cli/parse/constraint.h"
#include "cli/parse/dependency.h"
#include "cli/parse/hostlist.h"
#include "cli/parse/licenses.h"
#include "cli/parse/number.h"
#include "cli/parse/rank_layout.h"
#include "cli/parse/resources.h"
#include "cli/parse/switches.h"
#include "cli/parse/time_limit.h"
#include "scheduler/base/status.h"
#include "scheduler/model/policy_text.h"

namespace muster {
namespace {

constexpr std::size_t kNameBytesMax = 200;
constexpr std::size_t kCommentBytesMax = 1024;
constexpr std::size_t kPathBytesMax = 4095;
constexpr std::uint64_t kNiceMax = 1'000'000;

// Reads `value` into `request`; an error has no place yet.
using Reader = absl::Status (*)(const std::string& value, const Moment& moment,
                                JobRequest* request);

struct JobOption {
  const char* name;
  const char* letter;   // "": none
  const char* metavar;  // "": a flag
  const char* text;
  Reader read;  // null: not in this version
  bool submit;
  bool run;
};

absl::Status ReadCount(const std::string& value, std::uint32_t* count) {
  ASSIGN_OR_RETURN(*count, ParseCount(value));
  return absl::OkStatus();
}

absl::Status ReadText(const std::string& value, std::size_t bytes_max, std::string* text) {
  RETURN_IF_ERROR(CheckText(value, bytes_max));
  *text = value;
  return absl::OkStatus();
}

absl::Status ReadPath(const std::string& value, std::string* path) {
  if (value.empty()) {
    return absl::InvalidArgumentError("\"\" is not a path: name a file");
  }
  return ReadText(value, kPathBytesMax, path);
}

absl::Status NotOneOf(const std::string& value, const char* choices) {
  return absl::InvalidArgumentError(absl::StrCat(Quote(value), " is not one of ", choices));
}

absl::Status ReadNice(const std::string& value, std::int32_t* nice) {
  const absl::StatusOr<std::uint64_t> parsed = ParseDigits(value, kNiceMax);
  if (!parsed.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(
        Quote(value), " is not a nice value: use a whole number from 0 to ", kNiceMax));
  }
  *nice = static_cast<std::int32_t>(*parsed);
  return absl::OkStatus();
}

absl::Status ReadMpi(const std::string& value, MpiFlavour* mpi) {
  if (value == "auto") {
    *mpi = MpiFlavour::kAuto;
  } else if (value == "pmix") {
    *mpi = MpiFlavour::kPmix;
  } else if (value == "none") {
    *mpi = MpiFlavour::kNone;
  } else {
    return NotOneOf(value, "auto, pmix, none");
  }
  return absl::OkStatus();
}

absl::Status ReadChoice(const std::string& value, Choice* choice) {
  if (value != "yes" && value != "no") {
    return NotOneOf(value, "yes, no");
  }
  *choice = value == "yes" ? Choice::kYes : Choice::kNo;
  return absl::OkStatus();
}

absl::Status ReadOpenMode(const std::string& value, bool* append) {
  if (value != "append" && value != "truncate") {
    return NotOneOf(value, "append, truncate");
  }
  *append = value == "append";
  return absl::OkStatus();
}

absl::Status ReadNodes(const std::string& value, ResourceRequest* request) {
  ASSIGN_OR_RETURN(const NodeRange range, ParseNodeRange(value));
  request->min_nodes = range.min;
  request->max_nodes = range.max;
  return absl::OkStatus();
}

RankLayout* LayoutOf(JobRequest* request) {
  std::optional<RankLayout>& layout = request->spec.request.layout;
  return layout.has_value() ? &*layout : &layout.emplace();
}

absl::Status ReadTasksPerCore(const std::string& value) {
  std::uint32_t count = 0;
  RETURN_IF_ERROR(ReadCount(value, &count));
  return count == 1 ? absl::OkStatus()
                    : absl::InvalidArgumentError(
                          absl::StrCat(Quote(value),
                                       " is more than 1: a task has whole cores of its own; "
                                       "--overcommit shares them"));
}

absl::Status ReadSwitches(const std::string& value, ResourceRequest* request) {
  ASSIGN_OR_RETURN(const SwitchLimit limit, ParseSwitches(value));
  request->switches = limit.count;
  request->switches_wait = limit.wait;
  return absl::OkStatus();
}

absl::Status ReadGpus(const std::string& value, GpuRequest* gpus) {
  ASSIGN_OR_RETURN(*gpus, ParseGpus(value));
  return absl::OkStatus();
}

absl::Status ReadMemory(const std::string& value, Bytes* memory) {
  ASSIGN_OR_RETURN(*memory, ParseMemory(value));
  return absl::OkStatus();
}

// One name or several, with commas.
absl::Status ReadNames(const std::string& value, std::string* names) {
  RETURN_IF_ERROR(CheckText(value, kNameBytesMax));
  for (const std::string& name : std::vector<std::string>(absl::StrSplit(value, ','))) {
    RETURN_IF_ERROR(CheckPolicyName(name));
  }
  *names = value;
  return absl::OkStatus();
}

absl::Status ReadName(const std::string& value, std::string* name) {
  RETURN_IF_ERROR(CheckPolicyName(value));
  *name = value;
  return absl::OkStatus();
}

#define READ(...)                                                                           \
  [](const std::string& value, const Moment& moment, JobRequest* request) -> absl::Status { \
    (void)value;                                                                            \
    (void)moment;                                                                           \
    (void)request;                                                                          \
    __VA_ARGS__                                                                             \
  }
#define SET(...) READ(__VA_ARGS__; return absl::OkStatus();)

constexpr const char* kUnavailable = "";

const JobOption kJobOptions[] = {
    {"nodes", "N", "MIN[-MAX]", "Number of nodes",
     READ(return ReadNodes(value, &request->spec.request);), true, true},
    {"ntasks", "n", "N", "Number of tasks (ranks)",
     READ(return ReadCount(value, &request->spec.request.tasks);), true, true},
    {"ntasks-per-node", "", "N", "Tasks on each node",
     READ(return ReadCount(value, &request->spec.request.tasks_per_node);), true, true},
    {"cpus-per-task", "c", "N", "Hardware threads for each task",
     READ(return ReadCount(value, &request->spec.request.cpus_per_task);), true, true},
    {"mem", "", "SIZE", "Memory on each node: 4G; without a suffix MiB",
     READ(return ReadMemory(value, &request->spec.request.memory_per_node);), true, true},
    {"mem-per-cpu", "", "SIZE", "Memory for each hardware thread",
     READ(return ReadMemory(value, &request->spec.request.memory_per_cpu);), true, true},
    {"gpus", "G", "[TYPE:]N", "GPUs for the whole job",
     READ(return ReadGpus(value, &request->spec.request.gpus);), true, true},
    {"gpus-per-node", "", "[TYPE:]N", "GPUs on each node",
     READ(return ReadGpus(value, &request->spec.request.gpus_per_node);), true, true},
    {"gpus-per-task", "", "[TYPE:]N", "GPUs for each task",
     READ(return ReadGpus(value, &request->spec.request.gpus_per_task);), true, true},
    {"alt", "", "OPTS | OPTS…",
     "Whichever of these starts first: options of size, time and nodes that replace or add to the "
     "others, like \"-G h100:4 | -G a100:8 -t 8:00\"",
     READ(request->alternatives = value; return absl::OkStatus();), true, true},
    {"exclusive", "", "", "Whole nodes, shared with no other job",
     SET(request->spec.request.exclusive = true), true, true},
    {"overcommit", "O", "", "Tasks of a node share the hardware threads of one task",
     SET(request->spec.request.overcommit = true), true, true},
    {"time", "t", "LIMIT", "Time limit: minutes, HH:MM:SS, D-HH:MM or UNLIMITED",
     READ(ASSIGN_OR_RETURN(request->spec.time_limit, ParseTimeLimit(value));
          return absl::OkStatus();),
     true, true},
    {"array", "a", "INDICES", "A job array: 0-99%10, 1,3,5-9:2",
     READ(ASSIGN_OR_RETURN(request->spec.array, ParseArray(value)); return absl::OkStatus();), true,
     false},
    {"job-name", "J", "NAME", "The job's name",
     READ(return ReadText(value, kNameBytesMax, &request->spec.name);), true, true},
    {"output", "o", "FILE",
     "Standard output; %j job, %A array, %a index, %x name, %N node, %t rank",
     READ(return ReadPath(value, &request->program.stdout_path);), true, false},
    {"error", "e", "FILE", "Standard error (default: where the output goes)",
     READ(return ReadPath(value, &request->program.stderr_path);), true, false},
    {"input", "i", "FILE", "Standard input (default: /dev/null)",
     READ(return ReadPath(value, &request->program.stdin_path);), true, false},
    {"open-mode", "", "MODE", "append to output files, or truncate them (the default)",
     READ(return ReadOpenMode(value, &request->program.append_output);), true, false},
    {"chdir", "D", "DIR", "Working directory (default: the current one)",
     READ(return ReadPath(value, &request->program.work_dir);), true, true},
    {"export", "", "LIST", "Variables the job gets: ALL (default), NONE or NAME[=VALUE],…",
     READ(ASSIGN_OR_RETURN(request->exports, ParseExport(value)); return absl::OkStatus();), true,
     true},
    {"hold", "H", "", "Wait until released", SET(request->spec.held = true), true, false},
    {"begin", "b", "TIME", "Not before: now+1hour, 16:30, 2030-01-31T08:00",
     READ(ASSIGN_OR_RETURN(request->spec.begin, ParseBegin(value, moment.now, moment.zone));
          return absl::OkStatus();),
     true, true},
    {"deadline", "", "TIME", "Not past this: not started when it cannot end by then",
     READ(ASSIGN_OR_RETURN(request->spec.deadline, ParseBegin(value, moment.now, moment.zone));
          return absl::OkStatus();),
     true, true},
    {"dependency", "d", "LIST",
     "After other jobs: after:N[+MIN], afterany:N, afterok:N, afternotok:N, aftercorr:N, "
     "singleton; "
     "joined by , (all) or ? (any)",
     READ(ASSIGN_OR_RETURN(request->spec.dependency, ParseDependency(value));
          return absl::OkStatus();),
     true, true},
    {"kill-on-invalid-dep", "", "yes|no",
     "A dependency that can never be met: yes cancels the job, no lets it wait; unless said, it is "
     "refused at submission and waits when that shows later",
     READ(return ReadChoice(value, &request->spec.kill_on_invalid_dep);), true, true},
    {"constraint", "C", "FEATURES", "Nodes with these features: a&(b|!c), a*2, [a*2&b*4]",
     READ(ASSIGN_OR_RETURN(request->spec.request.constraint, ParseConstraint(value));
          return absl::OkStatus();),
     true, true},
    {"nodelist", "w", "NODES", "These nodes, like n1,n[3-5]; others only where more are needed",
     READ(ASSIGN_OR_RETURN(request->spec.request.nodelist, ParseHostlist(value));
          return absl::OkStatus();),
     true, true},
    {"exclude", "x", "NODES", "None of these nodes",
     READ(ASSIGN_OR_RETURN(request->spec.request.exclude, ParseHostlist(value));
          return absl::OkStatus();),
     true, true},
    {"switches", "", "N[@TIME]",
     "On at most N leaf switches; waits up to TIME (default 5 minutes) for that",
     READ(return ReadSwitches(value, &request->spec.request);), true, true},
    {"distribution", "m", "KIND",
     "Ranks over nodes: block, cyclic, plane=N; then over sockets: :block, :cyclic, :fcyclic",
     READ(return ParseDistribution(value, LayoutOf(request));), true, true},
    {"cpu-bind", "", "KIND",
     "What a rank runs on: cores (default), threads, sockets, ldoms, rank_ldom, none, "
     "map_cpu:LIST, mask_cpu:LIST",
     READ(return ParseCpuBind(value, LayoutOf(request));), true, true},
    {"mem-bind", "", "KIND", "Its memory: local (default), none, rank, map_mem:LIST, mask_mem:LIST",
     READ(return ParseMemBind(value, LayoutOf(request));), true, true},
    {"hint", "", "KIND", "compute_bound: as --cpu-bind=cores; multithread: as threads",
     READ(return ParseHint(value, LayoutOf(request));), true, true},
    {"parallel", "", "tp=N,pp=N,dp=N",
     "Groups of ranks: tensor-parallel ones beside one another, pipelines, data-parallel rings",
     READ(return ParseParallel(value, LayoutOf(request));), true, true},
    {"cores-per-socket", "", "N", "Nodes with at least so many cores on a socket",
     READ(return ReadCount(value, &LayoutOf(request)->cores_per_socket);), true, true},
    {"ntasks-per-core", "", "N", "1: a task has whole cores of its own (--overcommit shares them)",
     READ(return ReadTasksPerCore(value);), true, true},
    {"ntasks-per-gpu", "", "N", "Tasks that share each GPU",
     READ(return ReadCount(value, &request->tasks_per_gpu);), true, true},
    {"licenses", "L", "NAME[:N],…", "Licences that it holds while it runs",
     READ(ASSIGN_OR_RETURN(request->spec.licenses, ParseLicenses(value)); return absl::OkStatus();),
     true, true},
    {"nice", "", "N", "Lower the priority", READ(return ReadNice(value, &request->spec.nice);),
     true, true},
    {"comment", "", "TEXT", "A remark, kept with the job",
     READ(return ReadText(value, kCommentBytesMax, &request->spec.comment);), true, true},
    {"account", "A", "NAME", "The account to charge",
     READ(return ReadText(value, kNameBytesMax, &request->spec.account);), true, true},
    {"mpi", "", "KIND", "auto (default), pmix or none",
     READ(return ReadMpi(value, &request->program.mpi);), true, true},
    {"requeue", "", "", "Run again when a node of it fails",
     SET(request->spec.requeue = Choice::kYes), true, false},
    {"no-requeue", "", "", "Never run again, not even by muster requeue",
     SET(request->spec.requeue = Choice::kNo), true, false},
    {"partition", "p", "NAMES", "The partition, or several: the first that fits is taken",
     READ(return ReadNames(value, &request->spec.partition);), true, true},
    {"qos", "q", "NAME", "The quality of service",
     READ(return ReadName(value, &request->spec.qos);), true, true},
    {"reservation", "", "NAME", "Use the nodes of this reservation",
     READ(return ReadName(value, &request->spec.reservation);), true, true},
    {"wait", "W", "", "Wait for the end and exit with the job's code", SET(request->wait = true),
     true, false},
    {"test-only", "", "", "Submit nothing; say when and where the job would start",
     SET(request->test_only = true), true, false},
    {"parsable", "", "", "Print the number alone", SET(request->parsable = true), true, false},
    // The contract's options that this version refuses by name.
    {"mem-per-gpu", "", "SIZE", kUnavailable, nullptr, true, true},
    {"gpu-share", "", "SHARE", kUnavailable, nullptr, true, true},
    {"gpu-bind", "", "KIND", kUnavailable, nullptr, true, true},
    {"signal", "", "SIGNAL", kUnavailable, nullptr, true, true},
    {"checkpoint-dir", "", "DIR", kUnavailable, nullptr, true, true},
    {"checkpoint-interval", "", "TIME", kUnavailable, nullptr, true, true},
    {"mail-type", "", "LIST", kUnavailable, nullptr, true, true},
    {"mail-user", "", "USER", kUnavailable, nullptr, true, true},
    {"gres", "", "LIST", kUnavailable, nullptr, true, true},
    {"ntasks-per-socket", "", "N", kUnavailable, nullptr, true, true},
    {"time-min", "", "LIMIT", kUnavailable, nullptr, true, true},
    {"tmp", "", "SIZE", kUnavailable, nullptr, true, true},
    {"pty", "", "", kUnavailable, nullptr, false, true},
};

#undef SET
#undef READ

const JobOption* Find(const std::string& name) {
  const auto* found = std::find_if(std::begin(kJobOptions), std::end(kJobOptions),
                                   [&name](const JobOption& o) { return name == o.name; });
  return found == std::end(kJobOptions) ? nullptr : found;
}

const JobOption* Find(char letter) {
  const auto* found =
      std::find_if(std::begin(kJobOptions), std::end(kJobOptions),
                   [letter](const JobOption& o) { return *o.letter == letter && letter != '\0'; });
  return found == std::end(kJobOptions) ? nullptr : found;
}

// One directive line as options, word by word as a command line would be.
class DirectiveReader {
 public:
  DirectiveReader(const DirectiveLine& line, const std::string& script)
      : words_(line.words), place_(absl::StrCat(script, ":", line.line, ": ")) {}

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
    const JobOption* option =
        Find(word.substr(2, equals == std::string::npos ? equals : equals - 2));
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
      const JobOption* option = Find(word[i]);
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

  const std::vector<std::string>& words_;
  const std::string place_;
  std::size_t next_ = 0;
};

// --mem and --mem-per-cpu say one thing in two ways, as --requeue and --no-requeue do: the one
// given later replaces both.
bool Replaces(const std::string& later, const std::string& earlier) {
  const auto is_memory = [](const std::string& name) {
    return name == "mem" || name == "mem-per-cpu";
  };
  const auto is_requeue = [](const std::string& name) {
    return name == "requeue" || name == "no-requeue";
  };
  return later == earlier || (is_memory(later) && is_memory(earlier)) ||
         (is_requeue(later) && is_requeue(earlier));
}

absl::Status RefuseOpposites(const std::map<std::string, std::string>& values) {
  if (values.count("requeue") != 0 && values.count("no-requeue") != 0) {
    return absl::InvalidArgumentError("--requeue and --no-requeue exclude each other: give one");
  }
  if (values.count("mem") != 0 && values.count("mem-per-cpu") != 0) {
    return absl::InvalidArgumentError("--mem and --mem-per-cpu exclude each other: give one");
  }
  return absl::OkStatus();
}

absl::Status Apply(const GivenOption& given, const Moment& moment, JobRequest* request) {
  const JobOption* option = Find(given.name);
  MUSTER_CHECK(option != nullptr);
  if (option->read == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(given.where, ": not in this version"));
  }
  const absl::Status status = option->read(given.value, moment, request);
  return status.ok() ? status
                     : absl::InvalidArgumentError(
                           absl::StrCat(given.where, ": ", std::string(status.message())));
}

// What may differ between alternatives.
bool MayDiffer(const std::string& name) {
  constexpr std::array kNames = {
      "nodes",       "ntasks",  "ntasks-per-node", "cpus-per-task", "mem",
      "mem-per-cpu", "gpus",    "gpus-per-node",   "gpus-per-task", "exclusive",
      "overcommit",  "time",    "constraint",      "nodelist",      "exclude",
      "switches",    "parallel"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

// One alternative: the request with these options said anew.
absl::Status ReadAlternative(const std::string& text, const Moment& moment, JobRequest* request) {
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
    RETURN_IF_ERROR(Apply(option, moment, request));
  }
  return absl::OkStatus();
}

// --alt, once everything else is read.
absl::Status ReadAlternatives(const Moment& moment, JobRequest* request) {
  if (request->alternatives.empty()) {
    return absl::OkStatus();
  }
  for (const std::string& text :
       std::vector<std::string>(absl::StrSplit(request->alternatives, '|'))) {
    JobRequest alternative = *request;
    RETURN_IF_ERROR(ReadAlternative(text, moment, &alternative));
    request->spec.alternatives.push_back(
        Alternative{alternative.spec.request, alternative.spec.time_limit});
  }
  request->spec.request = request->spec.alternatives.front().request;
  request->spec.time_limit = request->spec.alternatives.front().time_limit;
  return absl::OkStatus();
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

}  // namespace

std::vector<Option> JobOptions(JobVerb verb) {
  std::vector<Option> options;
  for (const JobOption& option : kJobOptions) {
    if (verb == JobVerb::kSubmit ? option.submit : option.run) {
      options.push_back({.name = option.name,
                         .letter = *option.letter,
                         .metavar = option.metavar,
                         .text = option.text});
    }
  }
  return options;
}

absl::StatusOr<std::vector<GivenOption>> ReadDirectives(const std::vector<DirectiveLine>& lines,
                                                        const std::string& script) {
  std::vector<GivenOption> given;
  for (const DirectiveLine& line : lines) {
    RETURN_IF_ERROR(DirectiveReader(line, script).Read(&given));
  }
  return given;
}

std::vector<GivenOption> OptionsFrom(const Environment& environment, JobVerb verb) {
  constexpr std::array<std::array<const char*, 3>, 4> kVariables = {
      {{"partition", "SBATCH_PARTITION", "SLURM_PARTITION"},
       {"account", "SBATCH_ACCOUNT", "SLURM_ACCOUNT"},
       {"qos", "SBATCH_QOS", "SLURM_QOS"},
       {"reservation", "SBATCH_RESERVATION", "SLURM_RESERVATION"}}};
  std::vector<GivenOption> given;
  for (const auto& [option, submit, run] : kVariables) {
    const std::string variable = verb == JobVerb::kSubmit ? submit : run;
    if (!environment.Get(variable).empty()) {
      given.push_back({.name = option, .value = environment.Get(variable), .where = variable});
    }
  }
  return given;
}

absl::StatusOr<JobRequest> ReadJobOptions(const std::map<std::string, std::string>& values,
                                          const std::vector<GivenOption>& directives, JobVerb verb,
                                          const Moment& moment) {
  RETURN_IF_ERROR(RefuseOpposites(values));
  std::vector<GivenOption> all = directives;
  for (const auto& value : values) {
    const JobOption* option = Find(value.first);
    if (option != nullptr && (verb == JobVerb::kSubmit ? option->submit : option->run)) {
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
      RETURN_IF_ERROR(Apply(given, moment, &request));
    }
  }
  request.spec.kind = verb == JobVerb::kSubmit ? JobKind::kBatch : JobKind::kRun;
  RETURN_IF_ERROR(FillPerGpu(&request));
  RETURN_IF_ERROR(ReadAlternatives(moment, &request));
  return request;
}

}  // namespace muster
