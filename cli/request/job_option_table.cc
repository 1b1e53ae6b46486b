#include "cli/request/job_option_table.h"

#include <sys/resource.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "cli/parse/array.h"
#include "cli/parse/begin_time.h"
#include "cli/parse/number.h"
#include "cli/parse/request/constraint.h"
#include "cli/parse/request/container.h"
#include "cli/parse/request/dependency.h"
#include "cli/parse/request/licenses.h"
#include "cli/parse/request/notice_words.h"
#include "cli/parse/request/rank_layout.h"
#include "cli/parse/request/resources.h"
#include "cli/parse/request/stage_words.h"
#include "cli/parse/request/switches.h"
#include "cli/parse/request/warning_signal.h"
#include "cli/parse/zone_text.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/duration_text.h"
#include "scheduler/base/text/host_list.h"
#include "scheduler/base/text/recurrence.h"
#include "scheduler/base/text/words.h"
#include "scheduler/model/policy/policy_text.h"
#include "scheduler/model/value/gres.h"
#include "scheduler/runtime/program/resource_limits.h"

namespace muster::cli {
namespace {

constexpr std::size_t kOptionNameBytesMax = 200;
constexpr std::size_t kCommentBytesMax = 1024;
constexpr std::size_t kPathBytesMax = 4095;
constexpr std::uint64_t kNiceMax = 1'000'000;
constexpr std::chrono::hours kCheckpointIntervalMax{366 * 24};  // as the supervisor takes it

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

absl::Status ReadCheckpointInterval(const std::string& value, std::string* interval) {
  if (value == "auto") {
    *interval = value;
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const Duration duration, ParseDuration(value));
  const auto seconds = std::chrono::floor<std::chrono::seconds>(duration);
  if (seconds < std::chrono::seconds(1) || seconds > kCheckpointIntervalMax) {
    return absl::InvalidArgumentError(
        absl::StrCat(Quote(value), " is no interval: use 1s to 366d, or auto"));
  }
  *interval = absl::StrCat(seconds.count());
  return absl::OkStatus();
}

absl::Status NotOneOf(const std::string& value, const char* choices) {
  return absl::InvalidArgumentError(absl::StrCat(Quote(value), " is not one of ", choices));
}

absl::Status ReadOccupied(const std::string& value, ResourceRequest* request) {
  request->gpu_occupied = value == "ok";
  return value == "ok" || value == "no" ? absl::OkStatus() : NotOneOf(value, "ok, no");
}

absl::Status ReadMeans(const std::string& value, CheckpointMeans* means) {
  if (value != "program" && value != "criu") {
    return NotOneOf(value, "program, criu");
  }
  *means = value == "criu" ? CheckpointMeans::kCriu : CheckpointMeans::kProgram;
  return absl::OkStatus();
}

absl::Status ReadNice(const std::string& value, std::int32_t* nice) {
  const bool raises = value.rfind('-', 0) == 0;
  const absl::StatusOr<std::uint64_t> parsed = ParseDigits(value.substr(raises ? 1 : 0), kNiceMax);
  if (!parsed.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(Quote(value), " is not a nice value: use a whole number from 0 to ", kNiceMax,
                     "; operators also from -", kNiceMax));
  }
  const auto size = static_cast<std::int32_t>(*parsed);
  *nice = raises ? -size : size;
  return absl::OkStatus();
}

absl::Status ReadPriority(const std::string& value, std::uint32_t* priority) {
  constexpr std::uint32_t kTop = UINT32_MAX - 1;  // Slurm's
  const absl::StatusOr<std::uint64_t> parsed =
      value == "TOP" ? std::uint64_t{kTop} : ParseDigits(value, kTop);
  if (!parsed.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(
        Quote(value), " is not a priority: use a whole number up to ", kTop, ", or TOP"));
  }
  *priority = static_cast<std::uint32_t>(*parsed);
  return absl::OkStatus();
}

absl::Status ReadMpi(const std::string& value, MpiFlavour* mpi) {
  if (value == "auto") {
    *mpi = MpiFlavour::kAuto;
  } else if (value == "pmix") {
    *mpi = MpiFlavour::kPmix;
  } else if (value == "none") {
    *mpi = MpiFlavour::kNone;
  } else if (value == "pmi1") {
    *mpi = MpiFlavour::kPmi1;
  } else {
    return NotOneOf(value, "auto, pmix, pmi1, none");
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

absl::Status ReadRequeueExit(const std::string& value, JobSpec* spec) {
  if (value == "none") {
    spec->requeue_exit = kNoRequeueExit;
    return absl::OkStatus();
  }
  if (!absl::SimpleAtoi(value, &spec->requeue_exit) || spec->requeue_exit < 1 ||
      spec->requeue_exit > 255) {
    return absl::InvalidArgumentError(
        absl::StrCat(Quote(value), " is not an exit code: use 1 to 255, or none"));
  }
  return absl::OkStatus();
}

absl::Status ReadPeriod(const std::string& value, Duration* period) {
  ASSIGN_OR_RETURN(*period, ParseDuration(value));
  return *period > Duration(0) ? absl::OkStatus()
                               : absl::InvalidArgumentError(
                                     absl::StrCat(Quote(value), " is no time: use 30s, 10m or 1h"));
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

// GPUs among the others.
absl::Status ReadGres(const std::string& value, ResourceRequest* request) {
  std::vector<std::string> others;
  std::string gpus;
  for (const std::string& item : std::vector<std::string>(absl::StrSplit(value, ','))) {
    if (item.substr(0, item.find(':')) == "mps" || item.substr(0, item.find(':')) == "shard") {
      return absl::InvalidArgumentError(
          absl::StrCat(Quote(item), " is a part of a GPU: ask for it with --gpu-share"));
    }
    if (item != "gpu" && !absl::StartsWith(item, "gpu:")) {
      others.push_back(item);
    } else if (gpus.empty()) {
      gpus = item;
    } else {
      return absl::InvalidArgumentError(absl::StrCat(Quote(value), " names GPUs twice"));
    }
  }
  if (!gpus.empty()) {
    ASSIGN_OR_RETURN(request->gpus_per_node, ParseGres(gpus));
  }
  ASSIGN_OR_RETURN(const GresList list, ParseGresList(absl::StrJoin(others, ",")));
  std::erase_if(request->gres, [](const GresCount& gres) { return !IsHugePages(gres); });
  AddTo(request->gres, list);
  return absl::OkStatus();
}

absl::Status ReadMemory(const std::string& value, Bytes* memory) {
  ASSIGN_OR_RETURN(*memory, ParseMemory(value));
  return absl::OkStatus();
}

// One name or several, with commas.
absl::Status ReadNames(const std::string& value, std::string* names) {
  RETURN_IF_ERROR(CheckText(value, kOptionNameBytesMax));
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

absl::Status ReadRecorded(const std::string& lines, std::vector<std::string>* recorded) {
  for (const std::string& line :
       std::vector<std::string>(absl::StrSplit(lines, '\n', absl::SkipEmpty()))) {
    RETURN_IF_ERROR(CheckText(line, kCommentBytesMax));
    const std::string name = line.substr(0, line.find('='));
    std::erase_if(*recorded, [&name](const std::string& earlier) {
      return earlier.substr(0, earlier.find('=')) == name;
    });
    recorded->push_back(line);
  }
  return absl::OkStatus();
}

// "none": it runs once.
absl::Status ReadEvery(const std::string& value, const ParseContext& context, std::string* every) {
  every->clear();
  if (value != "none") {
    ASSIGN_OR_RETURN(const std::string fields, RecurrenceFields(value));
    *every = absl::StrCat(fields, ";", ZoneText(context.zone, context.now));
  }
  return absl::OkStatus();
}

// The soft limits of this process; "": all.
absl::Status ReadPropagate(const std::string& value, std::vector<ProcessLimit>* limits) {
  limits->clear();
  const bool all = value.empty() || value == "ALL";
  std::vector<std::string> names;
  if (!all && value != "NONE") {
    names = absl::StrSplit(value, ',');
  }
  std::size_t found = 0;
  for (const ResourceLimit& resource : kResourceLimits) {
    const bool named = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      return name == resource.name || name == absl::StrCat("RLIMIT_", resource.name);
    });
    rlimit now = {};
    if ((all || named) && getrlimit(static_cast<__rlimit_resource_t>(resource.number), &now) == 0) {
      const bool endless = now.rlim_cur == RLIM_INFINITY;
      limits->push_back({resource.name, endless ? UINT64_MAX : std::uint64_t{now.rlim_cur}});
    }
    found += named ? 1 : 0;
  }
  return found == names.size()
             ? absl::OkStatus()
             : NotOneOf(
                   value,
                   "ALL, NONE, AS, CORE, CPU, DATA, FSIZE, MEMLOCK, NOFILE, NPROC, RSS, STACK");
}

#define READ(...)                                                                                  \
  [](const std::string& value, const ParseContext& context, JobRequest* request) -> absl::Status { \
    (void)value;                                                                                   \
    (void)context;                                                                                 \
    (void)request;                                                                                 \
    __VA_ARGS__                                                                                    \
  }
#define SET(...) READ(__VA_ARGS__; return absl::OkStatus();)
#define PARSE(TO, PARSED) READ(ASSIGN_OR_RETURN(TO, PARSED); return absl::OkStatus();)

constexpr const char* kUnavailable = "";

const JobOption kJobOptions[] = {
    {"nodes", "N", "MIN[-MAX]", "Number of nodes",
     READ(return ReadNodes(value, &request->spec.request);), true, true},
    {"ntasks", "n", "N", "Number of tasks (ranks)",
     READ(return ReadCount(value, &request->spec.request.tasks);), true, true},
    {"ntasks-per-node", "", "N", "Tasks on each node",
     READ(return ReadCount(value, &request->spec.request.tasks_per_node);), true, true},
    {"cpus-per-task", "c", "N", "Hardware threads for each task, in whole cores of its own",
     READ(return ReadCount(value, &request->spec.request.cpus_per_task);), true, true},
    {"mem", "", "SIZE", "Memory on each node, like 4G; a plain number is MiB",
     READ(return ReadMemory(value, &request->spec.request.memory_per_node);), true, true},
    {"mem-per-cpu", "", "SIZE", "Memory for each hardware thread",
     READ(return ReadMemory(value, &request->spec.request.memory_per_cpu);), true, true},
    {"cpus-per-gpu", "", "N", "Hardware threads for each GPU of the job",
     READ(return ReadCount(value, &request->cpus_per_gpu);), true, true},
    {"gpus", "G", "[TYPE:]N", "GPUs for the whole job",
     READ(return ReadGpus(value, &request->spec.request.gpus);), true, true},
    {"gpus-per-node", "", "[TYPE:]N", "GPUs on each node",
     READ(return ReadGpus(value, &request->spec.request.gpus_per_node);), true, true},
    {"gpus-per-task", "", "[TYPE:]N", "GPUs for each task",
     READ(return ReadGpus(value, &request->spec.request.gpus_per_task);), true, true},
    {"gpus-per-socket", "", "[TYPE:]N", "GPUs for each socket that --sockets-per-node asks for",
     READ(return ReadGpus(value, &request->gpus_per_socket);), true, true},
    {"alt", "", "OPTIONS | OPTIONS",
     "Whichever of these starts first: options of size, time and nodes that replace or add to the "
     "others, like \"-G h100:4 | -G a100:8 -t 8:00\"",
     READ(request->alternatives = value; return absl::OkStatus();), true, true},
    {"exclusive", "", "", "Whole nodes, shared with no other job",
     SET(request->spec.request.exclusive = true), true, true},
    {"exclusive-user", "", "", "Nodes shared with jobs of the same user only",
     SET(request->spec.request.exclusive_user = true), true, true},
    {"overcommit", "O", "", "Tasks of a node share the hardware threads of one task",
     SET(request->spec.request.overcommit = true), true, true},
    {"time", "t", "LIMIT",
     "Time limit: minutes, MM:SS, HH:MM:SS, D-HH, D-HH:MM, D-HH:MM:SS or UNLIMITED",
     PARSE(request->spec.time_limit, ParseTimeLimit(value)), true, true},
    {"time-min", "", "LIMIT",
     "Start with a shorter limit, but no less than this, where that lets it start sooner",
     PARSE(request->spec.time_min, ParseTimeLimit(value)), true, true},
    {"array", "a", "INDICES", "An array of jobs: 0-99%10 (at most ten at a time), 1,3,5-9:2",
     PARSE(request->spec.array, ParseArray(value)), true, false},
    {"job-name", "J", "NAME", "The job's name",
     READ(return ReadText(value, kOptionNameBytesMax, &request->spec.name);), true, true},
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
    {"export", "", "LIST", "Variables the job gets: ALL (default), NONE or NAME[=VALUE], by commas",
     PARSE(request->exports, ParseExport(value)), true, true},
    {"export-file", "", "FILE",
     "Variables the job gets: those of FILE, NAME=VALUE with a NUL byte after each; --export adds",
     READ(return ReadPath(value, &request->export_file);), true, false},
    {"get-user-env", "", "", "Also the variables that a login sets, where no others say them",
     SET(request->login_environment = true), true, false},
    {"hold", "H", "", "Wait until released", SET(request->spec.held = true), true, false},
    {"begin", "b", "TIME", "Not before: now+1hour, 16:30, 2030-01-31T08:00",
     PARSE(request->spec.begin, ParseBegin(value, context.now, context.zone)), true, true},
    {"every", "", "WHEN",
     "Run again and again: 'Mon 03:00', 'Mon-Fri 8:30', 03:00, 15m, @daily, or cron's five fields",
     READ(return ReadEvery(value, context, &request->spec.every);), true, false},
    {"deadline", "", "TIME", "Not past this: not started when it cannot end by then",
     PARSE(request->spec.deadline, ParseBegin(value, context.now, context.zone)), true, true},
    {"dependency", "d", "LIST",
     "After other jobs: after:N[+MIN], afterany:N, afterok:N, afternotok:N, aftercorr:N, "
     "singleton; joined by , (all) or ? (any)",
     PARSE(request->spec.dependency, ParseDependency(value)), true, true},
    {"kill-on-invalid-dep", "", "yes|no",
     "A dependency that can never be met: yes cancels the job, no lets it wait; by default it is "
     "refused at submission, and waits when that shows later",
     READ(return ReadChoice(value, &request->spec.kill_on_invalid_dep);), true, true},
    {"stage-in", "", "SRC:DST", "Copy SRC to the path DST before it starts; SRC may be REMOTE:PATH",
     READ(return AddStageIns(value, &request->program.stage_in);), true, true},
    {"stage-in-node", "", "SRC", "Have a copy on each node, kept for later jobs, in $MUSTER_STAGED",
     READ(return AddNodeData(value, &request->spec.node_data);), true, true},
    {"stage-out", "", "SRC:DST", "Copy the path SRC to DST after its end, also when it has failed",
     READ(return AddStageOuts(value, &request->program.stage_out);), true, true},
    {"constraint", "C", "FEATURES", "Nodes with these features: a&(b|!c), a*2, [a*2&b*4]",
     PARSE(request->spec.request.constraint, ParseConstraint(value)), true, true},
    {"prefer", "", "FEATURES", "Nodes with these features too, where that delays nothing",
     PARSE(request->spec.prefer, ParseConstraint(value)), true, true},
    {"nodelist", "w", "NODES", "These nodes, like n1,n[3-5]; others only where more are needed",
     PARSE(request->spec.request.nodelist, NodeNames(value)), true, true},
    {"exclude", "x", "NODES", "None of these nodes",
     PARSE(request->spec.request.exclude, NodeNames(value)), true, true},
    {"switches", "", "N[@TIME]", "On at most N leaf switches; waits up to TIME (5m) for that",
     READ(return ReadSwitches(value, &request->spec.request);), true, true},
    {"segment", "", "N", "Every N of its nodes below one leaf switch or in one block",
     READ(return ReadCount(value, &request->spec.request.segment);), true, true},
    {"distribution", "m", "NODES[:SOCKETS]",
     "Ranks over nodes: block, cyclic, plane=N; then over sockets: :block, :cyclic, :fcyclic",
     READ(return ParseDistribution(value, LayoutOf(request));), true, true},
    {"cpu-bind", "", "KIND",
     "What a rank runs on: cores (default), threads, sockets, ldoms, rank_ldom, none, "
     "map_cpu:LIST, mask_cpu:LIST",
     READ(return ParseCpuBind(value, LayoutOf(request));), true, true},
    {"mem-bind", "", "KIND", "Its memory: local (default), none, rank, map_mem:LIST, mask_mem:LIST",
     READ(return ParseMemBind(value, LayoutOf(request));), true, true},
    {"mem-per-gpu", "", "SIZE", "Memory for each GPU of the job",
     READ(return ReadMemory(value, &request->memory_per_gpu);), true, true},
    {"gpu-memory", "", "SIZE", "GPUs of any type that are sold with that much memory, or more",
     READ(return ReadMemory(value, &request->gpu_memory);), true, true},
    {"gpu-share", "", "SHARE", "A part of one GPU for each task: 0.25, 25% or its memory, like 20G",
     READ(return ReadGpuShare(value, request);), true, true},
    {"gpu-occupied", "", "ok|no",
     "ok: GPUs that processes outside of jobs use will do; no (the default): they are left alone",
     READ(return ReadOccupied(value, &request->spec.request);), true, true},
    {"gpu-bind", "", "KIND",
     "The GPUs that a rank sees: none (all of the job's, its own first), closest, single[:N], "
     "per_task:N, map_gpu:LIST, mask_gpu:LIST",
     READ(return ParseGpuBind(value, LayoutOf(request));), true, true},
    {"gres", "", "NAME[:N],…",
     "Countable things on each node, as its agent's --gres declares them; gpu[:TYPE][:N] is "
     "--gpus-per-node",
     READ(return ReadGres(value, &request->spec.request);), true, true},
    {"hugepages", "", "SIZE[:PAGE]",
     "Huge pages on each node, of 2M or of PAGE, from a pool that the site has made there",
     READ(ASSIGN_OR_RETURN(const GresCount pages, ParseHugePages(value));
          std::erase_if(request->spec.request.gres, IsHugePages);
          AddTo(request->spec.request.gres, {pages}); return absl::OkStatus();),
     true, true},
    {"ntasks-per-socket", "", "N", "At most N tasks on each socket",
     READ(return ReadCount(value, &LayoutOf(request)->tasks_per_socket);), true, true},
    {"threads-per-core", "", "N",
     "Hardware threads of a core that a task counts and runs on; cores are given whole",
     READ(return ReadCount(value, &LayoutOf(request)->threads_per_core);), true, true},
    {"hint", "", "KIND",
     "compute_bound, memory_bound (one task a socket), multithread, nomultithread",
     READ(return ParseHint(value, LayoutOf(request));), true, true},
    {"parallel", "", "tp=N,cp=N,pp=N,dp=N,ep=N,shard=N",
     "Groups of ranks near one another: tensor, context, pipeline, data; ep and shard divide dp",
     READ(return ParseParallel(value, LayoutOf(request));), true, true},
    {"grid", "", "NxN[xN…]", "Ranks on a Cartesian grid, numbered so that its neighbours are near",
     READ(return ParseGrid(value, LayoutOf(request));), true, true},
    {"sockets-per-node", "", "N", "Nodes with at least N sockets",
     READ(return ReadCount(value, &request->spec.request.sockets_per_node);), true, true},
    {"mincpus", "", "N", "Nodes with at least N hardware threads",
     READ(return ReadCount(value, &request->spec.request.min_cpus);), true, true},
    {"tmp", "", "SIZE", "Nodes whose /tmp has at least this size in all",
     READ(return ReadMemory(value, &request->spec.request.tmp);), true, true},
    {"cores-per-socket", "", "N", "Nodes with at least N cores on a socket",
     READ(return ReadCount(value, &LayoutOf(request)->cores_per_socket);), true, true},
    {"ntasks-per-core", "", "N", "1: a task has whole cores of its own (--overcommit shares them)",
     READ(return ReadTasksPerCore(value);), true, true},
    {"ntasks-per-gpu", "", "N", "Tasks that share each GPU",
     READ(return ReadCount(value, &request->tasks_per_gpu);), true, true},
    {"licenses", "L", "NAME[:N],…",
     "Licences that it holds while it runs, by commas; the controller's file says how many there "
     "are",
     PARSE(request->spec.licenses, ParseLicenses(value)), true, true},
    {"priority", "", "N", "Fix the priority at N, or TOP for the highest (operators)",
     READ(return ReadPriority(value, &request->spec.priority);), true, true},
    {"nice", "", "N", "Lower the priority by N; operators raise it with -N",
     READ(return ReadNice(value, &request->spec.nice);), true, true},
    {"comment", "", "TEXT", "A remark, kept with the job",
     READ(return ReadText(value, kCommentBytesMax, &request->spec.comment);), true, true},
    {"account", "A", "NAME", "The account to charge",
     READ(return ReadText(value, kOptionNameBytesMax, &request->spec.account);), true, true},
    {"mpi", "", "KIND", "auto (default), pmix, pmi1 (MPICH) or none",
     READ(return ReadMpi(value, &request->program.mpi);), true, true},
    {"no-kill", "k", "", "Go on when a node of it fails, but for the first, which has the script",
     SET(request->spec.no_kill = true), true, true},
    {"requeue", "", "", "Run again when a node of it fails, or when its script ends with 85",
     SET(request->spec.requeue = Choice::kYes), true, false},
    {"requeue-exit", "", "CODE|none",
     "Run again when its script ends with CODE: it has kept its work (--requeue: 85)",
     READ(return ReadRequeueExit(value, &request->spec);), true, false},
    {"no-requeue", "", "", "Never run again, not even by muster requeue",
     SET(request->spec.requeue = Choice::kNo), true, false},
    {"checkpoint-dir", "", "DIR",
     "Where its programs keep their checkpoints (muster-JOB.checkpoint in its directory otherwise)",
     READ(return ReadPath(value, &request->checkpoint_dir);), true, true},
    {"checkpoint-interval", "", "TIME|auto",
     "Work between checkpoints, a hint to its programs: 90s, 15m (auto: by cost and failures)",
     READ(return ReadCheckpointInterval(value, &request->checkpoint_interval);), true, true},
    {"checkpoint-object", "", "REMOTE:PATH[,every=TIME]",
     "Copy its newest checkpoint to an object store, by rclone, once in TIME (1h) and at its end",
     READ(return ReadObjectCopies(value, &request->checkpoint_object);), true, false},
    {"checkpoint-with", "", "METHOD",
     "What makes its checkpoints: program, or criu, of its processes as they are (batch scripts)",
     READ(return ReadMeans(value, &request->spec.checkpoint_with);), true, true},
    {"elastic", "", "", "Let its nodes grow and shrink within --nodes=MIN-MAX, from checkpoints",
     SET(request->spec.elastic = true), true, false},
    {"replace-wait", "", "TIME",
     "With too few nodes left, keep the others for TIME to wait for a replacement (--elastic)",
     READ(return ReadPeriod(value, &request->spec.replace_wait);), true, false},
    {"progress-timeout", "", "TIME", "End it when it shows no progress for TIME: 90s, 10m",
     READ(return ReadPeriod(value, &request->spec.progress_timeout);), true, true},
    {"progress-file", "", "FILE",
     "The file whose change is progress, named as output (otherwise $MUSTER_PROGRESS_FILE)",
     READ(return ReadPath(value, &request->program.progress_path);), true, true},
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
    {"signal", "", "[{R|B}:]SIG[@TIME|@auto]",
     "Before the time limit ends it, signal the ranks of its steps (B: its script): seconds "
     "(default 60), 5m, or auto: as long as its checkpoints take",
     PARSE(request->spec.warning, ParseWarningSignal(value)), true, true},
    {"propagate", "", "LIMITS",
     "Soft limits (getrlimit) that its processes have as we do: ALL, NONE, or names by commas",
     READ(return ReadPropagate(value, &request->program.limits);), true, true},
    {"container-image", "", "IMAGE",
     "Run in a container: NAME[:TAG] of a registry, FILE.sqsh, oci:DIR[:TAG], docker-archive:FILE",
     READ(request->spec.container.image = value; return absl::OkStatus();), true, true},
    {"container", "", "BUNDLE", "Run in a container that an OCI bundle's directory describes",
     READ(request->spec.container.image = "bundle:" + value; return absl::OkStatus();), true, true},
    {"container-mounts", "", "SRC:DST[:ro],…", "What of the node its container sees, and where",
     PARSE(request->spec.container.mounts, ParseContainerMounts(value)), true, true},
    {"container-workdir", "", "DIR", "Working directory in its container (default: the image's)",
     READ(return ReadPath(value, &request->spec.container.work_dir);), true, true},
    {"container-name", "", "NAME", "Keep the container's files under that name, for later jobs too",
     READ(return ReadText(value, kOptionNameBytesMax, &request->spec.container.name);), true, true},
    {"container-save", "", "FILE", "Save its container as a squashfs file when it ends",
     READ(return ReadPath(value, &request->spec.container.save);), true, true},
    {"container-writable", "", "", "Its container's files can be changed",
     SET(request->spec.container.writable = true), true, true},
    {"container-env", "", "NAMES", "Variables of the job that go before the image's, by commas",
     PARSE(request->spec.container.env, ParseVariableNames(value)), true, true},
    {"container-entrypoint", "", "", "Run the command by the image's entrypoint",
     SET(request->spec.container.entrypoint = true), true, true},
    {"no-container-entrypoint", "", "", "Run the command itself (the default)",
     SET(request->spec.container.entrypoint = false), true, true},
    {"container-mount-home", "", "", "The home directory is in its container, too",
     SET(request->spec.container.mount_home = true), true, true},
    {"no-container-mount-home", "", "", "It is not (the default)",
     SET(request->spec.container.mount_home = false), true, true},
    {"container-remap-root", "", "", "Appear as root in its container, with no right outside",
     SET(request->spec.container.remap_root = true), true, true},
    {"no-container-remap-root", "", "", "Be oneself in it (the default)",
     SET(request->spec.container.remap_root = false), true, true},
    // What Slurm's commands and directives give that has no effect here, one a line.
    {"recorded", "", "NAME[=VALUE]", kUnavailable,
     READ(return ReadRecorded(value, &request->spec.recorded);), true, true},
    {"mail-type", "", "LIST",
     "Mail you when it ENDs, FAILs, BEGINs, is REQUEUEd, or at TIME_LIMIT_80",
     READ(RETURN_IF_ERROR(ParseMailTypes(value).status());
          return ReadRecorded("mail-type=" + value, &request->spec.recorded);),
     true, true},
    {"mail-user", "", "USER", "Whom to mail: a user or an address (default: you)",
     READ(RETURN_IF_ERROR(CheckMailUser(value));
          return ReadRecorded("mail-user=" + value, &request->spec.recorded);),
     true, true},
    {"notify", "", "mail|URL|desktop",
     "Tell you when it ends: by mail, a signed POST, or here on the desktop",
     READ(RETURN_IF_ERROR(CheckNotify(value));
          return ReadRecorded("notify=" + value, &request->spec.recorded);),
     true, true},
};

#undef SET
#undef READ

}  // namespace

std::span<const JobOption> AllJobOptions() {
  return kJobOptions;
}

const JobOption* FindJobOption(const std::string& name) {
  const auto* found = std::find_if(std::begin(kJobOptions), std::end(kJobOptions),
                                   [&name](const JobOption& o) { return name == o.name; });
  return found == std::end(kJobOptions) ? nullptr : found;
}

const JobOption* FindJobOption(char letter) {
  const auto* found =
      std::find_if(std::begin(kJobOptions), std::end(kJobOptions),
                   [letter](const JobOption& o) { return *o.letter == letter && letter != '\0'; });
  return found == std::end(kJobOptions) ? nullptr : found;
}

}  // namespace muster::cli
