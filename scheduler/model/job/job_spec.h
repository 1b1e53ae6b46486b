#pragma once

// What a user asked for: the scheduling part (JobSpec) and the part that only the node needs
// (Program).
//
// Thread promise: plain values; a JobSpec is shared immutably by all elements of an array.
// Invariants: a spec that passed validate has tasks >= 1, cpus_per_task >= 1, min_nodes >= 1
// and max_nodes >= min_nodes.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/model/job/container.h"
#include "scheduler/model/job/dependency.h"
#include "scheduler/model/job/feature_expression.h"
#include "scheduler/model/job/license.h"
#include "scheduler/model/job/rank_layout.h"
#include "scheduler/model/value/fields.h"
#include "scheduler/model/value/gres.h"
#include "scheduler/model/value/time.h"
#include "scheduler/model/value/units.h"

namespace muster {

enum class JobKind : std::uint8_t {
  kBatch = 0,  // a script, run once on the first node of its allocation
  kRun = 1,    // `muster run` outside an allocation: the ranks of one step
};

// Who submitted, as the transport says (never as a message field says).
struct User {
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::string name;
  static constexpr auto Fields(auto list) {
    return list(Field{"uid", &User::uid}, Field{"gid", &User::gid}, Field{"name", &User::name});
  }
  friend bool operator==(const User&, const User&) = default;
};

struct GpuRequest {
  std::string type;  // part of the model's name, any case; empty for any
  std::uint32_t count = 0;
  Bytes memory = {};  // that each has, as it is sold; zero: any
  static constexpr auto Fields(auto list) {
    return list(Field{"type", &GpuRequest::type}, Field{"count", &GpuRequest::count},
                Field{"memory", &GpuRequest::memory});
  }
  friend bool operator==(const GpuRequest&, const GpuRequest&) = default;
};

// The resources of a job. Zero means "not said"; validate fills in what follows from the rest.
struct ResourceRequest {
  std::uint32_t min_nodes = 0;
  std::uint32_t max_nodes = 0;
  std::uint32_t tasks = 0;
  std::uint32_t tasks_per_node = 0;
  std::uint32_t cpus_per_task = 1;  // hardware threads; a task gets whole cores of its own
  Bytes memory_per_node;
  Bytes memory_per_cpu;
  GpuRequest gpus;  // over the whole job
  GpuRequest gpus_per_node;
  GpuRequest gpus_per_task;
  bool exclusive = false;             // whole nodes
  bool overcommit = false;            // tasks share the hardware threads of one task on each node
  Constraint constraint;              // --constraint
  std::vector<std::string> nodelist;  // these nodes, and others only where more are needed
  std::vector<std::string> exclude;   // none of these
  // --nodes=MIN-MAX without --ntasks: on as many nodes as can be had, with MIN's share on each.
  bool as_wide_as_fits = false;
  std::uint32_t switches = 0;  // on at most that many leaf switches
  Duration switches_wait{0};   // for so long; then on as many as there are
  std::uint32_t segment = 0;   // groups of that many nodes, each on one leaf switch or in one block
  std::optional<RankLayout> layout = {};
  GpuShare gpu_share = {};  // of each GPU that it asks for; zero: whole GPUs
  // In the place of gpu_share: the memory that the share has. Zero in every job that was accepted.
  Bytes gpu_share_memory = {};
  // GPUs were asked for by the task: each sees its own and no others, unless --gpu-bind says more.
  bool own_gpus = false;
  // What each of its nodes has at the least, of which the job need not have all.
  std::uint32_t sockets_per_node = 0;
  std::uint32_t min_cpus = 0;   // hardware threads
  Bytes tmp;                    // the file system of /tmp, in all
  GresList gres = {};           // countable things that it holds on each of its nodes
  bool exclusive_user = false;  // its nodes have jobs of its user alone
  bool gpu_occupied = false;    // GPUs that others use outside of jobs will do
  static constexpr auto Fields(auto list) {
    return list(
        Field{"min_nodes", &ResourceRequest::min_nodes},
        Field{"max_nodes", &ResourceRequest::max_nodes}, Field{"tasks", &ResourceRequest::tasks},
        Field{"tasks_per_node", &ResourceRequest::tasks_per_node},
        Field{"cpus_per_task", &ResourceRequest::cpus_per_task},
        Field{"memory_per_node", &ResourceRequest::memory_per_node},
        Field{"memory_per_cpu", &ResourceRequest::memory_per_cpu},
        Field{"gpus", &ResourceRequest::gpus},
        Field{"gpus_per_node", &ResourceRequest::gpus_per_node},
        Field{"gpus_per_task", &ResourceRequest::gpus_per_task},
        Field{"exclusive", &ResourceRequest::exclusive},
        Field{"overcommit", &ResourceRequest::overcommit},
        Field{"constraint", &ResourceRequest::constraint},
        Field{"nodelist", &ResourceRequest::nodelist}, Field{"exclude", &ResourceRequest::exclude},
        Field{"as_wide_as_fits", &ResourceRequest::as_wide_as_fits},
        Field{"switches", &ResourceRequest::switches},
        Field{"switches_wait", &ResourceRequest::switches_wait},
        Field{"segment", &ResourceRequest::segment}, Field{"layout", &ResourceRequest::layout},
        Field{"gpu_share", &ResourceRequest::gpu_share},
        Field{"gpu_share_memory", &ResourceRequest::gpu_share_memory},
        Field{"own_gpus", &ResourceRequest::own_gpus},
        Field{"sockets_per_node", &ResourceRequest::sockets_per_node},
        Field{"min_cpus", &ResourceRequest::min_cpus}, Field{"tmp", &ResourceRequest::tmp},
        Field{"gres", &ResourceRequest::gres},
        Field{"exclusive_user", &ResourceRequest::exclusive_user},
        Field{"gpu_occupied", &ResourceRequest::gpu_occupied});
  }
  friend bool operator==(const ResourceRequest&, const ResourceRequest&) = default;
};

// A run of array indices: first, first+step, …, up to last.
struct ArrayRange {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  std::uint32_t step = 1;
  static constexpr auto Fields(auto list) {
    return list(Field{"first", &ArrayRange::first}, Field{"last", &ArrayRange::last},
                Field{"step", &ArrayRange::step});
  }
  friend bool operator==(const ArrayRange&, const ArrayRange&) = default;
};

struct ArraySpec {
  std::vector<ArrayRange> ranges;
  std::uint32_t max_running = 0;  // the "%N" throttle; 0 for none
  static constexpr auto Fields(auto list) {
    return list(Field{"ranges", &ArraySpec::ranges}, Field{"max_running", &ArraySpec::max_running});
  }
  friend bool operator==(const ArraySpec&, const ArraySpec&) = default;
};

// An answer that may be left to the configuration.
enum class Choice : std::uint8_t {
  kUnsaid = 0,
  kYes = 1,
  kNo = 2,
};

// What --requeue takes for "checkpointed, run me again", as HTCondor does; and a code that no
// script has.
inline constexpr std::uint32_t kRequeueExit = 85;
inline constexpr std::uint32_t kNoRequeueExit = 256;

// One of several requests of which the job takes whichever starts first (--alt).
struct Alternative {
  ResourceRequest request;
  Duration time_limit{0};
  static constexpr auto Fields(auto list) {
    return list(Field{"request", &Alternative::request},
                Field{"time_limit", &Alternative::time_limit});
  }
  friend bool operator==(const Alternative&, const Alternative&) = default;
};

// --signal: what a job's processes are sent before its time limit ends them.
struct WarningSignal {
  std::uint32_t signal = 0;  // 0: none
  Duration before{0};        // of the end
  bool automatic = false;    // as long before as its checkpoints were measured to take
  bool batch = false;        // to the batch script alone; otherwise to the ranks of its steps
  static constexpr auto Fields(auto list) {
    return list(Field{"signal", &WarningSignal::signal}, Field{"before", &WarningSignal::before},
                Field{"automatic", &WarningSignal::automatic},
                Field{"batch", &WarningSignal::batch});
  }
  friend bool operator==(const WarningSignal&, const WarningSignal&) = default;
};

// Who writes a job's checkpoints.
enum class CheckpointMeans : std::uint8_t {
  kProgram = 0,  // its programs, if they do
  kCriu = 1,     // the supervisor, of its processes as they are
};

// A path of a job's program that was changed while the job waited.
struct ChangedPath {
  std::string option;  // that gives it at submission: "output", "error", "input", "chdir"
  std::string path;
  static constexpr auto Fields(auto list) {
    return list(Field{"option", &ChangedPath::option}, Field{"path", &ChangedPath::path});
  }
  friend bool operator==(const ChangedPath&, const ChangedPath&) = default;
};

struct JobSpec {
  JobKind kind = JobKind::kBatch;
  std::string name;
  User user;
  std::string account;
  std::string comment;
  ResourceRequest request;
  Duration time_limit{0};  // 0: the configured default
  Duration kill_grace{0};  // between SIGTERM and SIGKILL; 0: the configured default
  std::int32_t nice = 0;   // lowers the priority
  bool held = false;       // submitted with --hold
  Time begin = kNoTime;    // not before
  std::optional<ArraySpec> array;
  Dependency dependency;
  Choice kill_on_invalid_dep = Choice::kUnsaid;  // cancel it once the dependency never can be met
  Time deadline = kNoTime;                       // never runs past it
  Choice requeue = Choice::kUnsaid;  // kYes: also when a node fails; kNo: not even when asked
  // A batch script that ends with this code has kept its work and runs again; 0: none does.
  std::uint32_t requeue_exit = 0;
  std::vector<LicenseCount> licenses;
  std::string partition;    // names in order of preference, "a,b"; empty: the implied one
  std::string qos;          // empty: the implied one
  std::string reservation;  // empty: none
  // In order of preference, the request and time limit that the job was submitted with first; empty
  // when there are no others. Once it runs, `request` and `time_limit` are those that it got.
  std::vector<Alternative> alternatives;
  bool no_kill = false;  // goes on when a node of it fails, but for the first
  // Its number of nodes may change, within those that it asked for, at a checkpoint.
  bool elastic = false;
  CheckpointMeans checkpoint_with = CheckpointMeans::kProgram;
  Duration replace_wait{0};      // elastic: so long it waits for another node in a lost one's place
  Duration progress_timeout{0};  // it is ended when it shows no progress for so long; 0: never
  WarningSignal warning;
  std::vector<std::string> recorded;  // options without effect: NAME or NAME=VALUE, as given
  Duration time_min{0};  // it may start with a shorter limit, but with no less than this; 0: none
  Constraint prefer;     // --prefer: features that its nodes have where that delays nothing
  std::uint32_t priority = 0;           // as an operator fixed it; 0: it is reckoned
  std::vector<ChangedPath> paths = {};  // in the place of its program's; each option once
  ContainerSpec container = {};         // its script runs in, and steps that name none
  // When it runs again: a Recurrence of base/text, "FIELDS;ZONE"; empty: it runs once.
  std::string every = {};
  std::vector<std::string> record = {};  // what it was made of: "git.commit=…", each name once
  // Files, directories and REMOTE:PATHs of which each of its nodes has a copy when it starts.
  std::vector<std::string> node_data = {};
  static constexpr auto Fields(auto list) {
    return list(
        Field{"kind", &JobSpec::kind}, Field{"name", &JobSpec::name}, Field{"user", &JobSpec::user},
        Field{"account", &JobSpec::account}, Field{"comment", &JobSpec::comment},
        Field{"request", &JobSpec::request}, Field{"time_limit", &JobSpec::time_limit},
        Field{"kill_grace", &JobSpec::kill_grace}, Field{"nice", &JobSpec::nice},
        Field{"held", &JobSpec::held}, Field{"begin", &JobSpec::begin},
        Field{"array", &JobSpec::array}, Field{"dependency", &JobSpec::dependency},
        Field{"kill_on_invalid_dep", &JobSpec::kill_on_invalid_dep},
        Field{"deadline", &JobSpec::deadline}, Field{"requeue", &JobSpec::requeue},
        Field{"requeue_exit", &JobSpec::requeue_exit}, Field{"licenses", &JobSpec::licenses},
        Field{"partition", &JobSpec::partition}, Field{"qos", &JobSpec::qos},
        Field{"reservation", &JobSpec::reservation}, Field{"alternatives", &JobSpec::alternatives},
        Field{"no_kill", &JobSpec::no_kill}, Field{"elastic", &JobSpec::elastic},
        Field{"replace_wait", &JobSpec::replace_wait},
        Field{"progress_timeout", &JobSpec::progress_timeout}, Field{"warning", &JobSpec::warning},
        Field{"checkpoint_with", &JobSpec::checkpoint_with}, Field{"recorded", &JobSpec::recorded},
        Field{"time_min", &JobSpec::time_min}, Field{"prefer", &JobSpec::prefer},
        Field{"priority", &JobSpec::priority}, Field{"paths", &JobSpec::paths},
        Field{"container", &JobSpec::container}, Field{"every", &JobSpec::every},
        Field{"record", &JobSpec::record}, Field{"node_data", &JobSpec::node_data});
  }
  friend bool operator==(const JobSpec&, const JobSpec&) = default;
};

// Where a step's output goes while a client watches: the address at which `muster run` listens.
struct StepIo {
  std::string address;  // "unix:PATH" or "HOST:PORT"; empty: files only
  std::string token;    // 32 hex digits that the supervisor must show
  static constexpr auto Fields(auto list) {
    return list(Field{"address", &StepIo::address}, Field{"token", &StepIo::token});
  }
  friend bool operator==(const StepIo&, const StepIo&) = default;
};

enum class MpiFlavour : std::uint8_t {
  kAuto = 0,  // PMIx when the step has more than one rank
  kNone = 1,
  kPmix = 2,
  kPmi1 = 3,  // MPICH's wire protocol
};

// The size of a terminal, in characters; zero rows: there is no terminal.
struct TerminalSize {
  std::uint32_t rows = 0;
  std::uint32_t columns = 0;
  static constexpr auto Fields(auto list) {
    return list(Field{"rows", &TerminalSize::rows}, Field{"columns", &TerminalSize::columns});
  }
  friend bool operator==(const TerminalSize&, const TerminalSize&) = default;
};

// A resource limit of the submitter's processes (getrlimit) that the job's have too.
struct ProcessLimit {
  std::string name;          // as in <sys/resource.h>, without RLIMIT_: "NOFILE"
  std::uint64_t amount = 0;  // the soft limit; UINT64_MAX: none
  static constexpr auto Fields(auto list) {
    return list(Field{"name", &ProcessLimit::name}, Field{"amount", &ProcessLimit::amount});
  }
  friend bool operator==(const ProcessLimit&, const ProcessLimit&) = default;
};

// A copy that is made for a job: before its start, or after its end.
struct StagePair {
  std::string from;
  std::string to;
  static constexpr auto Fields(auto list) {
    return list(Field{"from", &StagePair::from}, Field{"to", &StagePair::to});
  }
  friend bool operator==(const StagePair&, const StagePair&) = default;
};

// What runs, and in which environment. Kept in the store and sent to the nodes; never in the
// scheduler's memory.
struct Program {
  std::string script;                    // batch: the script's text, beginning with "#!"
  std::vector<std::string> argv;         // batch: the script's arguments; otherwise the command
  std::vector<std::string> environment;  // "NAME=value", the submitter's as --export chose it
  std::string work_dir;
  std::string
      stdin_path;  // patterns; empty: /dev/null; with `io`: the ranks that have the client's input
  std::string stdout_path;     // empty: muster-%j.out (arrays: muster-%A_%a.out)
  std::string stderr_path;     // empty: where stdout goes
  bool append_output = false;  // --open-mode=append
  std::uint32_t umask = 022;
  StepIo io;  // kind kRun, and a script that holds an allocation
  MpiFlavour mpi = MpiFlavour::kAuto;
  TerminalSize terminal;      // of rank 0 (--pty)
  std::string progress_path;  // pattern: the file whose change is progress; empty: the job's own
  std::vector<ProcessLimit> limits = {};  // --propagate
  ContainerSpec container = {};           // of a step; without one it has the job's
  // Which copies it was submitted with, for who submits it again: jobs of their own make them.
  std::vector<StagePair> stage_in = {};
  std::vector<StagePair> stage_out = {};
  static constexpr auto Fields(auto list) {
    return list(
        Field{"script", &Program::script}, Field{"argv", &Program::argv},
        Field{"environment", &Program::environment}, Field{"work_dir", &Program::work_dir},
        Field{"stdin_path", &Program::stdin_path}, Field{"stdout_path", &Program::stdout_path},
        Field{"stderr_path", &Program::stderr_path},
        Field{"append_output", &Program::append_output}, Field{"umask", &Program::umask},
        Field{"io", &Program::io}, Field{"mpi", &Program::mpi},
        Field{"terminal", &Program::terminal}, Field{"progress_path", &Program::progress_path},
        Field{"limits", &Program::limits}, Field{"container", &Program::container},
        Field{"stage_in", &Program::stage_in}, Field{"stage_out", &Program::stage_out});
  }
  friend bool operator==(const Program&, const Program&) = default;
};

// A further component of a heterogeneous job: what followed a ":" of its submission.
struct Component {
  JobSpec spec;
  Program program;
  static constexpr auto Fields(auto list) {
    return list(Field{"spec", &Component::spec}, Field{"program", &Component::program});
  }
  friend bool operator==(const Component&, const Component&) = default;
};

// What `muster run` inside an allocation asks for. Its CPUs and GPUs are no other step's while it
// runs; where others have them, it waits.
struct StepSpec {
  std::uint32_t tasks = 0;          // 0: as many as the job
  std::uint32_t cpus_per_task = 0;  // 0: as the job
  std::uint32_t nodes = 0;          // 0: all that the tasks need
  bool overcommit = false;          // ranks may share hardware threads
  std::optional<RankLayout> layout = {};
  // Neither given: as many as each of the job's tasks has, else all of the job's on its nodes.
  GpuRequest gpus = {};  // over the whole step
  GpuRequest gpus_per_task = {};
  Bytes memory_per_node = {};              // zero: it shares the job's
  bool overlap = false;                    // shares what other steps have
  bool immediate = false;                  // refused where it would have to wait
  bool no_gpus = false;                    // leaves them to other steps
  std::vector<std::string> nodelist = {};  // on these nodes alone; empty: on any of the job's
  std::string name = {};                   // empty: the command's
  static constexpr auto Fields(auto list) {
    return list(Field{"tasks", &StepSpec::tasks}, Field{"cpus_per_task", &StepSpec::cpus_per_task},
                Field{"nodes", &StepSpec::nodes}, Field{"overcommit", &StepSpec::overcommit},
                Field{"layout", &StepSpec::layout}, Field{"gpus", &StepSpec::gpus},
                Field{"gpus_per_task", &StepSpec::gpus_per_task},
                Field{"memory_per_node", &StepSpec::memory_per_node},
                Field{"overlap", &StepSpec::overlap}, Field{"immediate", &StepSpec::immediate},
                Field{"no_gpus", &StepSpec::no_gpus}, Field{"nodelist", &StepSpec::nodelist},
                Field{"name", &StepSpec::name});
  }
  friend bool operator==(const StepSpec&, const StepSpec&) = default;
};

}  // namespace muster
