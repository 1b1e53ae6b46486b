#include "scheduler/core/policy/permission.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "scheduler/base/contains.h"
#include "scheduler/core/state/tables/usage_keys.h"

namespace muster::core {
namespace {

// The QOS that the spec's association allows; empty: all.
std::vector<std::string> AllowedQos(const SitePolicy& site, const JobSpec& spec) {
  const AssociationRules* own = FindAssociation(site, spec.account, spec.user.name);
  if (own != nullptr && !own->qos.empty()) {
    return own->qos;
  }
  for (const std::string& name : ChargedAccounts(site, spec.account)) {
    const AccountRules* account = FindAccount(site, name);
    if (account != nullptr && !account->qos.empty()) {
      return account->qos;
    }
  }
  return {};
}

}  // namespace

absl::Status MayUsePartition(const Partition& partition, const JobSpec& spec) {
  const std::string qos = EffectiveQos(spec.qos);
  if (!Admits(partition.allow_accounts, spec.account) ||
      Contains(partition.deny_accounts, spec.account)) {
    return absl::PermissionDeniedError(absl::StrCat("--partition: ", partition.name,
                                                    " is not for account ",
                                                    spec.account.empty() ? "\"\"" : spec.account));
  }
  if (!Admits(partition.allow_qos, qos) || Contains(partition.deny_qos, qos)) {
    return absl::PermissionDeniedError(
        absl::StrCat("--partition: ", partition.name, " is not for QOS ", qos));
  }
  return absl::OkStatus();
}

absl::Status MayUseAccountAndQos(const SitePolicy& site, const JobSpec& spec) {
  if (!site.accounts.empty() && !spec.account.empty() && spec.account != kRootAccountName &&
      FindAccount(site, spec.account) == nullptr) {
    return absl::PermissionDeniedError(
        absl::StrCat("--account: there is no account ", spec.account, "; see muster accounts"));
  }
  if (!site.associations.empty() &&
      FindAssociation(site, spec.account, spec.user.name) == nullptr) {
    return absl::PermissionDeniedError(
        spec.account.empty()
            ? absl::StrCat("--account: ", spec.user.name, " is in no account; ask for one")
            : absl::StrCat("--account: ", spec.user.name, " is not in account ", spec.account));
  }
  const std::string qos = EffectiveQos(spec.qos);
  if (FindQos(site, qos) == nullptr && qos != kImpliedQos) {
    return absl::NotFoundError(
        absl::StrCat("--qos: there is no QOS ", qos, "; there are ",
                     site.qos.empty() ? std::string(kImpliedQos) : KnownNames(site.qos)));
  }
  const std::vector<std::string> allowed = AllowedQos(site, spec);
  if (!Admits(allowed, qos)) {
    return absl::NotFoundError(
        absl::StrCat("--qos: ", spec.user.name, spec.account.empty() ? "" : " in account ",
                     spec.account, " may use ", absl::StrJoin(allowed, ", "), ", not ", qos));
  }
  return absl::OkStatus();
}

}  // namespace muster::core
