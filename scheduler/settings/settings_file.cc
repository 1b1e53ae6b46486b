#include "scheduler/settings/settings_file.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/duration_text.h"
#include "scheduler/settings/mig_file.h"
#include "scheduler/settings/power_file.h"
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

// [policy] backfill = NAME, reservations = N.
absl::Status ReadBackfill(ConfigFile& file, SchedulerConfig& policy) {
  std::string name = Name(policy.backfill);
  RETURN_IF_ERROR(file.ReadString("policy.backfill", &name));
  const std::optional<Backfill> backfill = BackfillNamed(name);
  if (!backfill.has_value()) {
    return file.ErrorAt("policy.backfill",
                        absl::StrCat("\"", name, "\" is no kind of backfilling: use one of ",
                                     absl::StrJoin(kBackfillNames, ", ")));
  }
  policy.backfill = *backfill;
  std::int64_t reservations = policy.reservations;
  RETURN_IF_ERROR(file.ReadInteger("policy.reservations", {0, 100'000}, &reservations));
  policy.reservations = static_cast<std::uint32_t>(reservations);
  return absl::OkStatus();
}

absl::Status ReadNumber(ConfigFile& file, const std::string& key, std::int64_t least,
                        std::int64_t most, std::uint32_t* number) {
  std::int64_t value = *number;
  RETURN_IF_ERROR(file.ReadInteger(key, {least, most}, &value));
  *number = static_cast<std::uint32_t>(value);
  return absl::OkStatus();
}

// [health] interval = "24h", mad = 3 …
absl::Status ReadHealth(ConfigFile& file, HealthPolicy& health) {
  RETURN_IF_ERROR(file.ReadDuration("health.interval", &health.interval));
  RETURN_IF_ERROR(file.ReadDuration("health.recheck", &health.recheck));
  RETURN_IF_ERROR(file.ReadBool("health.at_boot", &health.at_boot));
  RETURN_IF_ERROR(file.ReadBool("health.drain", &health.drain));
  RETURN_IF_ERROR(ReadNumber(file, "health.mad", 1, 100, &health.mad));
  RETURN_IF_ERROR(ReadNumber(file, "health.slack_percent", 0, 100, &health.slack_percent));
  RETURN_IF_ERROR(ReadNumber(file, "health.confirm", 1, 100, &health.confirm));
  RETURN_IF_ERROR(ReadNumber(file, "health.samples", 2, 64, &health.samples));
  RETURN_IF_ERROR(
      ReadNumber(file, "health.drained_percent_max", 0, 100, &health.drained_percent_max));
  return ReadNumber(file, "health.at_once_percent", 0, 100, &health.at_once_percent);
}

// [checkpoint] extension = "none" | "gpu" | "all".
absl::Status ReadExtension(ConfigFile& file, ExtensionRule& rule) {
  constexpr auto kNames = std::to_array<const char*>({"none", "gpu", "all"});  // by ExtensionRule
  std::string name = kNames[static_cast<std::size_t>(rule)];
  RETURN_IF_ERROR(file.ReadString("checkpoint.extension", &name));
  const auto* found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end()) {
    return file.ErrorAt("checkpoint.extension",
                        absl::StrCat("\"", name, "\" is not none, gpu or all"));
  }
  rule = static_cast<ExtensionRule>(found - kNames.begin());
  return absl::OkStatus();
}

// [checkpoint] writers = 4, bandwidth = "20G", quota = "500G", owners_extend = true
absl::Status ReadCheckpoint(ConfigFile& file, CheckpointPolicy& checkpoint) {
  RETURN_IF_ERROR(ReadNumber(file, "checkpoint.writers", 0, 100'000, &checkpoint.writers));
  std::uint64_t bandwidth = checkpoint.bandwidth.value();
  RETURN_IF_ERROR(file.ReadSize("checkpoint.bandwidth", &bandwidth));
  checkpoint.bandwidth = Bytes(bandwidth);
  std::uint64_t quota = checkpoint.quota.bytes.value();
  RETURN_IF_ERROR(file.ReadSize("checkpoint.quota", &quota));
  checkpoint.quota.bytes = Bytes(quota);
  RETURN_IF_ERROR(
      ReadNumber(file, "checkpoint.quota_count", 0, 1'000'000, &checkpoint.quota.count));
  RETURN_IF_ERROR(file.ReadBool("checkpoint.owners_extend", &checkpoint.owners_extend));
  return ReadExtension(file, checkpoint.extension);
}

// [elastic] efficiency_percent = 90, restart_cost = "2m" …
absl::Status ReadElastic(ConfigFile& file, ElasticPolicy& elastic) {
  RETURN_IF_ERROR(
      ReadNumber(file, "elastic.efficiency_percent", 1, 100, &elastic.efficiency_percent));
  RETURN_IF_ERROR(file.ReadDuration("elastic.restart_cost", &elastic.restart_cost));
  RETURN_IF_ERROR(file.ReadDuration("elastic.last_call", &elastic.last_call));
  RETURN_IF_ERROR(file.ReadBool("elastic.shrink", &elastic.shrink));
  return ReadNumber(file, "elastic.pause_costs", 0, 1000, &elastic.pause_costs);
}

// [policy] slack = "12h", patience = "16h" …: of the order called prompt.
absl::Status ReadPrompt(ConfigFile& file, PromptPolicy& prompt) {
  constexpr std::int64_t kStretchMax = 1'000'000;
  RETURN_IF_ERROR(
      ReadNumber(file, "policy.stretch_permille", 0, kStretchMax, &prompt.stretch_permille));
  RETURN_IF_ERROR(file.ReadDuration("policy.patience", &prompt.patience));
  RETURN_IF_ERROR(
      ReadNumber(file, "policy.backlog_permille", 0, kStretchMax, &prompt.backlog_permille));
  RETURN_IF_ERROR(file.ReadDuration("policy.slack", &prompt.slack));
  return ReadNumber(file, "policy.promises", 0, 100'000, &prompt.promises);
}

// [policy] kill_grace = "30s", kill_grace_max = "10m": what a job gets, and the most it may ask.
absl::Status ReadKillGrace(ConfigFile& file, SchedulerConfig& policy) {
  RETURN_IF_ERROR(file.ReadDuration("policy.kill_grace", &policy.kill_grace));
  policy.kill_grace_max = std::max(policy.kill_grace_max, policy.kill_grace);
  RETURN_IF_ERROR(file.ReadDuration("policy.kill_grace_max", &policy.kill_grace_max));
  if (policy.kill_grace_max < policy.kill_grace) {
    return file.ErrorAt("policy.kill_grace_max",
                        absl::StrCat("is less than kill_grace, ", PeriodText(policy.kill_grace)));
  }
  return absl::OkStatus();
}

}  // namespace

SchedulerConfig DefaultSettings() {
  SchedulerConfig policy;
  policy.priority.order = QueueRule::kPrompt;
  return policy;
}

absl::Status ReadSettings(ConfigFile& file, SchedulerConfig& policy) {
  RETURN_IF_ERROR(file.ReadDuration("policy.default_time_limit", &policy.default_time_limit));
  RETURN_IF_ERROR(ReadKillGrace(file, policy));
  auto elements = static_cast<std::int64_t>(policy.array_elements_max);
  RETURN_IF_ERROR(file.ReadInteger("policy.array_elements_max", {1, 1'000'000}, &elements));
  policy.array_elements_max = static_cast<std::uint64_t>(elements);
  auto submitted = static_cast<std::int64_t>(policy.submit_jobs_max);
  RETURN_IF_ERROR(file.ReadInteger("policy.submit_jobs_max", {0, UINT32_MAX}, &submitted));
  policy.submit_jobs_max = static_cast<std::uint32_t>(submitted);
  RETURN_IF_ERROR(ReadBackfill(file, policy));
  RETURN_IF_ERROR(ReadPrompt(file, policy.prompt));
  auto requeues = static_cast<std::int64_t>(policy.requeues_max);
  RETURN_IF_ERROR(file.ReadInteger("policy.requeues_max", {0, 1'000'000}, &requeues));
  policy.requeues_max = static_cast<std::uint32_t>(requeues);
  RETURN_IF_ERROR(ReadLicenses(file, policy.licenses));
  RETURN_IF_ERROR(ReadHealth(file, policy.health));
  RETURN_IF_ERROR(ReadCheckpoint(file, policy.checkpoint));
  RETURN_IF_ERROR(ReadElastic(file, policy.elastic));
  if (file.Has("policy.backfill") || file.Has("policy.reservations")) {
    policy.priority.order = QueueRule::kPriority;
  }
  RETURN_IF_ERROR(ReadPriority(file, policy.priority));
  RETURN_IF_ERROR(ReadMig(file, policy));
  return ReadPower(file, policy);
}

}  // namespace muster
