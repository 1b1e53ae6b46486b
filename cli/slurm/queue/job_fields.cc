#include "cli/slurm/queue/job_fields.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "cli/sheet/job_table.h"
#include "cli/slurm/format/cell.h"
#include "cli/slurm/format/job_words.h"
#include "cli/slurm/frame/people.h"
#include "scheduler/base/text/duration_text.h"
#include "scheduler/base/text/host_list.h"
#include "scheduler/base/text/size_text.h"
#include "scheduler/model/job/job_state.h"

namespace muster::cli::slurm {
namespace {

constexpr const char* kNone = "N/A";
constexpr const char* kNull = "(null)";

std::string OrNull(const std::string& text) {
  return text.empty() ? kNull : text;
}

// What the request says, where the controller told it.
std::string Asked(const JobRow& row, std::string (*text)(const ResourceRequest&)) {
  return row.detail == nullptr ? kNull : text(row.detail->request);
}

template <char Word>
std::string Always(const JobRow&, const JobScene&) {
  return std::string(1, Word);
}
std::string NotKnown(const JobRow&, const JobScene&) {
  return kNone;
}
std::string Null(const JobRow&, const JobScene&) {
  return kNull;
}
std::string Nothing(const JobRow&, const JobScene&) {
  return "";
}

std::string Id(const JobRow& row, const JobScene&) {
  return JobLabel(*row.job, row.elements);
}
std::string NumberOfJob(const JobRow& row, const JobScene&) {
  return absl::StrCat(row.job->id.value());
}
std::string ArrayId(const JobRow& row, const JobScene&) {
  return absl::StrCat(row.job->array_job_id.value());
}
std::string TaskId(const JobRow& row, const JobScene&) {
  return row.job->array_task_id.empty() ? kNone : TaskLabel(*row.job, row.elements);
}
std::string NameOfJob(const JobRow& row, const JobScene&) {
  return row.job->name;
}
std::string Comment(const JobRow& row, const JobScene&) {
  return OrNull(row.job->comment);
}
std::string Account(const JobRow& row, const JobScene&) {
  return OrNull(row.job->account);
}
std::string User(const JobRow& row, const JobScene&) {
  return row.job->user;
}
std::string Uid(const JobRow& row, const JobScene&) {
  return absl::StrCat(row.job->uid);
}
std::string Group(const JobRow& row, const JobScene&) {
  return GroupName(row.job->gid);
}
std::string Gid(const JobRow& row, const JobScene&) {
  return absl::StrCat(row.job->gid);
}
std::string Partition(const JobRow& row, const JobScene&) {
  return row.job->partition;
}
std::string Qos(const JobRow& row, const JobScene&) {
  return row.job->qos;
}
std::string Reservation(const JobRow& row, const JobScene&) {
  return OrNull(row.job->reservation);
}
std::string Licenses(const JobRow& row, const JobScene&) {
  return OrNull(row.job->licenses);
}
std::string State(const JobRow& row, const JobScene&) {
  return StateWord(*row.job);
}
std::string StateCompact(const JobRow& row, const JobScene&) {
  return StateLetters(*row.job);
}
std::string Reason(const JobRow& row, const JobScene&) {
  return ReasonWord(*row.job);
}
std::string Nodes(const JobRow& row, const JobScene&) {
  return CompressHostlist(row.job->nodes);
}
std::string NodesOrReason(const JobRow& row, const JobScene& scene) {
  const bool waits = Waits(*row.job) || row.job->nodes.empty();
  return waits || ReasonWord(*row.job) == "TimeLimit" ||
                 (IsTerminal(row.job->state) && ReasonWord(*row.job) != "None")
             ? absl::StrCat("(", ReasonWord(*row.job), ")")
             : Nodes(row, scene);
}
std::string FirstNode(const JobRow& row, const JobScene&) {
  return row.job->nodes.empty() ? "n/a" : row.job->nodes.front();
}
std::string NodeCount(const JobRow& row, const JobScene&) {
  return absl::StrCat(std::max(row.job->node_count, 1U));
}
std::string Cpus(const JobRow& row, const JobScene&) {
  return absl::StrCat(row.job->cpus);
}
std::string Tasks(const JobRow& row, const JobScene&) {
  return absl::StrCat(row.job->tasks);
}
std::string CpusPerTask(const JobRow& row, const JobScene&) {
  return absl::StrCat(std::max(row.job->cpus_per_task, 1U));
}
std::string MinMemory(const JobRow& row, const JobScene&) {
  const Bytes per_node = row.job->memory_per_node;
  return SlurmSizeText((per_node.value() > 0 ? per_node : row.job->memory_per_cpu).value());
}
std::string Dependency(const JobRow& row, const JobScene&) {
  return OrNull(row.job->dependency);
}
std::string Nice(const JobRow& row, const JobScene&) {
  return absl::StrCat(row.job->nice);
}
std::string Priority(const JobRow& row, const JobScene&) {
  return absl::StrCat(row.job->priority);
}
std::string PriorityShare(const JobRow& row, const JobScene&) {
  return absl::StrFormat("%.14f", static_cast<double>(row.job->priority) / 4294967295.0);
}
std::string Restarts(const JobRow& row, const JobScene&) {
  return absl::StrCat(row.job->restarts);
}
std::string ExitCodes(const JobRow& row, const JobScene&) {
  return ExitPair(row.job->exit_code, row.job->exit_signal);
}
std::string Limit(const JobRow& row, const JobScene&) {
  return ShortLimit(row.job->time_limit);
}
std::string Used(const JobRow& row, const JobScene& scene) {
  return ElapsedText(Elapsed(*row.job, scene.now));
}
std::string Left(const JobRow& row, const JobScene& scene) {
  if (!HasLimit(*row.job)) {
    return "UNLIMITED";
  }
  const Duration left = row.job->time_limit - Elapsed(*row.job, scene.now);
  return left.count() < 0 ? "INVALID" : ElapsedText(left);
}
std::string Submitted(const JobRow& row, const JobScene& scene) {
  return scene.clock.Text(row.job->submit_time, kNone);
}
std::string Eligible(const JobRow& row, const JobScene& scene) {
  return scene.clock.Text(std::max(row.job->submit_time, row.job->begin_time), kNone);
}
std::string Start(const JobRow& row, const JobScene& scene) {
  const JobView& job = *row.job;
  const Time start = HasStarted(job)                 ? job.start_time
                     : job.expected_start != kNoTime ? job.expected_start
                     : job.begin_time > scene.now    ? job.begin_time
                                                     : kNoTime;
  return scene.clock.Text(start, kNone);
}
std::string End(const JobRow& row, const JobScene& scene) {
  const JobView& job = *row.job;
  const bool foreseen = HasStarted(job) && HasLimit(job);
  const Time end = job.end_time != kNoTime ? job.end_time
                   : foreseen              ? job.start_time + job.time_limit + job.suspended
                                           : kNoTime;
  return scene.clock.Text(end, kNone);
}
std::string DeadlineOf(const JobRow& row, const JobScene& scene) {
  return scene.clock.Text(row.job->deadline, kNone);
}
std::string PendingTime(const JobRow& row, const JobScene& scene) {
  const Time until = HasStarted(*row.job) ? row.job->start_time : scene.now;
  return absl::StrCat((until - row.job->submit_time).count() / 1000);
}
std::string Allocated(const JobRow& row, const JobScene&) {
  const JobView& job = *row.job;
  return TresText(job.cpus, Waits(job) ? job.memory_per_node : job.memory,
                  std::max(job.node_count, 1U), job.gpus);
}
std::string Cluster(const JobRow&, const JobScene& scene) {
  return scene.cluster;
}
std::string Features(const JobRow& row, const JobScene&) {
  return row.detail == nullptr ? kNull : OrNull(row.detail->constraint);
}
std::string GresPerNode(const JobRow& row, const JobScene&) {
  const std::string gres = Asked(row, NodeGresText);
  return gres.empty() || gres == kNull ? kNone : gres;
}
std::string SubmitHost(const JobRow& row, const JobScene&) {
  return row.detail == nullptr ? kNull : OrNull(row.detail->submit_host);
}
std::string BatchFlag(const JobRow& row, const JobScene&) {
  return row.detail == nullptr ? kNone : row.detail->batch ? "1" : "0";
}
std::string MayRequeue(const JobRow& row, const JobScene&) {
  return row.detail == nullptr ? kNone : row.detail->requeue ? "1" : "0";
}
std::string MinTime(const JobRow& row, const JobScene&) {
  const bool said = row.detail != nullptr && row.detail->time_min > Duration(0);
  return said ? ShortLimit(row.detail->time_min) : kNone;
}
std::string MinTmpDisk(const JobRow& row, const JobScene&) {
  return row.detail == nullptr ? kNone : SlurmSizeText(row.detail->request.tmp.value());
}
std::string AskedSwitches(const JobRow& row, const JobScene&) {
  return row.detail == nullptr ? kNone : absl::StrCat(row.detail->request.switches);
}
std::string SwitchesWait(const JobRow& row, const JobScene&) {
  return row.detail == nullptr ? kNone
                               : absl::StrCat(row.detail->request.switches_wait.count() / 1000);
}
std::string MaxNodes(const JobRow& row, const JobScene&) {
  return row.detail == nullptr ? kNone : absl::StrCat(row.detail->request.max_nodes);
}
std::string TasksOnNode(const JobRow& row, const JobScene&) {
  const std::uint32_t tasks = row.detail == nullptr ? 0 : row.detail->request.tasks_per_node;
  return tasks == 0 ? kNone : absl::StrCat(tasks);
}
std::string HetJob(const JobRow& row, const JobScene&) {
  return row.job->het_size == 0 ? kNone : absl::StrCat(row.job->het_job.value());
}
std::string HetOffset(const JobRow& row, const JobScene&) {
  return row.job->het_size == 0 ? kNone : absl::StrCat(row.job->het_offset);
}
std::string GresPerJob(const JobRow& row, const JobScene&) {
  const std::string gres =
      Asked(row, [](const ResourceRequest& asked) { return GresText(asked.gpus); });
  return gres.empty() || gres == kNull ? kNone : gres;
}
std::string GresPerTask(const JobRow& row, const JobScene&) {
  const std::string gres =
      Asked(row, [](const ResourceRequest& asked) { return GresText(asked.gpus_per_task); });
  return gres.empty() || gres == kNull ? kNone : gres;
}
std::string ListedNodes(const JobRow& row, const JobScene&) {
  return Asked(row, [](const ResourceRequest& asked) { return CompressHostlist(asked.nodelist); });
}
std::string ExcludedNodes(const JobRow& row, const JobScene&) {
  return Asked(row, [](const ResourceRequest& asked) { return CompressHostlist(asked.exclude); });
}
std::string Sharing(const JobRow& row, const JobScene&) {
  return row.detail == nullptr ? "OK" : SharingWord(row.detail->request);
}
std::string WorkDir(const JobRow& row, const JobScene&) {
  return row.detail == nullptr ? "" : row.detail->work_dir;
}
std::string Output(const JobRow& row, const JobScene&) {
  return row.detail == nullptr ? "" : OutputFile(*row.detail);
}
std::string Errors(const JobRow& row, const JobScene&) {
  return row.detail == nullptr ? "" : ErrorFile(*row.detail);
}
std::string CommandOf(const JobRow& row, const JobScene&) {
  return row.detail == nullptr ? kNull : OrNull(absl::StrJoin(row.detail->command, " "));
}

// In the order of squeue's manual. NOLINTBEGIN(cppcoreguidelines-avoid-c-arrays)
constexpr JobField kFields[] = {
    {"Account", "ACCOUNT", 'a', "ACCOUNT", Account, false, true},
    {"AccrueTime", "ACCRUE_TIME", 0, "", Eligible},
    {"admin_comment", "ADMIN_COMMENT", 0, "", Null},
    {"AllocNodes", "ALLOC_NODES", 0, "", SubmitHost, true, true},
    {"AllocSID", "ALLOC_SID", 0, "", NotKnown},
    {"ArrayJobID", "ARRAY_JOB_ID", 'F', "ARRAY_JOB_ID", ArrayId},
    {"ArrayTaskID", "ARRAY_TASK_ID", 'K', "ARRAY_TASK_ID", TaskId},
    {"AssocID", "ASSOC_ID", 0, "", NotKnown},
    {"BatchFlag", "BATCH_FLAG", 0, "", BatchFlag, true},
    {"BatchHost", "EXEC_HOST", 'B', "EXEC_HOST", FirstNode},
    {"BoardsPerNode", "BOARDS_PER_NODE", 0, "", NotKnown},
    {"BurstBuffer", "BURST_BUFFER", 0, "", Null},
    {"BurstBufferState", "BURST_BUFFER_STATE", 0, "", Null},
    {"Cluster", "CLUSTER", 0, "", Cluster},
    {"ClusterFeature", "CLUSTER_FEATURES", 0, "", Null},
    {"Command", "COMMAND", 'o', "COMMAND", CommandOf, true, true},
    {"Comment", "COMMENT", 'k', "COMMENT", Comment, false, true},
    {"Contiguous", "CONTIGUOUS", 'O', "CONTIGUOUS", Always<'0'>},
    {"Container", "CONTAINER", 0, "", Null},
    {"Cores", "CORES_PER_SOCKET", 'I', "CORES_PER_SOCKET", Always<'*'>},
    {"CoreSpec", "CORE_SPEC", 'X', "CORE_SPEC", NotKnown},
    {"cpus-per-task", "CPUS_PER_TASK", 0, "", CpusPerTask},
    {"cpus-per-tres", "CPUS_PER_TRES", 0, "", NotKnown},
    {"Deadline", "DEADLINE", 0, "", DeadlineOf},
    {"DelayBoot", "DELAY_BOOT", 0, "", Nothing},
    {"Dependency", "DEPENDENCY", 'E', "DEPENDENCY", Dependency},
    {"DerivedEC", "DERIVED_EC", 0, "", Always<'0'>},
    {"EligibleTime", "ELIGIBLE_TIME", 0, "", Eligible},
    {"EndTime", "END_TIME", 'e', "END_TIME", End},
    {"ExcNodes", "EXC_NODES", 'x', "EXC_NODES", ExcludedNodes, true},
    {"exit_code", "EXIT_CODE", 0, "", ExitCodes},
    {"Feature", "FEATURES", 'f', "FEATURES", Features, true},
    {"GroupID", "GROUP", 'G', "GROUP", Gid},
    {"GroupName", "GROUP", 'g', "GROUP", Group},
    {"HetJobID", "HET_JOB_ID", 0, "", HetJob},
    {"HetJobIDSet", "HET_JOB_ID_SET", 0, "", NotKnown},
    {"HetJobOffset", "HET_JOB_OFFSET", 0, "", HetOffset},
    {"JobArrayID", "JOBID", 'i', "JOBID", Id},
    {"JobID", "JOBID", 'A', "JOBID", NumberOfJob},
    {"LastSchedEval", "LAST_SCHED_EVAL", 0, "", NotKnown},
    {"Licenses", "LICENSES", 'W', "LICENSES", Licenses},
    {"MaxCPUs", "MAX_CPUS", 0, "", NotKnown},
    {"MaxNodes", "MAX_NODES", 0, "", MaxNodes, true},
    {"MCSLabel", "MCSLABEL", 0, "", NotKnown},
    {"mem-per-tres", "MEM_PER_TRES", 0, "", NotKnown},
    {"MinCpus", "MIN_CPUS", 'c', "MIN_CPUS", CpusPerTask},
    {"MinMemory", "MIN_MEMORY", 'm', "MIN_MEMORY", MinMemory},
    {"MinTime", "TIME_MIN", 0, "", MinTime, true},
    {"MinTmpDisk", "MIN_TMP_DISK", 'd', "MIN_TMP_DISK", MinTmpDisk, true},
    {"Name", "NAME", 'j', "NAME", NameOfJob, false, true},
    {"Network", "NETWORK", 0, "", Null},
    {"Nice", "NICE", 'y', "NICE", Nice},
    {"NodeList", "NODELIST", 'N', "NODELIST", Nodes},
    {"NTPerBoard", "NTASKS_PER_BOARD", 0, "", NotKnown},
    {"NTPerCore", "NTASKS_PER_CORE", 0, "", NotKnown},
    {"NTPerNode", "NTASKS_PER_NODE", 0, "", TasksOnNode, true},
    {"NTPerSocket", "NTASKS_PER_SOCKET", 0, "", NotKnown},
    {"NumCPUs", "CPUS", 'C', "CPUS", Cpus},
    {"NumNodes", "NODES", 'D', "NODES", NodeCount},
    {"NumTasks", "TASKS", 0, "", Tasks},
    {"Origin", "ORIGIN", 0, "", NotKnown},
    {"OriginRaw", "ORIGIN_RAW", 0, "", NotKnown},
    {"OverSubscribe", "OVER_SUBSCRIBE", 'h', "OVER_SUBSCRIBE", Sharing, true},
    {"Partition", "PARTITION", 'P', "PARTITION", Partition},
    {"PendingTime", "PENDING_TIME", 0, "", PendingTime},
    {"PreemptTime", "PREEMPT_TIME", 0, "", NotKnown},
    {"Priority", "PRIORITY", 'p', "PRIORITY", PriorityShare},
    {"PriorityLong", "PRIORITY", 'Q', "PRIORITY", Priority},
    {"Profile", "PROFILE", 0, "", NotKnown},
    {"QOS", "QOS", 'q', "QOS", Qos},
    {"Reason", "REASON", 'r', "REASON", Reason},
    {"ReasonList", "NODELIST(REASON)", 'R', "NODELIST(REASON)", NodesOrReason},
    {"Reboot", "REBOOT", 0, "", Always<'0'>},
    {"ReqNodes", "REQ_NODES", 'n', "REQ_NODES", ListedNodes, true},
    {"ReqSwitch", "REQ_SWITCH", 0, "", AskedSwitches, true},
    {"Requeue", "REQUEUE", 0, "", MayRequeue, true},
    {"Reservation", "RESERVATION", 'v', "RESERVATION", Reservation},
    {"ResizeTime", "RESIZE_TIME", 0, "", NotKnown},
    {"RestartCnt", "RESTART_COUNT", 0, "", Restarts},
    {"SchedNodes", "SCHEDNODES", 'Y', "SCHEDNODES", Null},
    {"SCT", "S:C:T", 'z', "S:C:T",
     [](const JobRow&, const JobScene&) { return std::string("*:*:*"); }},
    {"SiblingsActive", "ACTIVE_SIBLINGS", 0, "", NotKnown},
    {"SiblingsActiveRaw", "ACTIVE_SIBLINGS_RAW", 0, "", NotKnown},
    {"SiblingsViable", "VIABLE_SIBLINGS", 0, "", NotKnown},
    {"SiblingsViableRaw", "VIABLE_SIBLINGS_RAW", 0, "", NotKnown},
    {"Sockets", "SOCKETS_PER_NODE", 'H', "SOCKETS_PER_NODE", Always<'*'>},
    {"SPerBoard", "SOCKETS_PER_BOARD", 0, "", NotKnown},
    {"StartTime", "START_TIME", 'S', "START_TIME", Start},
    {"State", "STATE", 'T', "STATE", State},
    {"StateCompact", "ST", 't', "ST", StateCompact},
    {"STDERR", "STDERR", 0, "", Errors, true, true},
    {"STDIN", "STDIN", 0, "", Nothing},
    {"STDOUT", "STDOUT", 0, "", Output, true, true},
    {"StepID", "STEPID", 0, "", NotKnown},
    {"StepName", "NAME", 0, "", NotKnown},
    {"StepState", "STATE", 0, "", NotKnown},
    {"SubmitTime", "SUBMIT_TIME", 'V', "SUBMIT_TIME", Submitted},
    {"system_comment", "SYSTEM_COMMENT", 0, "", Null},
    {"Threads", "THREADS_PER_CORE", 'J', "THREADS_PER_CORE", Always<'*'>},
    {"TimeLeft", "TIME_LEFT", 'L', "TIME_LEFT", Left, false, false, true},
    {"TimeLimit", "TIME_LIMIT", 'l', "TIME_LIMIT", Limit, false, false, true},
    {"TimeUsed", "TIME", 'M', "TIME", Used, false, false, true},
    {"tres-alloc", "TRES_ALLOC", 0, "", Allocated},
    {"tres-bind", "TRES_BIND", 0, "", NotKnown},
    {"tres-freq", "TRES_FREQ", 0, "", NotKnown},
    {"tres-per-job", "TRES_PER_JOB", 0, "", GresPerJob, true},
    {"tres-per-node", "TRES_PER_NODE", 'b', "TRES_PER_NODE", GresPerNode, true},
    {"tres-per-socket", "TRES_PER_SOCKET", 0, "", NotKnown},
    {"tres-per-step", "TRES_PER_STEP", 0, "", NotKnown},
    {"tres-per-task", "TRES_PER_TASK", 0, "", GresPerTask, true},
    {"UserID", "UID", 'U', "UID", Uid},
    {"UserName", "USER", 'u', "USER", User},
    {"Wait4Switch", "WAIT4SWITCH", 0, "", SwitchesWait, true},
    {"WCKey", "WCKEY", 'w', "WCKEY", Null},
    {"WorkDir", "WORK_DIR", 'Z', "WORK_DIR", WorkDir, true, true},
};
// NOLINTEND(cppcoreguidelines-avoid-c-arrays)

}  // namespace

const JobField* FindJobField(char letter) {
  const auto* found =
      std::find_if(std::begin(kFields), std::end(kFields),
                   [letter](const JobField& field) { return field.letter == letter; });
  return letter == 0 || found == std::end(kFields) ? nullptr : found;
}

const JobField* FindJobField(std::string_view name) {
  const auto* found =
      std::find_if(std::begin(kFields), std::end(kFields), [name](const JobField& field) {
        return absl::EqualsIgnoreCase(field.name, std::string(name));
      });
  return found == std::end(kFields) ? nullptr : found;
}

std::string TitleLine(const std::string& prefix, const std::vector<JobColumn>& columns) {
  std::string line = prefix;
  for (const JobColumn& column : columns) {
    line += InSlot(column.title, column.slot);
  }
  return line + "\n";
}

std::string ValueLine(const std::string& prefix, const std::vector<JobColumn>& columns,
                      const JobRow& row, const JobScene& scene) {
  std::string line = prefix;
  std::string separator;  // what stands behind this field, or stood behind the last
  for (const JobColumn& column : columns) {
    std::string value = column.field == nullptr ? "" : column.field->value(row, scene);
    separator = column.slot.suffix.empty() ? separator : column.slot.suffix;
    if (column.field != nullptr && column.field->foreign) {
      value = Harmless(value, separator);
    }
    Slot slot = column.slot;
    if (column.field != nullptr && column.field->uncut && slot.width > 0) {
      slot.width = std::max(slot.width, value.size());
    }
    line += InSlot(value, slot);
  }
  return line + "\n";
}

}  // namespace muster::cli::slurm
