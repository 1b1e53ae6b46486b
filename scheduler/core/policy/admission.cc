#include "scheduler/core/policy/admission.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "scheduler/base/contains.h"
#include "scheduler/base/status.h"
#include "scheduler/core/policy/job_partition.h"
#include "scheduler/core/policy/limits.h"
#include "scheduler/core/policy/permission.h"
#include "scheduler/core/state/tables/usage_keys.h"

namespace muster::core {
namespace {

absl::Status FillDefaultPartition(const SitePolicy& site, JobSpec* spec) {
  for (const auto& [name, partition] : site.partitions) {
    if (partition.is_default) {
      spec->partition = name;
      return absl::OkStatus();
    }
  }
  return site.partitions.empty() ? absl::OkStatus()
                                 : absl::FailedPreconditionError(absl::StrCat(
                                       "--partition: there is no default partition; name one of ",
                                       KnownNames(site.partitions)));
}

absl::Status FillPartition(const SitePolicy& site, JobSpec* spec) {
  if (spec->partition.empty()) {
    return FillDefaultPartition(site, spec);
  }
  if (site.partitions.empty() && spec->partition == kImpliedPartition) {
    spec->partition.clear();
    return absl::OkStatus();
  }
  std::vector<std::string> seen;
  for (const std::string& name : PartitionNames(*spec)) {
    if (FindPartition(site, name) == nullptr) {
      return absl::NotFoundError(absl::StrCat(
          "--partition: there is no partition ", name.empty() ? "\"\"" : name, "; there are ",
          site.partitions.empty() ? std::string(kImpliedPartition) : KnownNames(site.partitions)));
    }
    if (Contains(seen, name)) {
      return absl::InvalidArgumentError(absl::StrCat("--partition: names ", name, " twice"));
    }
    seen.push_back(name);
  }
  return absl::OkStatus();
}

void FillAccount(const SitePolicy& site, JobSpec* spec) {
  if (!spec->account.empty()) {
    return;
  }
  for (const auto& [name, association] : site.associations) {
    if (association.user != spec->user.name) {
      continue;
    }
    if (association.is_default || spec->account.empty()) {
      spec->account = association.account;
    }
    if (association.is_default) {
      return;
    }
  }
}

void FillQos(const SitePolicy& site, JobSpec* spec) {
  if (!spec->qos.empty()) {
    return;
  }
  if (const AssociationRules* own = FindAssociation(site, spec->account, spec->user.name)) {
    spec->qos = own->default_qos;
  }
  for (const std::string& name : ChargedAccounts(site, spec->account)) {
    const AccountRules* account = FindAccount(site, name);
    if (spec->qos.empty() && account != nullptr) {
      spec->qos = account->default_qos;
    }
  }
}

absl::Status MayUseReservation(const SitePolicy& site, const JobSpec& spec, Time now) {
  if (spec.reservation.empty()) {
    return absl::OkStatus();
  }
  const Reservation* reservation = FindReservation(site, spec.reservation);
  if (reservation == nullptr || !WindowAt(*reservation, now).has_value()) {
    return absl::NotFoundError(absl::StrCat(
        "--reservation: there is no reservation ", spec.reservation,
        reservation == nullptr ? "" : " any more: it is over", "; see muster reservation list"));
  }
  const bool by_account = std::any_of(
      reservation->accounts.begin(), reservation->accounts.end(),
      [&](const std::string& name) { return Contains(ChargedAccounts(site, spec.account), name); });
  if (!by_account && !Contains(reservation->users, spec.user.name)) {
    return absl::PermissionDeniedError(
        absl::StrCat("--reservation: ", spec.reservation, " is not for ", spec.user.name,
                     spec.account.empty() ? "" : absl::StrCat(" in account ", spec.account)));
  }
  return absl::OkStatus();
}

// The time limit of a job that said none: the partition's, and no more than it may have.
void FillTime(const PolicySnapshot& policy, JobSpec* spec) {
  const SitePolicy& site = *policy.site;
  std::optional<Duration> chosen;
  const auto at_most = [&chosen](const std::optional<Duration>& limit) {
    if (limit.has_value() && (!chosen.has_value() || *limit < *chosen)) {
      chosen = *limit;
    }
  };
  if (spec->time_limit.count() > 0) {
    chosen = spec->time_limit;
  }
  const std::vector<JobPartition> partitions = PartitionsOf(policy, *spec);
  if (!partitions.empty() && partitions.front().rules != nullptr) {
    const Partition& first = *partitions.front().rules;
    chosen = first.default_time.has_value() ? first.default_time : chosen;
    at_most(first.max_time);
  }
  for (const std::string& name : QosOf(site, spec->qos, PartitionNames(*spec))) {
    if (const Qos* qos = FindQos(site, name)) {
      at_most(qos->limits.max_wall);
    }
  }
  if (const AssociationRules* own = FindAssociation(site, spec->account, spec->user.name)) {
    at_most(own->limits.max_wall);
  }
  for (const std::string& name : ChargedAccounts(site, spec->account)) {
    if (const AccountRules* account = FindAccount(site, name)) {
      at_most(account->limits.max_wall);
    }
  }
  spec->time_limit = chosen.value_or(Duration(0));
}

absl::Status MayUsePartitions(const PolicySnapshot& policy, const JobSpec& spec) {
  absl::Status refused = absl::OkStatus();
  for (const JobPartition& partition : PartitionsOf(policy, spec)) {
    if (partition.rules == nullptr) {
      return absl::OkStatus();
    }
    const PartitionState state = partition.rules->state;
    absl::Status may = MayUsePartition(*partition.rules, spec);
    if (may.ok() && (state == PartitionState::kDrain || state == PartitionState::kInactive)) {
      may = absl::FailedPreconditionError(
          absl::StrCat("--partition: ", partition.name, " takes no submissions: it is ",
                       state == PartitionState::kDrain ? "drained" : "inactive"));
    }
    if (may.ok()) {
      return may;
    }
    refused.Update(may);
  }
  return refused;
}

// What no waiting will mend is refused where a QOS of the job says so.
absl::Status CheckDenied(const PolicySnapshot& policy, const JobSpec& spec) {
  const SitePolicy& site = *policy.site;
  const std::vector<std::string> names = QosOf(site, spec.qos, PartitionNames(spec));
  const bool deny = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    const Qos* qos = FindQos(site, name);
    return qos != nullptr && (qos->flags & kDenyOnLimit) != 0;
  });
  if (!deny) {
    return absl::OkStatus();
  }
  std::optional<Reason> first;
  for (const JobPartition& partition : PartitionsOf(policy, spec)) {
    const std::vector<Reason> broken = CheckJobLimits(site, LeastAsk(spec, partition.name));
    if (broken.empty()) {
      return absl::OkStatus();
    }
    first = first.has_value() ? first : broken.front();
  }
  return first.has_value() ? absl::FailedPreconditionError(
                                 absl::StrCat(Name(first->kind), ": ", ToSentence(*first)))
                           : absl::OkStatus();
}

}  // namespace

absl::Status Admit(const PolicySnapshot& policy, const Submission& submission, JobSpec* spec) {
  const SitePolicy& site = *policy.site;
  RETURN_IF_ERROR(FillPartition(site, spec));
  FillAccount(site, spec);
  FillQos(site, spec);
  RETURN_IF_ERROR(MayUseAccountAndQos(site, *spec));
  RETURN_IF_ERROR(MayUsePartitions(policy, *spec));
  RETURN_IF_ERROR(MayUseReservation(site, *spec, submission.now));
  if (!submission.time_said) {
    FillTime(policy, spec);
  }
  RETURN_IF_ERROR(CheckDenied(policy, *spec));
  return CheckSubmitLimits(policy, *spec, submission.count);
}

}  // namespace muster::core
