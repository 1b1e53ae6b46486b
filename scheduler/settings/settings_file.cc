#include "scheduler/settings/settings_file.h"

#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/settings/priority_file.h"

namespace muster {
namespace {

// [licenses] NAME = COUNT.
absl::Status ReadLicenses(ConfigFile& file, std::vector<LicenseCount>& licenses) {
  constexpr std::int64_t kLicensesMax = 1'000'000'000;
  licenses.clear();
  for (const std::string& name : file.KeysUnder("licenses")) {
    const std::string key = absl::StrCat("licenses.", name);
    const bool fits =
        !name.empty() && name.size() <= 64 && name.find_first_of(".:,*@ \t") == std::string::npos;
    if (!fits) {
      return file.ErrorAt(key,
                          "a licence's name has 1 to 64 characters, none of . : , * @ or blank");
    }
    std::int64_t count = 0;
    RETURN_IF_ERROR(file.ReadInteger(key, {1, kLicensesMax}, &count));
    licenses.push_back({name, static_cast<std::uint64_t>(count)});
  }
  return absl::OkStatus();
}

// [policy] backfill = "none" | "easy" | "conservative" | "hybrid", reservations = N.
absl::Status ReadBackfill(ConfigFile& file, PolicyConfig& policy) {
  std::string name = Name(policy.backfill);
  RETURN_IF_ERROR(file.ReadString("policy.backfill", &name));
  const std::optional<Backfill> backfill = BackfillNamed(name);
  if (!backfill.has_value()) {
    return file.ErrorAt("policy.backfill",
                        absl::StrCat("\"", name, "\" is not none, easy, conservative or hybrid"));
  }
  policy.backfill = *backfill;
  std::int64_t reservations = policy.reservations;
  RETURN_IF_ERROR(file.ReadInteger("policy.reservations", {0, 100'000}, &reservations));
  policy.reservations = static_cast<std::uint32_t>(reservations);
  return absl::OkStatus();
}

}  // namespace

absl::Status ReadSettings(ConfigFile& file, PolicyConfig& policy) {
  RETURN_IF_ERROR(file.ReadDuration("policy.default_time_limit", &policy.default_time_limit));
  RETURN_IF_ERROR(file.ReadDuration("policy.kill_grace", &policy.kill_grace));
  auto elements = static_cast<std::int64_t>(policy.array_elements_max);
  RETURN_IF_ERROR(file.ReadInteger("policy.array_elements_max", {1, 1'000'000}, &elements));
  policy.array_elements_max = static_cast<std::uint64_t>(elements);
  RETURN_IF_ERROR(ReadBackfill(file, policy));
  auto requeues = static_cast<std::int64_t>(policy.requeues_max);
  RETURN_IF_ERROR(file.ReadInteger("policy.requeues_max", {0, 1'000'000}, &requeues));
  policy.requeues_max = static_cast<std::uint32_t>(requeues);
  RETURN_IF_ERROR(ReadLicenses(file, policy.licenses));
  return ReadPriority(file, policy.priority);
}

}  // namespace muster
