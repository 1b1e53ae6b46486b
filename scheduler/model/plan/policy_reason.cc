#include "scheduler/model/plan/policy_reason.h"

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"
#include "scheduler/model/policy/tres.h"
#include "scheduler/model/value/period_text.h"

namespace muster {
namespace {

struct KindName {
  ReasonKind kind;
  const char* name;
};

constexpr std::array<KindName, 39> kNames = {{
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

}  // namespace

const char* PolicyReasonName(ReasonKind kind) {
  const auto* found = std::find_if(kNames.begin(), kNames.end(),
                                   [kind](const KindName& row) { return row.kind == kind; });
  return found == kNames.end() ? "None" : found->name;
}

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

}  // namespace muster
