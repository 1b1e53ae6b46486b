#include "scheduler/model/plan/reason.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <string>

#include "absl/strings/str_cat.h"
#include "scheduler/base/text/duration_text.h"
#include "scheduler/base/text/size_text.h"
#include "scheduler/base/text/time_text.h"
#include "scheduler/base/text/words.h"
#include "scheduler/model/policy/tres.h"

namespace muster {
namespace {

struct KindName {
  ReasonKind kind;
  const char* name;
};

constexpr std::array<KindName, 59> kNames = {{
    {ReasonKind::kNone, "None"},
    {ReasonKind::kResources, "Resources"},
    {ReasonKind::kPriority, "Priority"},
    {ReasonKind::kBadConstraints, "BadConstraints"},
    {ReasonKind::kJobHeldUser, "JobHeldUser"},
    {ReasonKind::kBeginTime, "BeginTime"},
    {ReasonKind::kJobArrayTaskLimit, "JobArrayTaskLimit"},
    {ReasonKind::kReqNodeNotAvail, "ReqNodeNotAvail"},
    {ReasonKind::kNotPlannedYet, "NotPlannedYet"},
    {ReasonKind::kCleaning, "Cleaning"},
    {ReasonKind::kDependency, "Dependency"},
    {ReasonKind::kDependencyNeverSatisfied, "DependencyNeverSatisfied"},
    {ReasonKind::kJobHeldAdmin, "JobHeldAdmin"},
    {ReasonKind::kJobHoldMaxRequeue, "JobHoldMaxRequeue"},
    {ReasonKind::kJobLaunchFailure, "JobLaunchFailure"},
    {ReasonKind::kLicenses, "Licenses"},
    {ReasonKind::kDeadline, "DeadLine"},
    {ReasonKind::kSuspended, "Suspended"},
    {ReasonKind::kHetJob, "HetJob"},
    {ReasonKind::kSwitches, "Switches"},
    {ReasonKind::kPartitionDown, "PartitionDown"},
    {ReasonKind::kPartitionInactive, "PartitionInactive"},
    {ReasonKind::kPartitionNodeLimit, "PartitionNodeLimit"},
    {ReasonKind::kPartitionTimeLimit, "PartitionTimeLimit"},
    {ReasonKind::kReservation, "Reservation"},
    {ReasonKind::kReservationDeleted, "ReservationDeleted"},
    {ReasonKind::kInvalidAccount, "InvalidAccount"},
    {ReasonKind::kInvalidQOS, "InvalidQOS"},
    {ReasonKind::kInvalidPartition, "InvalidPartition"},
    {ReasonKind::kAssocGrpJobsLimit, "AssocGrpJobsLimit"},
    {ReasonKind::kAssocMaxJobsLimit, "AssocMaxJobsLimit"},
    {ReasonKind::kAssocGrpWallLimit, "AssocGrpWallLimit"},
    {ReasonKind::kAssocMaxWallDurationPerJobLimit, "AssocMaxWallDurationPerJobLimit"},
    {ReasonKind::kAssocGrpCpuLimit, "AssocGrpCpuLimit"},
    {ReasonKind::kAssocGrpMemLimit, "AssocGrpMemLimit"},
    {ReasonKind::kAssocGrpNodeLimit, "AssocGrpNodeLimit"},
    {ReasonKind::kAssocGrpGRES, "AssocGrpGRES"},
    {ReasonKind::kAssocMaxCpuPerJobLimit, "AssocMaxCpuPerJobLimit"},
    {ReasonKind::kAssocMaxMemPerJob, "AssocMaxMemPerJob"},
    {ReasonKind::kAssocMaxNodePerJobLimit, "AssocMaxNodePerJobLimit"},
    {ReasonKind::kAssocMaxGRESPerJob, "AssocMaxGRESPerJob"},
    {ReasonKind::kAssocGrpTRESMinutes, "AssocGrpTRESMinutes"},
    {ReasonKind::kQOSGrpJobsLimit, "QOSGrpJobsLimit"},
    {ReasonKind::kQOSMaxJobsPerUserLimit, "QOSMaxJobsPerUserLimit"},
    {ReasonKind::kQOSMaxJobsPerAccountLimit, "QOSMaxJobsPerAccountLimit"},
    {ReasonKind::kQOSGrpWallLimit, "QOSGrpWallLimit"},
    {ReasonKind::kQOSMaxWallDurationPerJobLimit, "QOSMaxWallDurationPerJobLimit"},
    {ReasonKind::kQOSGrpCpuLimit, "QOSGrpCpuLimit"},
    {ReasonKind::kQOSGrpMemLimit, "QOSGrpMemLimit"},
    {ReasonKind::kQOSGrpNodeLimit, "QOSGrpNodeLimit"},
    {ReasonKind::kQOSGrpGRES, "QOSGrpGRES"},
    {ReasonKind::kQOSMaxCpuPerUserLimit, "QOSMaxCpuPerUserLimit"},
    {ReasonKind::kQOSMaxMemPerUser, "QOSMaxMemPerUser"},
    {ReasonKind::kQOSMaxNodePerUserLimit, "QOSMaxNodePerUserLimit"},
    {ReasonKind::kQOSMaxGRESPerUser, "QOSMaxGRESPerUser"},
    {ReasonKind::kQOSMaxTRESPerJob, "QOSMaxTRESPerJob"},
    {ReasonKind::kMaxTRESPerNode, "MaxTRESPerNode"},
    {ReasonKind::kQOSMaxTRESPerAccount, "QOSMaxTRESPerAccount"},
    {ReasonKind::kQOSGrpTRESMinutes, "QOSGrpTRESMinutes"},
}};

// How many nodes there are of those that are needed.
std::string FitText(const Shortage& shortage) {
  if (shortage.available == 0) {
    return "none fits";
  }
  return absl::StrCat("only ", shortage.available, shortage.available == 1 ? " fits" : " fit");
}

// By whom GPUs are used outside of jobs.
std::string UsedText(const Shortage& shortage) {
  return shortage.name.empty() ? "" : absl::StrCat("; ", shortage.name);
}

std::string ShortOf(const std::string& needed, const std::string& has) {
  return absl::StrCat("short of ", needed, " (has ", has, ")");
}

std::string ShortageText(const Shortage& shortage) {
  const std::string text = ToSentence(shortage);
  return shortage.nodes == 0 ? text : absl::StrCat(shortage.nodes, " ", text);
}

std::string ShortagesText(const Reason& reason) {
  std::string text = absl::StrCat(Counted(reason.nodes, "node"), ":");
  const char* separator = " ";
  for (const Shortage& shortage : reason.shortages) {
    absl::StrAppend(&text, separator, ShortageText(shortage));
    separator = ", ";
  }
  return text;
}

// Which nodes of its place in the plan are switched off; nothing for none.
std::string BootText(const Reason& reason) {
  return reason.name.empty() ? "" : absl::StrCat("; waits for ", reason.name, " to boot");
}

// "job 12", "jobs 12, 13 and 5 more"; nothing for none.
std::string HoldersText(const std::vector<JobId>& holders) {
  constexpr std::size_t kNamed = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(kNamed, holders.size()); ++i) {
    absl::StrAppend(&text, i == 0 ? (holders.size() == 1 ? "job " : "jobs ") : ", ",
                    holders[i].value());
  }
  if (holders.size() > kNamed) {
    absl::StrAppend(&text, " and ", holders.size() - kNamed, " more");
  }
  return text;
}

std::string LicensesText(const Reason& reason) {
  if (reason.verdict == ReasonClass::kNever) {
    return absl::StrCat("never on this cluster: needs ", reason.needed, " of licence ", reason.name,
                        ", which has ", reason.capacity);
  }
  return absl::StrCat("needs ", reason.needed, " of licence ", reason.name, ": ", reason.used,
                      " of ", reason.capacity, " in use", reason.holders.empty() ? "" : " by ",
                      HoldersText(reason.holders));
}

std::string SuspendedText(const Reason& reason) {
  if (reason.used == 0) {
    return absl::StrCat("node ", reason.name, ", which has its CPUs, is down");
  }
  return absl::StrCat(
      reason.used, " of its ", Counted(reason.needed, "CPU"), " on ", reason.name, " taken",
      reason.holders.empty() ? "" : " by ", HoldersText(reason.holders),
      reason.until == kNoTime ? "" : absl::StrCat(", until ", UtcText(reason.until)));
}

std::string DependencyText(const Reason& reason) {
  return absl::StrCat(
      "waits for ", reason.name,
      reason.until == kNoTime ? "" : absl::StrCat(", until ", UtcText(reason.until)));
}

// `behind`: the component that keeps the others waiting, if it is one alone.
std::string HetJobText(const Reason& reason) {
  const char* never = reason.verdict == ReasonClass::kNever ? "never on this cluster: " : "";
  if (reason.behind.valid()) {
    return absl::StrCat(never, "waits for component ", reason.needed,
                        " of the heterogeneous job, job ", ToString(reason.behind));
  }
  return absl::StrCat(never, "the ", reason.needed,
                      " components of the heterogeneous job do not fit together",
                      reason.verdict == ReasonClass::kNever ? "" : " now");
}

std::string SwitchesText(const Reason& reason) {
  return absl::StrCat("on at most ", reason.limit,
                      reason.limit == 1 ? " leaf switch" : " leaf switches", " there is room for ",
                      reason.capacity, " of its ", Counted(reason.needed, "task"), " now; from ",
                      UtcText(reason.until), " on it takes what there is");
}

// How the numbers of a limit are to be read.
enum class Measure { kCount, kBytes, kSeconds, kMinutes };

Measure MeasureOf(const Reason& reason) {
  switch (reason.kind) {
    case ReasonKind::kAssocGrpMemLimit:
    case ReasonKind::kAssocMaxMemPerJob:
    case ReasonKind::kQOSGrpMemLimit:
    case ReasonKind::kQOSMaxMemPerUser:
      return Measure::kBytes;
    case ReasonKind::kAssocGrpWallLimit:
    case ReasonKind::kAssocMaxWallDurationPerJobLimit:
    case ReasonKind::kQOSGrpWallLimit:
    case ReasonKind::kQOSMaxWallDurationPerJobLimit:
    case ReasonKind::kPartitionTimeLimit:
      return Measure::kSeconds;
    case ReasonKind::kAssocGrpTRESMinutes:
    case ReasonKind::kQOSGrpTRESMinutes:
      return Measure::kMinutes;
    default:
      break;
  }
  const bool memory =
      reason.name.size() >= 4 && reason.name.compare(reason.name.size() - 4, 4, " mem") == 0;
  return memory ? Measure::kBytes : Measure::kCount;
}

std::string Amount(Measure measure, std::uint64_t number) {
  switch (measure) {
    case Measure::kBytes:
      return TresAmountText(TresKind::kMemory, number);
    case Measure::kSeconds:
      return PeriodText(std::chrono::seconds(number));
    case Measure::kMinutes:
      return absl::StrCat(number, " minutes");
    case Measure::kCount:
      break;
  }
  return absl::StrCat(number);
}

std::string Holders(const Reason& reason) {
  std::string text;
  for (const JobId job : reason.holders) {
    absl::StrAppend(&text, text.empty() ? "; held by job " : ", ", ToString(job));
  }
  return text;
}

// "qos high of ada cpu: 60 of 64 in use, it needs 8; free at …".
std::string LimitSentence(const Reason& reason) {
  const Measure measure = MeasureOf(reason);
  std::string text = reason.name;
  if (reason.used > 0 || reason.needed <= reason.capacity) {
    absl::StrAppend(&text, ": ", Amount(measure, reason.used), " of ",
                    Amount(measure, reason.capacity), " in use, it needs ",
                    Amount(measure, reason.needed));
  } else {
    absl::StrAppend(&text, ": at most ", Amount(measure, reason.capacity), ", it needs ",
                    Amount(measure, reason.needed));
  }
  absl::StrAppend(&text, Holders(reason));
  if (reason.until != kNoTime) {
    absl::StrAppend(&text, "; free at ", MomentText(reason.until), " at the latest");
  }
  return text;
}

std::string ReservationSentence(const Reason& reason) {
  if (reason.needed > 0) {
    return absl::StrCat("reservation ", reason.name, " begins at ", MomentText(reason.until),
                        "; the job would still run by then: a shorter --time fits before it");
  }
  return reason.until == kNoTime
             ? absl::StrCat("reservation ", reason.name, " keeps the nodes for others")
             : absl::StrCat("reservation ", reason.name, ", until ", MomentText(reason.until));
}

// The reasons 40 to 79, which policy gives.
std::string PolicyReasonSentence(const Reason& reason) {
  switch (reason.kind) {
    case ReasonKind::kPartitionDown:
      return absl::StrCat("partition ", reason.name, " is down");
    case ReasonKind::kPartitionInactive:
      return absl::StrCat("partition ", reason.name, " is inactive");
    case ReasonKind::kPartitionNodeLimit:
      return reason.needed > reason.capacity
                 ? absl::StrCat("partition ", reason.name, " gives at most ", reason.capacity,
                                " nodes to a job, it needs ", reason.needed)
                 : absl::StrCat("partition ", reason.name, " gives no fewer than ", reason.capacity,
                                " nodes to a job, it asks ", reason.needed);
    case ReasonKind::kPartitionTimeLimit:
      return absl::StrCat(
          "partition ", reason.name, " allows ", Amount(Measure::kSeconds, reason.capacity),
          ", it asks ",
          reason.needed == 0 ? std::string("no limit") : Amount(Measure::kSeconds, reason.needed));
    case ReasonKind::kReservation:
      return ReservationSentence(reason);
    case ReasonKind::kReservationDeleted:
      return absl::StrCat("its reservation ", reason.name, " is over or was deleted");
    case ReasonKind::kInvalidAccount:
    case ReasonKind::kInvalidQOS:
      return reason.name;
    case ReasonKind::kInvalidPartition:
      return absl::StrCat("there is no partition ", reason.name);
    default:
      return LimitSentence(reason);
  }
}

}  // namespace

const char* Name(ReasonKind kind) {
  const auto* found = std::find_if(kNames.begin(), kNames.end(),
                                   [kind](const KindName& row) { return row.kind == kind; });
  return found == kNames.end() ? "None" : found->name;
}

// Thousandths of a GPU: "0.25".
std::string GpuShareText(std::uint64_t thousandths) {
  constexpr std::uint64_t kWhole = 1000;
  std::string text =
      absl::StrCat(thousandths / kWhole, ".", absl::Dec(thousandths % kWhole, absl::kZeroPad3));
  text.erase(text.find_last_not_of('0') + 1);
  return text.back() == '.' ? text.substr(0, text.size() - 1) : text;
}

std::string ToSentence(const Shortage& shortage) {
  switch (shortage.kind) {
    case ShortageKind::kCores:
      return ShortOf(Counted(shortage.needed, "core"), absl::StrCat(shortage.available));
    case ShortageKind::kMemory:
      return ShortOf(BytesText(shortage.needed, SizeRounding::kDown),
                     BytesText(shortage.available, SizeRounding::kDown));
    case ShortageKind::kGpus:
      return ShortOf(Counted(shortage.needed, "GPU"), absl::StrCat(shortage.available)) +
             UsedText(shortage);
    case ShortageKind::kDivided:
      return absl::StrCat(
          ShortOf(Counted(shortage.needed, "GPU"), absl::StrCat(shortage.available)), "; ",
          shortage.name.empty() ? "others are divided otherwise" : shortage.name);
    case ShortageKind::kTasks:
      return absl::StrCat("with room for ", shortage.available, " of ",
                          Counted(shortage.needed, "task"));
    case ShortageKind::kNodes:
      return absl::StrCat("needs ", Counted(shortage.needed, "node"), ", ", FitText(shortage));
    case ShortageKind::kGpuType:
      return shortage.name.empty() ? "without GPUs of that type"
                                   : absl::StrCat("without GPUs of that type with ", shortage.name);
    case ShortageKind::kDown:
      return "down";
    case ShortageKind::kDrained:
      return "drained";
    case ShortageKind::kNarrow:
      return "drained for jobs that may span nodes";
    case ShortageKind::kNarrowLink:
      return absl::StrCat("switches ", shortage.name, " are joined by a narrow link");
    case ShortageKind::kFeatures:
      return absl::StrCat("without the features ", shortage.name);
    case ShortageKind::kExcluded:
      return "excluded";
    case ShortageKind::kNotListed:
      return "not in the node list";
    case ShortageKind::kListedNodes:
      return absl::StrCat("cannot use ", shortage.name, " of its node list");
    case ShortageKind::kFeatureNodes:
      return absl::StrCat("needs ", Counted(shortage.needed, "node"), " with ", shortage.name, ", ",
                          FitText(shortage));
    case ShortageKind::kReserved:
      return absl::StrCat("reserved for ", shortage.name);
    case ShortageKind::kLayout:
      return absl::StrCat("without ", shortage.name);
    case ShortageKind::kGpuShare:
      return ShortOf(absl::StrCat(GpuShareText(shortage.needed), " of one GPU"),
                     GpuShareText(shortage.available)) +
             UsedText(shortage);
    case ShortageKind::kGres:
      return ShortOf(absl::StrCat(shortage.needed, " ", shortage.name),
                     absl::StrCat(shortage.available));
    case ShortageKind::kOtherUsers:
      return "with jobs of other users";
    case ShortageKind::kUsersOwn:
      return "kept by another user for jobs of that user alone";
    case ShortageKind::kPower:
      return "switched off";
    case ShortageKind::kOnAtOnce:
      return absl::StrCat(
          shortage.needed == 0 ? ""
                               : absl::StrCat("needs ", Counted(shortage.needed, "node"), ", "),
          "at most ", shortage.available, " can be on at once (max_on of ", shortage.name, ")");
    case ShortageKind::kSegments:
      return absl::StrCat("needs ", Counted(shortage.needed, "segment"), " of ", shortage.name,
                          " on one leaf switch each, ", FitText(shortage));
  }
  return "";
}

std::string ToSentence(const Reason& reason) {
  switch (reason.kind) {
    case ReasonKind::kNone:
      return "";
    case ReasonKind::kResources:
      return absl::StrCat(ShortagesText(reason), BootText(reason));
    case ReasonKind::kBadConstraints:
      return absl::StrCat("never on this cluster: ", ShortagesText(reason));
    case ReasonKind::kReqNodeNotAvail:
      return absl::StrCat("fits only on nodes that are not available: ", ShortagesText(reason));
    case ReasonKind::kPriority:
      return absl::StrCat(Counted(reason.ahead, "job"), " before it, first job ",
                          ToString(reason.behind), BootText(reason));
    case ReasonKind::kJobHeldUser:
      return "held; muster release starts it on its way";
    case ReasonKind::kBeginTime:
      return absl::StrCat("not before ", UtcText(reason.until), reason.name.empty() ? "" : ": ",
                          reason.name);
    case ReasonKind::kJobArrayTaskLimit:
      return absl::StrCat("the array runs at most ", reason.limit, " at a time");
    case ReasonKind::kNotPlannedYet:
      return "no cycle has looked at it yet";
    case ReasonKind::kCleaning:
      return "an attempt of it that this controller did not start still runs; it waits for its end";
    case ReasonKind::kDependency:
      return DependencyText(reason);
    case ReasonKind::kDependencyNeverSatisfied:
      return absl::StrCat("never: ", reason.name,
                          " can no longer be met; cancel it, or muster update --dependency");
    case ReasonKind::kJobHeldAdmin:
      return reason.name.empty()
                 ? "held by the operator, who alone can release it"
                 : absl::StrCat("held: ", reason.name, "; the operator alone can release it");
    case ReasonKind::kJobHoldMaxRequeue:
      return absl::StrCat("held: it was requeued ", reason.used, " times, at most ",
                          reason.capacity, " are allowed; muster release starts it on its way");
    case ReasonKind::kJobLaunchFailure:
      return absl::StrCat("held: ", reason.name, "; muster release lets it try again");
    case ReasonKind::kLicenses:
      return LicensesText(reason);
    case ReasonKind::kDeadline:
      return absl::StrCat("can no longer end by its deadline, ", UtcText(reason.until));
    case ReasonKind::kSuspended:
      return SuspendedText(reason);
    case ReasonKind::kHetJob:
      return HetJobText(reason);
    case ReasonKind::kSwitches:
      return SwitchesText(reason);
    default:
      return PolicyReasonSentence(reason);
  }
  return "";
}

}  // namespace muster
