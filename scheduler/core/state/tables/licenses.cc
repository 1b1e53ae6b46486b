#include "scheduler/core/state/tables/licenses.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"

namespace muster::core {

void LicenseTable::Take(const Job& job) {
  for (const LicenseCount& license : job.spec->licenses) {
    Use& use = uses_[license.name];
    use.used += license.count;
    use.holders[job.id] += license.count;
  }
}

void LicenseTable::Free(const Job& job) {
  for (const LicenseCount& license : job.spec->licenses) {
    const auto use = uses_.find(license.name);
    MUSTER_CHECK(use != uses_.end() && use->second.used >= license.count);
    use->second.used -= license.count;
    use->second.holders.erase(job.id);
    if (use->second.holders.empty()) {
      uses_.erase(use);
    }
  }
}

std::vector<LicenseUse> LicenseTable::Uses() const {
  std::vector<LicenseUse> uses;
  for (const auto& [name, use] : uses_) {
    LicenseUse shown{name, use.used, {}};
    for (const auto& [job, count] : use.holders) {
      shown.holders.push_back(job);
    }
    uses.push_back(std::move(shown));
  }
  return uses;
}

LicenseCounts::LicenseCounts(const std::vector<LicenseUse>& uses) {
  for (const LicenseUse& use : uses) {
    uses_.emplace(use.name, use);
  }
}

std::optional<Reason> LicenseCounts::WhyShort(const JobSpec& spec,
                                              const SchedulerConfig& config) const {
  for (const LicenseCount& license : spec.licenses) {
    const auto use = uses_.find(license.name);
    const std::uint64_t used = use == uses_.end() ? 0 : use->second.used;
    const std::uint64_t total = TotalOf(config, license.name);
    if (license.count <= total && used <= total - license.count) {
      continue;
    }
    Reason reason;
    reason.kind = ReasonKind::kLicenses;
    reason.verdict = license.count > total ? ReasonClass::kNever : ReasonClass::kNotNow;
    reason.name = license.name;
    reason.used = used;
    reason.needed = license.count;
    reason.capacity = total;
    reason.holders = use == uses_.end() ? std::vector<JobId>() : use->second.holders;
    return reason;
  }
  return std::nullopt;
}

void LicenseCounts::Take(JobId job, const JobSpec& spec) {
  for (const LicenseCount& license : spec.licenses) {
    LicenseUse& use = uses_[license.name];
    use.name = license.name;
    use.used += license.count;
    use.holders.push_back(job);
  }
}

std::uint64_t TotalOf(const SchedulerConfig& config, const std::string& name) {
  const auto found =
      std::find_if(config.licenses.begin(), config.licenses.end(),
                   [&name](const LicenseCount& license) { return license.name == name; });
  return found == config.licenses.end() ? 0 : found->count;
}

absl::Status CheckLicenses(const std::vector<LicenseCount>& licenses,
                           const SchedulerConfig& config) {
  for (std::size_t i = 0; i < licenses.size(); ++i) {
    const LicenseCount& license = licenses[i];
    const bool twice =
        std::any_of(licenses.begin(), licenses.begin() + static_cast<std::ptrdiff_t>(i),
                    [&](const LicenseCount& other) { return other.name == license.name; });
    if (twice || license.count == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("--licenses: ", license.name,
                       twice ? " is named twice; name it once" : ": ask for at least one"));
    }
    const std::uint64_t total = TotalOf(config, license.name);
    if (total == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("--licenses: ", license.name,
                       ": the cluster has no such licence; [licenses] in the "
                       "controller's configuration names them"));
    }
    if (license.count > total) {
      return absl::InvalidArgumentError(absl::StrCat("--licenses: ", license.name, ": asks for ",
                                                     license.count, ", the cluster has ", total));
    }
  }
  return absl::OkStatus();
}

}  // namespace muster::core
