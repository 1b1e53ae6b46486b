#include "cli/request/slurm_option_table.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "cli/request/slurm_values.h"
#include "scheduler/base/text/words.h"

namespace muster::cli {
namespace {

using Given = absl::StatusOr<std::vector<OwnOption>>;
using Own = std::vector<OwnOption>;

constexpr unsigned kAll = kEverySlurmCommand;
constexpr unsigned kJobs = kSbatch | kSalloc;  // what has no steps
constexpr auto kYes = SlurmFate::kHonoured;
constexpr auto kNote = SlurmFate::kRecorded;
constexpr auto kNo = SlurmFate::kRefused;
constexpr auto kFlag = SlurmValue::kNone;
constexpr auto kValue = SlurmValue::kRequired;
constexpr auto kMaybe = SlurmValue::kOptional;

constexpr const char* kNumber = "Invalid numeric value \"%s\" for --NAME.";
constexpr const char* kDisabled = "--NAME: Requested operation is presently disabled";
constexpr const char* kGres = "Invalid generic resource (gres) specification";

template <const char* const& kName, std::string (*kTurn)(const std::string&)>
Given Turned(const std::string& value) {
  return Own{{kName, kTurn(value)}};
}

constexpr const char* kTime = "time";
constexpr const char* kMem = "mem";
constexpr const char* kMemPerCpu = "mem-per-cpu";
constexpr const char* kMemPerGpu = "mem-per-gpu";
constexpr const char* kBegin = "begin";
constexpr const char* kDeadline = "deadline";
constexpr const char* kDistribution = "distribution";
constexpr const char* kNodelist = "nodelist";
constexpr const char* kExclude = "exclude";

// The option unless its value is empty, which Slurm takes for not given.
template <const char* const& kName>
Given UnlessEmpty(const std::string& value) {
  return value.empty() ? Own{} : Own{{kName, value}};
}

constexpr const char* kQos = "qos";
constexpr const char* kConstraint = "constraint";
constexpr const char* kGpus = "gpus";
constexpr const char* kGpusPerNode = "gpus-per-node";
constexpr const char* kGpusPerTask = "gpus-per-task";

constexpr const char* kGpusPerSocket = "gpus-per-socket";
constexpr const char* kPrefer = "prefer";
constexpr const char* kTimeMin = "time-min";
constexpr const char* kTmp = "tmp";
constexpr const char* kGetUserEnv = "get-user-env";

// The option, whatever the value that it may have.
template <const char* const& kName>
Given Flagged(const std::string&) {
  return Own{{kName, ""}};
}

// GPUs, of which 0 are none.
template <const char* const& kName>
Given GpuCount(const std::string& value) {
  const bool none = value == "0" || absl::EndsWith(value, ":0");
  return none ? Own{} : Own{{kName, value}};
}

// A binding, unless only talk of it was asked for.
template <const char* const& kName>
Given Bound(const std::string& value) {
  const std::string kind = SlurmBinding(value);
  return kind.empty() ? Own{} : Own{{kName, kind}};
}

constexpr const char* kCpuBind = "cpu-bind";
constexpr const char* kMemBind = "mem-bind";
constexpr const char* kGpuBind = "gpu-bind";

// --mem: 0 is all memory of the nodes, which has only who has the nodes alone.
Given Memory(const std::string& value) {
  return value == "0" ? Own{{"exclusive", ""}} : Own{{"mem", SlurmSize(value)}};
}

Given StepMemory(const std::string& value) {
  return value == "0" ? Own{} : Own{{"mem", SlurmSize(value)}};
}

// --gres: what each node gives; craynetwork and its like with 0 are none.
Given Gres(const std::string& value) {
  std::vector<std::string> items;
  int gpus = 0;
  for (const std::string& each : std::vector<std::string>(absl::StrSplit(value, ','))) {
    const std::string name =
        absl::StartsWith(each, "gres/") || absl::StartsWith(each, "gres:") ? each.substr(5) : each;
    if (!name.empty() && name != "none" && name != "NONE" && !absl::EndsWith(name, ":0")) {
      items.push_back(name);
      gpus += name == "gpu" || absl::StartsWith(name, "gpu:") ? 1 : 0;
    }
  }
  if (gpus > 1) {
    return absl::InvalidArgumentError(kGres);
  }
  return items.empty() ? Own() : Own{{"gres", absl::StrJoin(items, ",")}};
}

Given TresPerTask(const std::string& value) {
  Own own;
  for (const std::string& each : std::vector<std::string>(absl::StrSplit(value, ','))) {
    const std::size_t mark = each.find_first_of("=:");
    const std::string name = each.substr(0, mark);
    const std::string count = mark == std::string::npos ? "" : each.substr(mark + 1);
    if (name == "cpu" && !count.empty()) {
      own.push_back({"cpus-per-task", count});
    } else if (absl::StartsWith(each, "gres/gpu") && !count.empty()) {
      own.push_back({"gpus-per-task", absl::StrReplaceAll(count, {{"=", ":"}})});
    } else {
      return absl::InvalidArgumentError(
          absl::StrCat(Quote(value), " is not a list of cpu=N and gres/gpu[:TYPE]=N"));
    }
  }
  return own;
}

Given TresBind(const std::string& value) {
  constexpr std::string_view kGpu = "gres/gpu:";
  if (value.substr(0, kGpu.size()) != kGpu) {
    return absl::InvalidArgumentError(absl::StrCat(Quote(value), " is not gres/gpu:KIND"));
  }
  return Bound<kGpuBind>(value.substr(kGpu.size()));
}

// Alone on its nodes, or with others of its user. What stands for a label of security or a block of
// the network here is the whole node.
Given Exclusive(const std::string& value) {
  if (!value.empty() && value != "user" && value != "mcs" && value != "topo") {
    return absl::InvalidArgumentError(absl::StrCat(Quote(value), " is not one of user, mcs, topo"));
  }
  return Own{{value == "user" ? "exclusive-user" : "exclusive", ""}};
}

Given Nice(const std::string& value) {
  return Own{{"nice", value.empty() ? "100" : value}};
}

// --priority: 0 is --hold.
Given FixedPriority(const std::string& value) {
  return value == "0" ? Own{{"hold", ""}} : Own{{"priority", value == "top" ? "TOP" : value}};
}

Given NoKill(const std::string& value) {
  if (!value.empty() && value != "off" && value != "no") {
    return absl::InvalidArgumentError(absl::StrCat(Quote(value), " is not off"));
  }
  return value.empty() ? Own{{"no-kill", ""}} : Own{};
}

Given OpenMode(const std::string& value) {
  const bool append = absl::StartsWith(value, "a");
  return Own{{"open-mode", append ? "append" : absl::StartsWith(value, "t") ? "truncate" : value}};
}

Given NodeFile(const std::string& value) {
  return Own{{"nodelist", SlurmNodeFile(value)}};
}

// -B SOCKETS[:CORES[:THREADS]]
Given Geometry(const std::string& value) {
  const std::vector<std::string> parts = absl::StrSplit(value, ':');
  Own own;
  const char* const names[] = {"sockets-per-node", "cores-per-socket", "threads-per-core"};
  for (std::size_t i = 0; i < parts.size() && i < std::size(names); ++i) {
    if (!parts[i].empty() && parts[i] != "*") {
      own.push_back({names[i], parts[i]});
    }
  }
  return parts.size() > std::size(names)
             ? Given(absl::InvalidArgumentError(Quote(value) + " is not SOCKETS:CORES:THREADS"))
             : Given(own);
}

Given Mpi(const std::string& value) {
  if (absl::StartsWith(value, "pmix")) {
    return Own{{"mpi", "pmix"}};
  }
  return Own{{"mpi", value == "openmpi" ? "none" : value}};
}

// The whole step is ended anyway.
Given OomKillStep(const std::string& value) {
  return value == "0" ? Own{{"recorded", "oom-kill-step=0"}} : Own{};
}

Given KillBadExit(const std::string& value) {
  return value == "0" ? Own{} : Own{{"kill-on-bad-exit", ""}};
}

// --mail-type: kept with the job, for whoever sends the mail.
Given MailType(const std::string& value) {
  constexpr const char* kKinds[] = {"ALL",          "ARRAY_TASKS",   "BEGIN",
                                    "END",          "FAIL",          "NONE",
                                    "REQUEUE",      "STAGE_OUT",     "INVALID_DEPEND",
                                    "TIME_LIMIT",   "TIME_LIMIT_50", "TIME_LIMIT_80",
                                    "TIME_LIMIT_90"};
  for (const std::string& kind : std::vector<std::string>(absl::StrSplit(value, ','))) {
    const auto is = [&kind](const char* known) {
      return kind.empty() || absl::EqualsIgnoreCase(kind, known);
    };
    if (std::none_of(std::begin(kKinds), std::end(kKinds), is)) {
      return absl::InvalidArgumentError(absl::StrCat(Quote(kind), " is no kind of mail"));
    }
  }
  return Own{{"recorded", absl::StrCat("mail-type=", value)}};
}

constexpr SlurmOption kOptions[] = {
    {"account", 'A', kValue, kAll, kYes, "account", nullptr, "", "ACCOUNT"},
    {"accel-bind", 0, kValue, kSrun, kNote},
    {"acctg-freq", 0, kValue, kAll, kNote, "", nullptr, "", "ACCTG_FREQ"},
    {"array", 'a', kValue, kSbatch, kYes, "array", nullptr,
     "Batch job submission failed: Invalid job array specification", "ARRAY_INX"},
    {"batch", 0, kValue, kSbatch, kNote, "", nullptr, "", "BATCH"},
    {"bb", 0, kValue, kAll, kNo, "", nullptr, kDisabled, "BURST_BUFFER"},
    {"bbf", 0, kValue, kAll, kNo, "", nullptr, kDisabled},
    {"bcast", 0, kMaybe, kSrun, kYes, "", nullptr, "", "BCAST"},
    {"bcast-exclude", 0, kValue, kSrun, kNote},
    {"begin", 'b', kValue, kAll, kYes, "begin", Turned<kBegin, SlurmMoment>},
    {"bell", 0, kFlag, kSalloc, kYes, "", nullptr, "", "BELL"},
    {"chdir", 'D', kValue, kAll, kYes, "chdir"},
    {"cluster-constraint", 0, kValue, kAll, kNote},
    {"clusters", 'M', kValue, kAll, kYes, "", nullptr, "", "CLUSTERS"},
    {"comment", 0, kValue, kAll, kYes, "comment"},
    {"compress", 0, kMaybe, kSrun, kNote},
    {"consolidate-segments", 0, kFlag, kAll, kNote},
    {"constraint", 'C', kValue, kAll, kYes, "constraint", UnlessEmpty<kConstraint>,
     "Batch job submission failed: Invalid feature specification", "CONSTRAINT"},
    {"container", 0, kValue, kAll, kYes, "container", nullptr, "", "CONTAINER"},
    {"container-entrypoint", 0, kFlag, kAll, kYes, "container-entrypoint"},
    {"container-env", 0, kValue, kAll, kYes, "container-env"},
    {"container-id", 0, kValue, kAll, kNo, "", nullptr, kDisabled, "CONTAINER_ID"},
    {"container-image", 0, kValue, kAll, kYes, "container-image"},
    {"container-mount-home", 0, kFlag, kAll, kYes, "container-mount-home"},
    {"container-mounts", 0, kValue, kAll, kYes, "container-mounts"},
    {"container-name", 0, kValue, kAll, kYes, "container-name"},
    {"container-remap-root", 0, kFlag, kAll, kYes, "container-remap-root"},
    {"container-save", 0, kValue, kAll, kYes, "container-save"},
    {"container-workdir", 0, kValue, kAll, kYes, "container-workdir"},
    {"container-writable", 0, kFlag, kAll, kYes, "container-writable"},
    {"contiguous", 0, kFlag, kAll, kNote},
    {"core-spec", 'S', kValue, kAll, kNote, "", nullptr, kNumber, "CORE_SPEC"},
    {"cores-per-socket", 0, kValue, kAll, kYes, "cores-per-socket", nullptr, kNumber},
    {"cpu-bind", 0, kValue, kSrun, kYes, "cpu-bind", Bound<kCpuBind>},
    {"cpu-freq", 0, kValue, kAll, kNote, "", nullptr, "", "CPU_FREQ_REQ"},
    {"cpus-per-gpu", 0, kValue, kAll, kYes, "cpus-per-gpu", nullptr, kNumber, "CPUS_PER_GPU"},
    {"cpus-per-task", 'c', kValue, kAll, kYes, "cpus-per-task", nullptr, kNumber},
    {"deadline", 0, kValue, kAll, kYes, "deadline", Turned<kDeadline, SlurmMoment>},
    {"delay-boot", 0, kValue, kAll, kNote, "", nullptr, "", "DELAY_BOOT"},
    {"dependency", 'd', kValue, kAll, kYes, "dependency", nullptr,
     "Batch job submission failed: Job dependency problem"},
    {"disable-status", 'X', kFlag, kSrun, kNote},
    {"distribution", 'm', kValue, kAll, kYes, "distribution",
     Turned<kDistribution, SlurmDistribution>, "", "DISTRIBUTION"},
    {"epilog", 0, kValue, kSrun, kYes},
    {"error", 'e', kValue, kSbatch | kSrun, kYes, "error", nullptr, "", "ERROR"},
    {"exact", 0, kFlag, kSrun, kYes, "exact"},
    {"exclude", 'x', kValue, kAll, kYes, "exclude", Turned<kExclude, SlurmNodes>,
     "Batch job submission failed: Invalid node name specified"},
    {"exclusive", 0, kMaybe, kAll, kYes, "exclusive", Exclusive, "", "EXCLUSIVE"},
    {"export", 0, kValue, kSbatch | kSrun, kYes, "export", nullptr, "", "EXPORT"},
    {"export-file", 0, kValue, kSbatch, kYes, "export-file"},
    {"external-launcher", 0, kFlag, kSrun, kYes},
    {"extra", 0, kValue, kAll, kNote},
    {"extra-node-info", 'B', kValue, kAll, kYes, "", Geometry,
     "Invalid numeric value \"%s\" for first arg of -B."},
    {"get-user-env", 0, kMaybe, kSbatch, kYes, "get-user-env", Flagged<kGetUserEnv>, "",
     "GET_USER_ENV"},
    {"get-user-env", 0, kMaybe, kSalloc, kNote, "", nullptr, "", "GET_USER_ENV"},
    {"gid", 0, kValue, kAll, kNo, "", nullptr, "--gid only permitted by root user"},
    {"gpu-bind", 0, kValue, kAll, kYes, "gpu-bind", Bound<kGpuBind>,
     "Invalid --gpu-bind argument: %s", "GPU_BIND"},
    {"gpu-freq", 0, kValue, kAll, kNote, "", nullptr, "", "GPU_FREQ"},
    {"gpus", 'G', kValue, kAll, kYes, "gpus", GpuCount<kGpus>, kGres, "GPUS"},
    {"gpus-per-node", 0, kValue, kAll, kYes, "gpus-per-node", GpuCount<kGpusPerNode>, kGres,
     "GPUS_PER_NODE"},
    {"gpus-per-socket", 0, kValue, kAll, kYes, "gpus-per-socket", GpuCount<kGpusPerSocket>, kGres,
     "GPUS_PER_SOCKET"},
    {"gpus-per-task", 0, kValue, kAll, kYes, "gpus-per-task", GpuCount<kGpusPerTask>, kGres,
     "GPUS_PER_TASK"},
    {"gres", 0, kValue, kAll, kYes, "gres", Gres, kGres, "GRES"},
    {"gres-flags", 0, kValue, kAll, kNote, "", nullptr, "", "GRES_FLAGS"},
    {"het-group", 0, kValue, kSrun, kYes, "het-group"},
    {"pack-group", 0, kValue, kSrun, kYes, "het-group"},
    {"hint", 0, kValue, kAll, kYes, "hint", nullptr,
     "unrecognized --hint argument \"%s\", see --hint=help", "HINT"},
    {"hold", 'H', kFlag, kAll, kYes, "hold"},
    {"ignore-pbs", 0, kFlag, kSbatch, kNote, "", nullptr, "", "IGNORE_PBS"},
    {"immediate", 'I', kMaybe, kSrun, kYes},
    {"immediate", 'I', kMaybe, kSalloc, kNo, "", nullptr, kDisabled},
    {"input", 'i', kValue, kSbatch | kSrun, kYes, "input", nullptr, "", "INPUT"},
    {"job-name", 'J', kValue, kAll, kYes, "job-name", nullptr, "", "JOB_NAME"},
    {"jobid", 0, kValue, kSrun, kYes},
    {"kill-command", 'K', kMaybe, kSalloc, kNote, "", nullptr, "", "KILL_CMD"},
    {"kill-on-bad-exit", 'K', kMaybe, kSrun, kYes, "kill-on-bad-exit", KillBadExit},
    {"kill-on-invalid-dep", 0, kValue, kSbatch, kYes, "kill-on-invalid-dep"},
    {"label", 'l', kFlag, kSrun, kYes, "label"},
    {"licenses", 'L', kValue, kAll, kYes, "licenses", nullptr,
     "Batch job submission failed: Invalid license specification"},
    {"mail-type", 0, kValue, kAll, kYes, "", MailType},
    {"mail-user", 0, kValue, kAll, kNote},
    {"mcs-label", 0, kValue, kAll, kNote},
    {"mem", 0, kValue, kJobs, kYes, "mem", Memory, "", "MEM_PER_NODE"},
    {"mem", 0, kValue, kSrun, kYes, "mem", StepMemory},
    {"mem-bind", 0, kValue, kAll, kYes, "mem-bind", Bound<kMemBind>, "", "MEM_BIND"},
    {"mem-per-cpu", 0, kValue, kAll, kYes, "mem-per-cpu", Turned<kMemPerCpu, SlurmSize>, "",
     "MEM_PER_CPU"},
    {"mem-per-gpu", 0, kValue, kAll, kYes, "mem-per-gpu", Turned<kMemPerGpu, SlurmSize>, "",
     "MEM_PER_GPU"},
    {"mincpus", 0, kValue, kAll, kYes, "mincpus", nullptr, kNumber},
    {"mpi", 0, kValue, kSrun, kYes, "mpi", Mpi,
     "Invalid MPI type '%s', --mpi=list for acceptable types"},
    {"msg-timeout", 0, kValue, kSrun, kNote},
    {"multi-prog", 0, kFlag, kSrun, kYes, "multi-prog"},
    {"network", 0, kValue, kAll, kNote, "", nullptr, "", "NETWORK"},
    {"nice", 0, kMaybe, kAll, kYes, "nice", Nice, kNumber},
    {"no-allocate", 'Z', kFlag, kSrun, kNo, "", nullptr, kDisabled},
    {"no-bell", 0, kFlag, kSalloc, kYes, "", nullptr, "", "NO_BELL"},
    {"no-container-entrypoint", 0, kFlag, kAll, kYes, "no-container-entrypoint"},
    {"no-container-mount-home", 0, kFlag, kAll, kYes, "no-container-mount-home"},
    {"no-container-remap-root", 0, kFlag, kAll, kYes, "no-container-remap-root"},
    {"no-kill", 'k', kMaybe, kAll, kYes, "no-kill", NoKill, "", "NO_KILL"},
    {"no-requeue", 0, kFlag, kSbatch, kYes, "no-requeue", nullptr, "", "NO_REQUEUE"},
    {"no-shell", 0, kFlag, kSalloc, kYes},
    {"nodefile", 'F', kValue, kAll, kYes, "nodelist", NodeFile},
    {"nodelist", 'w', kValue, kAll, kYes, "nodelist", Turned<kNodelist, SlurmNodes>,
     "Batch job submission failed: Invalid node name specified"},
    {"nodes", 'N', kValue, kAll, kYes, "nodes", nullptr, "\"%s\" is not a valid node count"},
    {"ntasks", 'n', kValue, kAll, kYes, "ntasks", nullptr, kNumber},
    {"ntasks-per-core", 0, kValue, kAll, kYes, "ntasks-per-core", nullptr, kNumber},
    {"ntasks-per-gpu", 0, kValue, kAll, kYes, "ntasks-per-gpu", nullptr, kNumber},
    {"ntasks-per-node", 0, kValue, kAll, kYes, "ntasks-per-node", nullptr, kNumber},
    {"ntasks-per-socket", 0, kValue, kAll, kYes, "ntasks-per-socket", nullptr, kNumber},
    {"oom-kill-step", 0, kMaybe, kAll, kYes, "", OomKillStep, "", "OOMKILLSTEP"},
    {"open-mode", 0, kValue, kSbatch | kSrun, kYes, "open-mode", OpenMode, "", "OPEN_MODE"},
    {"output", 'o', kValue, kSbatch | kSrun, kYes, "output", nullptr, "", "OUTPUT"},
    {"overcommit", 'O', kFlag, kAll, kYes, "overcommit", nullptr, "", "OVERCOMMIT"},
    {"overlap", 0, kFlag, kSrun, kYes, "overlap"},
    {"oversubscribe", 's', kFlag, kAll, kNote},
    {"parsable", 0, kFlag, kSbatch, kYes, "parsable"},
    {"partition", 'p', kValue, kAll, kYes, "partition", nullptr,
     "Batch job submission failed: Invalid partition name specified", "PARTITION"},
    {"power", 0, kValue, kAll, kNote, "", nullptr, "", "POWER"},
    {"prefer", 0, kValue, kAll, kYes, "prefer", UnlessEmpty<kPrefer>,
     "Batch job submission failed: Invalid feature specification"},
    {"preserve-env", 'E', kFlag, kSrun, kNote},
    {"priority", 0, kValue, kAll, kYes, "priority", FixedPriority,
     "Invalid --priority specification"},
    {"profile", 0, kValue, kAll, kNote, "", nullptr, "", "PROFILE"},
    {"prolog", 0, kValue, kSrun, kYes},
    {"propagate", 0, kMaybe, kSbatch | kSrun, kYes, "propagate", nullptr,
     "Invalid --propagate specification \"%s\"", "PROPAGATE"},
    {"pty", 0, kMaybe, kSrun, kYes},
    {"qos", 'q', kValue, kAll, kYes, "qos", UnlessEmpty<kQos>,
     "Batch job submission failed: Invalid qos specification", "QOS"},
    {"quiet", 'Q', kFlag, kAll, kYes},
    {"quit-on-interrupt", 0, kFlag, kSrun, kYes, "quit-on-interrupt"},
    {"reboot", 0, kFlag, kAll, kNo, "", nullptr, kDisabled},
    {"relative", 'r', kValue, kSrun, kYes, "relative", nullptr, kNumber},
    {"requeue", 0, kFlag, kSbatch, kYes, "requeue", nullptr, "", "REQUEUE"},
    {"reservation", 0, kValue, kAll, kYes, "reservation", nullptr,
     "Batch job submission failed: Requested reservation is invalid", "RESERVATION"},
    {"resv-ports", 0, kMaybe, kAll, kNote},
    {"segment", 0, kValue, kAll, kYes, "segment", nullptr, kNumber, "SEGMENT_SIZE"},
    {"send-libs", 0, kMaybe, kSrun, kNote},
    {"signal", 0, kValue, kAll, kYes, "signal", nullptr, "", "SIGNAL"},
    {"slurmd-debug", 0, kValue, kSrun, kNote},
    {"sockets-per-node", 0, kValue, kAll, kYes, "sockets-per-node", nullptr, kNumber},
    {"spread-job", 0, kFlag, kAll, kNote, "", nullptr, "", "SPREAD_JOB"},
    {"spread-segments", 0, kFlag, kAll, kNote},
    {"stepmgr", 0, kFlag, kAll, kNote},
    {"switches", 0, kValue, kAll, kYes, "switches", nullptr, kNumber, "REQ_SWITCH"},
    {"task-epilog", 0, kValue, kSrun, kYes},
    {"task-prolog", 0, kValue, kSrun, kYes},
    {"tasks-per-node", 0, kValue, kAll, kYes, "ntasks-per-node", nullptr, kNumber},
    {"test-only", 0, kFlag, kSbatch | kSrun, kYes, "test-only"},
    {"thread-spec", 0, kValue, kAll, kNote, "", nullptr, kNumber, "THREAD_SPEC"},
    {"threads", 'T', kValue, kSrun, kNote, "", nullptr, kNumber},
    {"threads-per-core", 0, kValue, kAll, kYes, "threads-per-core", nullptr, kNumber,
     "THREADS_PER_CORE"},
    {"time", 't', kValue, kAll, kYes, "time", Turned<kTime, SlurmTimeLimit>, "", "TIMELIMIT"},
    {"time-min", 0, kValue, kAll, kYes, "time-min", Turned<kTimeMin, SlurmTimeLimit>,
     "Invalid --time-min specification"},
    {"tmp", 0, kValue, kAll, kYes, "tmp", Turned<kTmp, SlurmSize>},
    {"treewidth", 0, kValue, kSrun, kNote},
    {"tres-bind", 0, kValue, kAll, kYes, "gpu-bind", TresBind, "Invalid --tres-bind argument: %s",
     "TRES_BIND"},
    {"tres-per-task", 0, kValue, kAll, kYes, "", TresPerTask,
     "Invalid --tres-per-task argument: %s", "TRES_PER_TASK"},
    {"uid", 0, kValue, kAll, kNo, "", nullptr, "--uid only permitted by root user"},
    {"unbuffered", 'u', kFlag, kSrun, kYes},
    {"use-min-nodes", 0, kFlag, kAll, kNote, "", nullptr, "", "USE_MIN_NODES"},
    {"verbose", 'v', kFlag, kAll, kYes},
    {"wait", 'W', kFlag, kSbatch, kYes, "wait", nullptr, "", "WAIT"},
    {"wait", 'W', kValue, kSrun, kYes, "wait", nullptr, kNumber},
    {"wait-all-nodes", 0, kValue, kJobs, kNote, "", nullptr, "", "WAIT_ALL_NODES"},
    {"wait-for-children", 0, kFlag, kSrun, kNote},
    {"wckey", 0, kValue, kAll, kNote, "", nullptr, "", "WCKEY"},
    {"wrap", 0, kValue, kSbatch, kYes, "wrap"},
    {"x11", 0, kMaybe, kSrun | kSalloc, kNo, "", nullptr, kDisabled},
};

}  // namespace

std::span<const SlurmOption> AllSlurmOptions() {
  return kOptions;
}

const SlurmOption* FindSlurmOption(std::string_view name, unsigned commands) {
  const SlurmOption* found = nullptr;
  bool alone = true;
  for (const SlurmOption& option : kOptions) {
    const std::string_view own = option.name;
    if ((option.commands & commands) == 0 || name.empty() || own.substr(0, name.size()) != name) {
      continue;
    }
    if (own == name) {
      return &option;
    }
    alone = found == nullptr;
    found = &option;
  }
  return alone ? found : nullptr;
}

const SlurmOption* FindSlurmOption(char letter, unsigned commands) {
  const auto* found =
      std::find_if(std::begin(kOptions), std::end(kOptions), [&](const SlurmOption& option) {
        return letter != '\0' && option.letter == letter && (option.commands & commands) != 0;
      });
  return found == std::end(kOptions) ? nullptr : found;
}

absl::StatusOr<std::vector<OwnOption>> Translate(const SlurmOption& option, bool has_value,
                                                 const std::string& value) {
  if (option.fate == SlurmFate::kRefused) {
    return absl::UnimplementedError(absl::StrCat("is not done here: leave it out"));
  }
  if (option.fate == SlurmFate::kRecorded) {
    return Own{{"recorded", has_value ? absl::StrCat(option.name, "=", value) : option.name}};
  }
  if (option.translate != nullptr) {
    return option.translate(value);
  }
  return *option.as == '\0' ? Own{} : Own{{option.as, value}};
}

std::string SlurmComplaint(const SlurmOption& option, const std::string& value) {
  const std::string form =
      *option.complaint == '\0' ? "Invalid --NAME specification" : option.complaint;
  return absl::StrReplaceAll(form, {{"NAME", option.name}, {"%s", value}});
}

}  // namespace muster::cli
