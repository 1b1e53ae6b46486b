#include "cli/slurm/history/account_fields.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "cli/page/quantity.h"
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

constexpr std::uint64_t kKibibyte = 1024;
constexpr std::size_t kHelpWidth = 19;
constexpr std::size_t kHelpColumns = 4;

using Scene = AccountScene;

std::string None(const AccountRow&, const Scene&) {
  return "";
}
template <auto Value>
std::string OfJob(const AccountRow& row, const Scene& scene) {
  return row.whole() ? Value(row, scene) : std::string();
}

std::string IdOf(const AccountRow& row, const std::string& job) {
  return row.batch             ? job + ".batch"
         : row.step != nullptr ? absl::StrCat(job, ".", row.step->step.value())
                               : job;
}
std::string IdText(const AccountRow& row, const Scene&) {
  return IdOf(row, JobLabel(*row.job, row.elements));
}
std::string RawIdText(const AccountRow& row, const Scene&) {
  return IdOf(row, absl::StrCat(row.job->id.value()));
}
std::string NameText(const AccountRow& row, const Scene&) {
  return row.batch ? "batch" : row.step != nullptr ? row.step->name : row.job->name;
}
std::string Account(const AccountRow& row, const Scene&) {
  return row.job->account;
}
std::string User(const AccountRow& row, const Scene&) {
  return row.job->user;
}
std::string Uid(const AccountRow& row, const Scene&) {
  return absl::StrCat(row.job->uid);
}
std::string Group(const AccountRow& row, const Scene&) {
  return GroupName(row.job->gid);
}
std::string Gid(const AccountRow& row, const Scene&) {
  return absl::StrCat(row.job->gid);
}
std::string Partition(const AccountRow& row, const Scene&) {
  return row.job->partition;
}
std::string Qos(const AccountRow& row, const Scene&) {
  return row.job->qos;
}
std::string Cluster(const AccountRow&, const Scene& scene) {
  return scene.cluster;
}
template <const char* Name>
std::string Note(const AccountRow& row, const Scene&) {
  for (const JobNote& note : row.detail == nullptr ? std::vector<JobNote>() : row.detail->notes) {
    if (note.name == Name) {
      return note.text;
    }
  }
  return "";
}
constexpr char kAdminComment[] = "AdminComment";
constexpr char kSystemComment[] = "SystemComment";
constexpr char kExtra[] = "Extra";
constexpr char kWcKey[] = "WCKey";
constexpr char kDerivedExitCode[] = "DerivedExitCode";
std::string Comment(const AccountRow& row, const Scene&) {
  return row.job->comment;
}
std::string Reservation(const AccountRow& row, const Scene&) {
  return row.job->reservation;
}
std::string Reason(const AccountRow& row, const Scene&) {
  return ReasonWord(*row.job);
}
std::string Priority(const AccountRow& row, const Scene&) {
  return row.job->priority == 0 ? "" : absl::StrCat(row.job->priority);
}
std::string Restarts(const AccountRow& row, const Scene&) {
  return absl::StrCat(row.job->restarts);
}
std::string WorkDir(const AccountRow& row, const Scene&) {
  return row.detail == nullptr ? "" : row.detail->work_dir;
}
std::string Output(const AccountRow& row, const Scene&) {
  return row.detail == nullptr ? "" : OutputFile(*row.detail);
}
std::string Errors(const AccountRow& row, const Scene&) {
  return row.detail == nullptr ? "" : ErrorFile(*row.detail);
}
std::string Constraints(const AccountRow& row, const Scene&) {
  return row.detail == nullptr ? "" : row.detail->constraint;
}

// What clients know: a job that is being started or ended runs.
std::string State(const AccountRow& row, const Scene&) {
  if (row.step != nullptr) {
    return row.step->state;
  }
  const std::string word = StateWord(*row.job);
  return IsCompleting(word) ? Name(JobState::kRunning) : word;
}

std::string ExitCode(const AccountRow& row, const Scene&) {
  if (row.step != nullptr) {
    return ExitPair(row.step->exit.code, row.step->exit.signal);
  }
  if (IsOutOfMemory(row.job->state)) {
    return "0:125";
  }
  const bool failed = IsFailure(row.job->state) || row.batch;
  return failed ? ExitPair(row.job->exit_code, row.job->exit_signal) : "0:0";
}
std::string DerivedExitCode(const AccountRow& row, const Scene& scene) {
  if (const std::string said = Note<kDerivedExitCode>(row, scene); !said.empty()) {
    return absl::StrContains(said, ':') ? said : absl::StrCat(said, ":0");
  }
  std::int32_t highest = 0;
  if (row.detail != nullptr) {
    for (const StepView& step : row.detail->steps) {
      highest = std::max(highest, step.exit.code);
    }
  }
  return ExitPair(highest, 0);
}

Time StartOf(const AccountRow& row) {
  return row.step != nullptr ? row.step->start_time : row.job->start_time;
}
Time EndOf(const AccountRow& row) {
  return row.step != nullptr ? row.step->end_time : row.job->end_time;
}
Duration ElapsedOf(const AccountRow& row, const Scene& scene) {
  if (row.step == nullptr) {
    return Elapsed(*row.job, scene.now);
  }
  const Time end = EndOf(row) == kNoTime ? scene.now : EndOf(row);
  return StartOf(row) == kNoTime ? Duration(0) : std::max(Duration(0), end - StartOf(row));
}
std::string Submit(const AccountRow& row, const Scene& scene) {
  return scene.clock.Text(row.job->submit_time, "Unknown");
}
std::string Eligible(const AccountRow& row, const Scene& scene) {
  return scene.clock.Text(std::max(row.job->submit_time, row.job->begin_time), "Unknown");
}
std::string Start(const AccountRow& row, const Scene& scene) {
  const bool never = row.whole() && IsTerminal(row.job->state);
  return scene.clock.Text(StartOf(row), never ? "None" : "Unknown");
}
std::string End(const AccountRow& row, const Scene& scene) {
  return scene.clock.Text(EndOf(row), "Unknown");
}
std::string ElapsedClock(const AccountRow& row, const Scene& scene) {
  return LongText(ElapsedOf(row, scene));
}
std::string ElapsedSeconds(const AccountRow& row, const Scene& scene) {
  return absl::StrCat(ElapsedOf(row, scene).count() / 1000);
}
std::string Suspended(const AccountRow& row, const Scene&) {
  return LongText(row.job->suspended);
}
std::string Planned(const AccountRow& row, const Scene& scene) {
  const Time since = std::max(row.job->submit_time, row.job->begin_time);
  const Time until = StartOf(row) != kNoTime ? StartOf(row)
                     : EndOf(row) != kNoTime ? EndOf(row)
                                             : scene.now;
  return LongText(until - since);
}
std::string Limit(const AccountRow& row, const Scene&) {
  return LongLimit(row.job->time_limit);
}
std::string LimitMinutes(const AccountRow& row, const Scene&) {
  return !HasLimit(*row.job) ? "UNLIMITED"
                             : absl::StrCat((row.job->time_limit.count() + 59'999) / 60'000);
}

std::uint32_t CpusOf(const AccountRow& row) {
  return row.step != nullptr && row.step->cpus > 0 ? row.step->cpus : row.job->cpus;
}
std::string Cpus(const AccountRow& row, const Scene&) {
  return absl::StrCat(CpusOf(row));
}
std::string AllocatedCpus(const AccountRow& row, const Scene&) {
  return absl::StrCat(CpusOf(row));
}
std::string Tasks(const AccountRow& row, const Scene&) {
  return row.whole() ? "" : row.batch ? "1" : absl::StrCat(row.step->tasks);
}
std::size_t NodeCountOf(const AccountRow& row) {
  if (row.step != nullptr) {
    return static_cast<std::size_t>(
               std::count(row.step->nodes.begin(), row.step->nodes.end(), ',')) +
           1;
  }
  return row.batch ? 1 : std::max(row.job->node_count, 1U);
}
std::string NodeCount(const AccountRow& row, const Scene&) {
  return absl::StrCat(NodeCountOf(row));
}
std::string AllocatedNodes(const AccountRow& row, const Scene&) {
  return absl::StrCat(row.job->nodes.empty() ? 0 : NodeCountOf(row));
}
std::string Nodes(const AccountRow& row, const Scene&) {
  if (row.step != nullptr) {
    std::vector<std::string> names = absl::StrSplit(row.step->nodes, ',', absl::SkipEmpty());
    return CompressHostlist(names);
  }
  if (row.job->nodes.empty()) {
    return "None assigned";
  }
  return row.batch ? row.job->nodes.front() : CompressHostlist(row.job->nodes);
}

std::string Memory(Bytes bytes, const Scene& scene) {
  if (scene.unit == 0) {
    return SlurmSizeText(bytes.value());
  }
  double amount = static_cast<double>(bytes.value()) / static_cast<double>(kKibibyte);
  for (const char unit : {'K', 'M', 'G', 'T', 'P'}) {
    if (unit == scene.unit) {
      break;
    }
    amount /= static_cast<double>(kKibibyte);
  }
  const bool whole = amount == static_cast<double>(static_cast<std::uint64_t>(amount));
  return absl::StrCat(
      whole ? absl::StrCat(static_cast<std::uint64_t>(amount)) : absl::StrFormat("%.2f", amount),
      std::string(1, scene.unit));
}
Bytes AskedMemory(const JobView& job) {
  if (job.memory_per_node.value() > 0) {
    return job.memory_per_node * std::max(job.node_count, 1U);
  }
  return job.memory_per_cpu * job.cpus;
}
std::string ReqMem(const AccountRow& row, const Scene& scene) {
  return Memory(AskedMemory(*row.job), scene);
}
std::string Tres(const AccountRow& row, const Scene& scene, Bytes memory) {
  const std::uint32_t gpus = row.step != nullptr ? row.step->gpus : row.job->gpus;
  const std::uint32_t cpus = CpusOf(row);
  return absl::StrCat(row.whole() ? absl::StrCat("billing=", cpus, ",") : "", "cpu=", cpus,
                      gpus == 0 ? "" : absl::StrCat(",gres/gpu=", gpus),
                      ",mem=", Memory(memory, scene), ",node=", NodeCountOf(row));
}
std::string AllocTres(const AccountRow& row, const Scene& scene) {
  return row.job->nodes.empty() ? "" : Tres(row, scene, row.job->memory);
}
std::string ReqTres(const AccountRow& row, const Scene& scene) {
  return Tres(row, scene, AskedMemory(*row.job));
}
std::string AllocGres(const AccountRow& row, const Scene&) {
  const std::uint32_t gpus = row.step != nullptr ? row.step->gpus : row.job->gpus;
  return gpus == 0 ? "" : absl::StrCat("gpu:", gpus);
}

const Usage& UsageOf(const AccountRow& row) {
  return row.step != nullptr ? row.step->usage : row.job->usage;
}
std::string TotalCpu(const AccountRow& row, const Scene&) {
  return CpuDuration(CpuTime(UsageOf(row)));
}
std::string UserCpu(const AccountRow& row, const Scene&) {
  return CpuDuration(UsageOf(row).user_cpu);
}
std::string SystemCpu(const AccountRow& row, const Scene&) {
  return CpuDuration(UsageOf(row).system_cpu);
}
// Of one task on the average.
std::string AveCpu(const AccountRow& row, const Scene&) {
  const std::uint32_t tasks = row.step != nullptr ? std::max(row.step->tasks, 1U) : 1U;
  return row.whole() ? "" : LongText(CpuTime(UsageOf(row)) / tasks);
}
std::string MaxRss(const AccountRow& row, const Scene& scene) {
  const Bytes peak = UsageOf(row).peak_memory;
  if (row.whole() || peak.value() == 0) {
    return "";
  }
  return scene.unit == 0 ? absl::StrCat(peak.value() / kKibibyte, "K") : Memory(peak, scene);
}
// Of one task the average is its own; of several nobody knows each one's.
std::string AveRss(const AccountRow& row, const Scene& scene) {
  const std::uint32_t tasks = row.step == nullptr ? 1 : row.step->tasks;
  return tasks == 1 ? MaxRss(row, scene) : "";
}
std::string FirstNode(const AccountRow& row, const Scene&) {
  return row.whole() || row.job->nodes.empty() ? "" : row.job->nodes.front();
}
std::string CpuTimeText(const AccountRow& row, const Scene& scene) {
  return LongText(ElapsedOf(row, scene) * CpusOf(row));
}
std::string CpuTimeSeconds(const AccountRow& row, const Scene& scene) {
  return absl::StrCat(ElapsedOf(row, scene).count() / 1000 * CpusOf(row));
}
std::string UsageInTotal(const AccountRow& row, const Scene& scene) {
  if (row.whole()) {
    return "";
  }
  const std::string memory = MaxRss(row, scene);
  return absl::StrCat("cpu=", LongText(CpuTime(UsageOf(row))),
                      memory.empty() ? "" : ",mem=", memory);
}
std::string Energy(const AccountRow& row, const Scene&) {
  const Usage& usage = UsageOf(row);
  return absl::StrCat(EnergyOf(usage) / 1000);
}

// NOLINTBEGIN(cppcoreguidelines-avoid-c-arrays)
constexpr AccountField kFields[] = {
    {"Account", 10, Account, true},
    {"AdminComment", 19, OfJob<Note<kAdminComment>>, true},
    {"AllocCPUS", 10, AllocatedCpus},
    {"AllocGRES", 12, AllocGres},
    {"AllocNodes", 10, AllocatedNodes},
    {"AllocTRES", 10, AllocTres},
    {"AssocID", 7, None},
    {"AveCPU", 10, AveCpu},
    {"AveCPUFreq", 10, None},
    {"AveDiskRead", 14, None},
    {"AveDiskWrite", 14, None},
    {"AvePages", 10, None},
    {"AveRSS", 10, AveRss},
    {"AveVMSize", 10, None},
    {"BlockID", 16, None},
    {"Cluster", 10, Cluster},
    {"Comment", 14, OfJob<Comment>, true},
    {"Constraints", 19, OfJob<Constraints>},
    {"ConsumedEnergy", 14, Energy},
    {"ConsumedEnergyRaw", 17, Energy},
    {"Container", 19, None},
    {"CPUTime", 10, CpuTimeText},
    {"CPUTimeRAW", 10, CpuTimeSeconds},
    {"DBIndex", 10, OfJob<RawIdText>},
    {"DerivedExitCode", 15, OfJob<DerivedExitCode>},
    {"Elapsed", 10, ElapsedClock},
    {"ElapsedRaw", 10, ElapsedSeconds},
    {"Eligible", 19, Eligible},
    {"End", 19, End},
    {"ExitCode", 8, ExitCode},
    {"Extra", 19, OfJob<Note<kExtra>>, true},
    {"Flags", 20, None},
    {"GID", 6, OfJob<Gid>},
    {"Group", 9, OfJob<Group>},
    {"JobID", -12, IdText},
    {"JobIDRaw", -12, RawIdText},
    {"JobName", 10, NameText, true},
    {"Layout", 9, None},
    {"MaxDiskRead", 12, None},
    {"MaxDiskReadNode", 15, None},
    {"MaxDiskReadTask", 15, None},
    {"MaxDiskWrite", 12, None},
    {"MaxDiskWriteNode", 16, None},
    {"MaxDiskWriteTask", 16, None},
    {"MaxPages", 8, None},
    {"MaxPagesNode", 12, None},
    {"MaxPagesTask", 14, None},
    {"MaxRSS", 10, MaxRss},
    {"MaxRSSNode", 10, FirstNode},
    {"MaxRSSTask", 10, None},
    {"MaxVMSize", 10, None},
    {"MaxVMSizeNode", 14, None},
    {"MaxVMSizeTask", 14, None},
    {"McsLabel", 9, None},
    {"MinCPU", 10, AveCpu},
    {"MinCPUNode", 10, None},
    {"MinCPUTask", 10, None},
    {"NCPUS", 10, Cpus},
    {"NNodes", 8, NodeCount},
    {"NodeList", 15, Nodes},
    {"NTasks", 8, Tasks},
    {"Partition", 10, OfJob<Partition>},
    {"Planned", 10, OfJob<Planned>},
    {"PlannedCPU", 10, None},
    {"PlannedCPURAW", 13, None},
    {"Priority", 10, OfJob<Priority>},
    {"QOS", 10, OfJob<Qos>},
    {"QOSRAW", 6, None},
    {"Reason", 22, OfJob<Reason>},
    {"ReqCPUFreq", 10, None},
    {"ReqCPUFreqGov", 13, None},
    {"ReqCPUFreqMax", 13, None},
    {"ReqCPUFreqMin", 13, None},
    {"ReqCPUS", 8, Cpus},
    {"ReqMem", 10, OfJob<ReqMem>},
    {"ReqNodes", 8, NodeCount},
    {"ReqTRES", 10, OfJob<ReqTres>},
    {"Reservation", 20, OfJob<Reservation>},
    {"ReservationId", 15, None},
    {"Reserved", 10, OfJob<Planned>},
    {"Restarts", 8, OfJob<Restarts>},
    {"ResvCPU", 10, None},
    {"ResvCPURAW", 10, None},
    {"Start", 19, Start},
    {"State", 10, State},
    {"StdErr", 20, OfJob<Errors>, true},
    {"StdIn", 20, None},
    {"StdOut", 20, OfJob<Output>, true},
    {"Submit", 19, Submit},
    {"SubmitLine", 20, None},
    {"Suspended", 10, Suspended},
    {"SystemComment", 19, OfJob<Note<kSystemComment>>, true},
    {"SystemCPU", 10, SystemCpu},
    {"Timelimit", 10, OfJob<Limit>},
    {"TimelimitRaw", 12, OfJob<LimitMinutes>},
    {"TotalCPU", 10, TotalCpu},
    {"TRESUsageInAve", 14, UsageInTotal},
    {"TRESUsageInMax", 14, UsageInTotal},
    {"TRESUsageInMaxNode", 18, None},
    {"TRESUsageInMaxTask", 18, None},
    {"TRESUsageInMin", 14, None},
    {"TRESUsageInMinNode", 18, None},
    {"TRESUsageInMinTask", 18, None},
    {"TRESUsageInTot", 14, UsageInTotal},
    {"TRESUsageOutAve", 15, None},
    {"TRESUsageOutMax", 15, None},
    {"TRESUsageOutMaxNode", 19, None},
    {"TRESUsageOutMaxTask", 19, None},
    {"TRESUsageOutMin", 15, None},
    {"TRESUsageOutMinNode", 19, None},
    {"TRESUsageOutMinTask", 19, None},
    {"TRESUsageOutTot", 15, None},
    {"UID", 6, OfJob<Uid>},
    {"User", 9, OfJob<User>},
    {"UserCPU", 10, UserCpu},
    {"WCKey", 10, OfJob<Note<kWcKey>>, true},
    {"WCKeyID", 8, None},
    {"WorkDir", 20, OfJob<WorkDir>, true},
};
// NOLINTEND(cppcoreguidelines-avoid-c-arrays)

}  // namespace

std::span<const AccountField> AccountFields() {
  return kFields;
}

const AccountField* FindAccountField(std::string_view name) {
  const std::string wanted(name);
  const auto* found = std::find_if(
      std::begin(kFields), std::end(kFields),
      [&wanted](const AccountField& field) { return absl::EqualsIgnoreCase(field.name, wanted); });
  return found == std::end(kFields) ? nullptr : found;
}

std::string FieldHelp() {
  std::string page;
  std::size_t column = 0;
  for (const AccountField& field : kFields) {
    page += InSlot(field.name, {.width = kHelpWidth});
    page += ++column % kHelpColumns == 0 ? "\n" : " ";
  }
  if (column % kHelpColumns != 0) {
    page.back() = '\n';
  }
  return page;
}

}  // namespace muster::cli::slurm
