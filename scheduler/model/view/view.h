#pragma once

// Views: what the reading verbs show, as values with the field names of the command line's JSON.
//
// Made by the controller from its state or its accounting, rendered by the cli as tables or JSON.
// Names are a contract: further ones may be added, none renamed.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/model/job/checkpoint_record.h"
#include "scheduler/model/job/exit_status.h"
#include "scheduler/model/job/job.h"
#include "scheduler/model/job/job_spec.h"
#include "scheduler/model/machine/allocation.h"
#include "scheduler/model/machine/gpu_occupant.h"
#include "scheduler/model/machine/gpu_work.h"
#include "scheduler/model/machine/machine.h"
#include "scheduler/model/plan/explanation.h"
#include "scheduler/model/policy/decayed_usage.h"
#include "scheduler/model/value/fields.h"
#include "scheduler/model/value/ids.h"
#include "scheduler/model/value/time.h"
#include "scheduler/model/value/units.h"
#include "scheduler/model/view/stragglers.h"

namespace muster {

struct ReasonView {
  std::string kind;  // Slurm's name
  std::string text;  // the sentence with the numbers
  bool never = false;
  static constexpr auto Fields(auto list) {
    return list(Field{"kind", &ReasonView::kind}, Field{"text", &ReasonView::text},
                Field{"never", &ReasonView::never});
  }
  friend bool operator==(const ReasonView&, const ReasonView&) = default;
};

// What is wrong with a job, a node or the controller as it runs, by a rule of alerts. It is seen
// and forgotten: nothing of it is in the journal.
struct Warning {
  std::string rule;      // "GpuIdle"
  std::string text;      // one sentence with the numbers
  Time since = kNoTime;  // since when it is so
  static constexpr auto Fields(auto list) {
    return list(Field{"rule", &Warning::rule}, Field{"text", &Warning::text},
                Field{"since", &Warning::since});
  }
  friend bool operator==(const Warning&, const Warning&) = default;
};

// What an attempt held and used, and when: reports are made of it.
struct AttemptUse {
  Time start_time = kNoTime;
  Time end_time = kNoTime;  // kNoTime: it runs
  Duration suspended{0};    // of its time
  std::uint32_t cpus = 0;
  Bytes memory;
  std::uint32_t gpus = 0;
  std::uint32_t node_count = 0;
  BillingRate billing;  // for each second
  Usage usage;
  Cost cost;  // by the prices when it began; 0: nothing has a price
  static constexpr auto Fields(auto list) {
    return list(
        Field{"start_time", &AttemptUse::start_time}, Field{"end_time", &AttemptUse::end_time},
        Field{"suspended", &AttemptUse::suspended}, Field{"cpus", &AttemptUse::cpus},
        Field{"memory", &AttemptUse::memory}, Field{"gpus", &AttemptUse::gpus},
        Field{"node_count", &AttemptUse::node_count}, Field{"billing", &AttemptUse::billing},
        Field{"usage", &AttemptUse::usage}, Field{"cost", &AttemptUse::cost});
  }
  friend bool operator==(const AttemptUse&, const AttemptUse&) = default;
};

// A job in one line: queue and history.
struct JobView {
  JobId id;
  std::string label;  // "7", "7_3" for element 3 of array 7, "7+1" for component 1 of job 7
  JobId array_job_id;
  std::string array_task_id;
  std::string name;
  std::string user;
  std::string account;
  std::string state;
  ReasonView reason;
  std::vector<std::string> nodes;
  std::uint32_t tasks = 0;
  std::uint32_t cpus = 0;  // allocated, or asked while it waits
  Bytes memory;
  std::uint32_t gpus = 0;
  std::uint32_t restarts = 0;
  Time submit_time = kNoTime;
  Time start_time = kNoTime;
  Time expected_start = kNoTime;  // of a waiting job, as the last plan says, if it does
  Time end_time = kNoTime;
  Duration time_limit{0};
  std::int32_t exit_code = 0;
  std::int32_t exit_signal = 0;
  std::string exit_text;
  std::string binding;  // "verified 2/2", "rank 1 differs: …", "not enforced (…)"
  Usage usage;
  std::string dependency;  // as submitted; the reason says what of it is open
  std::string licenses;    // "ansys:2,matlab:1"
  Time begin_time = kNoTime;
  Time deadline = kNoTime;
  std::int32_t nice = 0;
  std::string comment;
  std::string partition;  // where it runs, or those it named
  std::string qos;
  std::string reservation;
  std::uint32_t priority = 0;       // of a waiting job at the last cycle; 0: not reckoned
  std::vector<ArrayRange> indices;  // of the waiting elements that it stands for; empty: one job
  Time suspended_since = kNoTime;
  Duration suspended{0};  // in all; while it is suspended: before that
  JobId het_job;          // of a component: its heterogeneous job, the leader's id
  std::uint32_t het_offset = 0;
  std::uint32_t het_size = 0;    // 0: it is a plain job
  std::string alert;             // what the watchdog says of it; empty: nothing
  CheckpointTotals checkpoints;  // of all its attempts, the one under way included
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::uint32_t node_count = 0;  // allocated, or asked at least while it waits
  std::uint32_t cpus_per_task = 0;
  Bytes memory_per_node;  // as asked, or as it follows from the defaults
  Bytes memory_per_cpu;
  std::uint32_t array_throttle = 0;  // how many elements may run at once; 0: all
  std::vector<Warning> warnings;     // of a job that runs; for those who may see the job
  Cost cost;                         // of all its attempts
  std::string currency;              // empty: nothing has a price, or the cost was not asked for
  std::vector<AttemptUse> attempts;  // only in the reply to ListUse
  // It stands for that many single jobs that wait alike, their ids in a row from `id` on; 0: for
  // itself. What differs between them (label, submit_time, expected_start, how many are ahead) is
  // the first one's.
  std::uint32_t alike = 0;
  static constexpr auto Fields(auto list) {
    return list(
        Field{"id", &JobView::id}, Field{"label", &JobView::label},
        Field{"array_job_id", &JobView::array_job_id},
        Field{"array_task_id", &JobView::array_task_id}, Field{"name", &JobView::name},
        Field{"user", &JobView::user}, Field{"account", &JobView::account},
        Field{"state", &JobView::state}, Field{"reason", &JobView::reason},
        Field{"nodes", &JobView::nodes}, Field{"tasks", &JobView::tasks},
        Field{"cpus", &JobView::cpus}, Field{"memory", &JobView::memory},
        Field{"gpus", &JobView::gpus}, Field{"restarts", &JobView::restarts},
        Field{"submit_time", &JobView::submit_time}, Field{"start_time", &JobView::start_time},
        Field{"expected_start", &JobView::expected_start}, Field{"end_time", &JobView::end_time},
        Field{"time_limit", &JobView::time_limit}, Field{"exit_code", &JobView::exit_code},
        Field{"exit_signal", &JobView::exit_signal}, Field{"exit_text", &JobView::exit_text},
        Field{"binding", &JobView::binding}, Field{"usage", &JobView::usage},
        Field{"dependency", &JobView::dependency}, Field{"licenses", &JobView::licenses},
        Field{"begin_time", &JobView::begin_time}, Field{"deadline", &JobView::deadline},
        Field{"nice", &JobView::nice}, Field{"comment", &JobView::comment},
        Field{"partition", &JobView::partition}, Field{"qos", &JobView::qos},
        Field{"reservation", &JobView::reservation}, Field{"priority", &JobView::priority},
        Field{"indices", &JobView::indices}, Field{"suspended_since", &JobView::suspended_since},
        Field{"suspended", &JobView::suspended}, Field{"het_job", &JobView::het_job},
        Field{"het_offset", &JobView::het_offset}, Field{"het_size", &JobView::het_size},
        Field{"alert", &JobView::alert}, Field{"checkpoints", &JobView::checkpoints},
        Field{"uid", &JobView::uid}, Field{"gid", &JobView::gid},
        Field{"node_count", &JobView::node_count}, Field{"cpus_per_task", &JobView::cpus_per_task},
        Field{"memory_per_node", &JobView::memory_per_node},
        Field{"memory_per_cpu", &JobView::memory_per_cpu},
        Field{"array_throttle", &JobView::array_throttle}, Field{"warnings", &JobView::warnings},
        Field{"cost", &JobView::cost}, Field{"currency", &JobView::currency},
        Field{"attempts", &JobView::attempts}, Field{"alike", &JobView::alike});
  }
  friend bool operator==(const JobView&, const JobView&) = default;
};

// One rank: where it was planned and where it was found.
struct RankView {
  StepId step;
  std::uint32_t rank = 0;
  std::string node;
  std::string cpus;
  std::string mem_nodes;
  std::vector<std::string> gpus;
  std::string found_cpus;
  std::string found_mem_policy;
  std::vector<std::string> found_gpus;
  std::string verdict;
  std::string text;
  std::string nic;                        // empty: none
  std::optional<GpuRates> gpu_work = {};  // of its GPUs; nothing: they have no counters
  static constexpr auto Fields(auto list) {
    return list(Field{"step", &RankView::step}, Field{"rank", &RankView::rank},
                Field{"node", &RankView::node}, Field{"cpus", &RankView::cpus},
                Field{"mem_nodes", &RankView::mem_nodes}, Field{"gpus", &RankView::gpus},
                Field{"found_cpus", &RankView::found_cpus},
                Field{"found_mem_policy", &RankView::found_mem_policy},
                Field{"found_gpus", &RankView::found_gpus}, Field{"verdict", &RankView::verdict},
                Field{"text", &RankView::text}, Field{"nic", &RankView::nic},
                Field{"gpu_work", &RankView::gpu_work});
  }
  friend bool operator==(const RankView&, const RankView&) = default;
};

// One attempt, as the accounting keeps it.
struct AttemptView {
  AttemptNumber number;
  std::vector<std::string> nodes;
  Time start_time = kNoTime;
  Time end_time = kNoTime;
  std::uint32_t cpus = 0;
  Bytes memory;
  std::uint32_t gpus = 0;
  ExitStatus exit;
  std::string cause;
  std::string limits;
  Usage usage;
  std::vector<RankView> ranks;
  BillingRate billing;           // for each second
  Duration suspended{0};         // of its time, which is not charged
  CheckpointRecord checkpoints;  // of all its nodes together
  Duration lost{0};              // work that had to be done again
  std::string image = {};        // of its container, as its first node says
  std::string data = {};         // its copies of data: "found on n1, copied to n2 (4 GiB)"
  std::vector<Suspension> suspensions = {};  // the last kSuspensionsKept of them
  std::uint32_t rank_count = 0;              // of which `ranks` may be a page
  std::uint32_t ranks_differ = 0;            // of all, those that are not where they were planned
  std::vector<std::string> gpu_errors = {};  // that its ranks met: a sentence each
  static constexpr auto Fields(auto list) {
    return list(
        Field{"number", &AttemptView::number}, Field{"nodes", &AttemptView::nodes},
        Field{"start_time", &AttemptView::start_time}, Field{"end_time", &AttemptView::end_time},
        Field{"cpus", &AttemptView::cpus}, Field{"memory", &AttemptView::memory},
        Field{"gpus", &AttemptView::gpus}, Field{"exit", &AttemptView::exit},
        Field{"cause", &AttemptView::cause}, Field{"limits", &AttemptView::limits},
        Field{"usage", &AttemptView::usage}, Field{"ranks", &AttemptView::ranks},
        Field{"billing", &AttemptView::billing}, Field{"suspended", &AttemptView::suspended},
        Field{"checkpoints", &AttemptView::checkpoints}, Field{"lost", &AttemptView::lost},
        Field{"image", &AttemptView::image}, Field{"suspensions", &AttemptView::suspensions},
        Field{"rank_count", &AttemptView::rank_count},
        Field{"ranks_differ", &AttemptView::ranks_differ}, Field{"data", &AttemptView::data},
        Field{"gpu_errors", &AttemptView::gpu_errors});
  }
  friend bool operator==(const AttemptView&, const AttemptView&) = default;
};

// One step, as the accounting keeps it.
struct StepView {
  AttemptNumber attempt;
  StepId step;
  std::string name;
  std::string state;  // PENDING RUNNING COMPLETED FAILED CANCELLED
  std::string nodes;  // names, with commas
  std::uint32_t tasks = 0;
  std::uint32_t cpus = 0;
  std::uint32_t gpus = 0;
  Time queue_time = kNoTime;  // since when it waited, where it did
  Time start_time = kNoTime;
  Time end_time = kNoTime;
  ExitStatus exit;
  std::string text;  // whose exit that is: "rank 3 on n2"; or why it never started
  Usage usage;
  static constexpr auto Fields(auto list) {
    return list(Field{"attempt", &StepView::attempt}, Field{"step", &StepView::step},
                Field{"name", &StepView::name}, Field{"state", &StepView::state},
                Field{"nodes", &StepView::nodes}, Field{"tasks", &StepView::tasks},
                Field{"cpus", &StepView::cpus}, Field{"gpus", &StepView::gpus},
                Field{"queue_time", &StepView::queue_time},
                Field{"start_time", &StepView::start_time}, Field{"end_time", &StepView::end_time},
                Field{"exit", &StepView::exit}, Field{"text", &StepView::text},
                Field{"usage", &StepView::usage});
  }
  friend bool operator==(const StepView&, const StepView&) = default;
};

// What an attempt has used so far on one of its nodes.
struct NodeUsage {
  std::string node;
  Time time = kNoTime;  // when it was read
  Usage usage;
  static constexpr auto Fields(auto list) {
    return list(Field{"node", &NodeUsage::node}, Field{"time", &NodeUsage::time},
                Field{"usage", &NodeUsage::usage});
  }
  friend bool operator==(const NodeUsage&, const NodeUsage&) = default;
};

// What people said of a job by hand, whether or not it has ended: no part of what it asked for.
struct JobNote {
  std::string name;  // one of kJobNotes
  std::string text;
  std::string user = {};  // whose it is
  Time time = kNoTime;
  static constexpr auto Fields(auto list) {
    return list(Field{"name", &JobNote::name}, Field{"text", &JobNote::text},
                Field{"user", &JobNote::user}, Field{"time", &JobNote::time});
  }
  friend bool operator==(const JobNote&, const JobNote&) = default;
};
struct JobNoteKind {
  const char* name;
  bool operators_only;
};
inline constexpr JobNoteKind kJobNotes[] = {{"AdminComment", true},     {"Comment", false},
                                            {"DerivedExitCode", false}, {"Extra", false},
                                            {"SystemComment", true},    {"WCKey", false}};

// The container of a job.
struct ContainerView {
  std::string image;                     // as it was asked for
  std::string digest = {};               // that is pinned, or that ran
  std::vector<std::string> mounts = {};  // "SRC:DST:ro"
  std::string work_dir = {};
  std::string name = {};
  std::string save = {};
  bool writable = false;
  bool remap_root = false;
  static constexpr auto Fields(auto list) {
    return list(Field{"image", &ContainerView::image}, Field{"digest", &ContainerView::digest},
                Field{"mounts", &ContainerView::mounts},
                Field{"work_dir", &ContainerView::work_dir}, Field{"name", &ContainerView::name},
                Field{"save", &ContainerView::save}, Field{"writable", &ContainerView::writable},
                Field{"remap_root", &ContainerView::remap_root});
  }
  friend bool operator==(const ContainerView&, const ContainerView&) = default;
};

// A job in full: show.
struct JobDetail {
  JobView job;
  ResourceRequest request;
  std::string work_dir;
  std::string stdout_path;
  std::string stderr_path;
  std::vector<std::string> command;
  std::vector<AttemptView> attempts;
  std::string constraint;           // request.constraint as --constraint reads it
  PlacementQuality placement = {};  // of a running job
  std::vector<StepView> steps = {};
  std::vector<NodeUsage> live_usage = {};  // of a running job, where its nodes have reported it
  std::string checkpoint_interval = {};    // how often it is advised to checkpoint, and why
  std::string elastic = {};  // of an elastic job: its range, and why it grows or does not
  std::vector<std::string> recorded = {};  // options that were given and have no effect
  bool batch = false;                      // it runs a script
  bool requeue = false;                    // it may run again when a node of it fails, or by hand
  Duration time_min{0};                    // --time-min; 0: none
  std::string prefer = {};                 // --prefer
  std::string gres = {};                   // countable things on each of its nodes: "scratch:2"
  std::string submit_host = {};            // where it was submitted; as the submitter said
  std::string script = {};                 // only when asked for, and of the caller's own
  std::vector<JobNote> notes = {};
  std::optional<ContainerView> container = {};    // of its script, or of its ranks
  std::string every = {};                         // when it runs again; empty: it runs once
  std::vector<std::string> record = {};           // what it was made of: "git.commit=…"
  std::optional<StragglersView> stragglers = {};  // of a running job with ranks that have peers
  std::vector<std::string> node_data = {};        // of which each of its nodes has a copy
  static constexpr auto Fields(auto list) {
    return list(
        Field{"job", &JobDetail::job}, Field{"request", &JobDetail::request},
        Field{"work_dir", &JobDetail::work_dir}, Field{"stdout_path", &JobDetail::stdout_path},
        Field{"stderr_path", &JobDetail::stderr_path}, Field{"command", &JobDetail::command},
        Field{"attempts", &JobDetail::attempts}, Field{"constraint", &JobDetail::constraint},
        Field{"placement", &JobDetail::placement}, Field{"steps", &JobDetail::steps},
        Field{"live_usage", &JobDetail::live_usage},
        Field{"checkpoint_interval", &JobDetail::checkpoint_interval},
        Field{"elastic", &JobDetail::elastic}, Field{"recorded", &JobDetail::recorded},
        Field{"batch", &JobDetail::batch}, Field{"requeue", &JobDetail::requeue},
        Field{"time_min", &JobDetail::time_min}, Field{"prefer", &JobDetail::prefer},
        Field{"gres", &JobDetail::gres}, Field{"submit_host", &JobDetail::submit_host},
        Field{"script", &JobDetail::script}, Field{"notes", &JobDetail::notes},
        Field{"container", &JobDetail::container}, Field{"every", &JobDetail::every},
        Field{"record", &JobDetail::record}, Field{"stragglers", &JobDetail::stragglers},
        Field{"node_data", &JobDetail::node_data});
  }
  friend bool operator==(const JobDetail&, const JobDetail&) = default;
};

// Who holds hardware threads of a node.
struct HolderView {
  JobId job;
  std::string label;
  std::string user;
  std::string cpus;
  Bytes memory;
  std::vector<std::uint32_t> gpus;  // positions in Machine::gpus
  bool quarantined = false;
  std::vector<GpuGrant> gpu_shares = {};  // of each of `gpus`, in thousandths of it
  static constexpr auto Fields(auto list) {
    return list(Field{"job", &HolderView::job}, Field{"label", &HolderView::label},
                Field{"user", &HolderView::user}, Field{"cpus", &HolderView::cpus},
                Field{"memory", &HolderView::memory}, Field{"gpus", &HolderView::gpus},
                Field{"quarantined", &HolderView::quarantined},
                Field{"gpu_shares", &HolderView::gpu_shares});
  }
  friend bool operator==(const HolderView&, const HolderView&) = default;
};

// The largest jobs that would start now if they asked for GPUs of one model, and what is left.
struct LargestGpuJob {
  std::string model;
  std::uint32_t gpus = 0;       // that are up
  std::uint32_t free = 0;       // of which no job has a share
  std::uint32_t on_node = 0;    // a job on one node, its weakest link any
  std::uint32_t on_nvlink = 0;  // a job on one node whose GPUs are all joined by NVLink
  std::uint32_t on_leaf = 0;   // a job of equal parts below one leaf switch; 0: no network is known
  std::uint32_t anywhere = 0;  // a job of one GPU a task
  static constexpr auto Fields(auto list) {
    return list(Field{"model", &LargestGpuJob::model}, Field{"gpus", &LargestGpuJob::gpus},
                Field{"free", &LargestGpuJob::free}, Field{"on_node", &LargestGpuJob::on_node},
                Field{"on_nvlink", &LargestGpuJob::on_nvlink},
                Field{"on_leaf", &LargestGpuJob::on_leaf},
                Field{"anywhere", &LargestGpuJob::anywhere});
  }
  friend bool operator==(const LargestGpuJob&, const LargestGpuJob&) = default;
};

struct NodeView {
  NodeId id;
  std::string name;
  std::string hostname;
  std::string state;  // IDLE MIXED ALLOCATED DOWN, with "+DRAIN" or "+NARROW"
  std::string reason;
  std::uint32_t cores = 0;
  std::uint32_t cpus = 0;
  std::uint32_t cpus_taken = 0;
  Bytes memory;
  Bytes memory_taken;
  std::uint32_t gpus = 0;
  std::uint32_t gpus_taken = 0;
  std::string binding;  // "enforced", or "recorded, not enforced (why)"
  Machine machine;      // only when asked for
  std::vector<HolderView> holders;
  std::vector<std::string> features;
  std::uint32_t weight = 0;
  std::string limits;  // what holds jobs there, or "not enforced (why)"; empty: not known
  std::string health;  // "good", "slow: memory bandwidth", …; empty: never checked
  GresList gres = {};  // countable things
  GresList gres_taken = {};
  std::vector<Warning> warnings = {};
  // The switches above it, from the top; of a network without switches its block. Empty: not known.
  std::vector<std::string> topology = {};
  GpuOccupants gpu_occupants = {};          // who uses its GPUs outside of jobs
  std::vector<GpuLayout> gpu_layouts = {};  // GPUs that are divided for jobs
  static constexpr auto Fields(auto list) {
    return list(Field{"id", &NodeView::id}, Field{"name", &NodeView::name},
                Field{"hostname", &NodeView::hostname}, Field{"state", &NodeView::state},
                Field{"reason", &NodeView::reason}, Field{"cores", &NodeView::cores},
                Field{"cpus", &NodeView::cpus}, Field{"cpus_taken", &NodeView::cpus_taken},
                Field{"memory", &NodeView::memory}, Field{"memory_taken", &NodeView::memory_taken},
                Field{"gpus", &NodeView::gpus}, Field{"gpus_taken", &NodeView::gpus_taken},
                Field{"binding", &NodeView::binding}, Field{"machine", &NodeView::machine},
                Field{"holders", &NodeView::holders}, Field{"features", &NodeView::features},
                Field{"weight", &NodeView::weight}, Field{"limits", &NodeView::limits},
                Field{"health", &NodeView::health}, Field{"gres", &NodeView::gres},
                Field{"gres_taken", &NodeView::gres_taken}, Field{"warnings", &NodeView::warnings},
                Field{"topology", &NodeView::topology},
                Field{"gpu_occupants", &NodeView::gpu_occupants},
                Field{"gpu_layouts", &NodeView::gpu_layouts});
  }
  friend bool operator==(const NodeView&, const NodeView&) = default;
};

}  // namespace muster
