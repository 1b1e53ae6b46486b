#include "scheduler/settings/priority_file.h"

#include <array>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/core/share/billing.h"
#include "scheduler/core/share/decay.h"

namespace muster {
namespace {

constexpr std::int64_t kWeightMax = 4'000'000'000;

// One of several names, each status for a value.
template <class T, std::size_t N>
absl::Status ReadName(ConfigFile& file, const std::string& key,
                      const std::array<std::pair<const char*, T>, N>& names, T& value) {
  if (!file.Has(key)) {
    return absl::OkStatus();
  }
  std::string said;
  RETURN_IF_ERROR(file.ReadString(key, &said));
  std::string known;
  for (const auto& [name, its_value] : names) {
    if (said == name) {
      value = its_value;
      return absl::OkStatus();
    }
    absl::StrAppend(&known, known.empty() ? "" : ", ", name);
  }
  return file.ErrorAt(key, absl::StrCat("\"", said, "\" is not one of ", known));
}

absl::Status ReadNumber(ConfigFile& file, const std::string& key, std::int64_t least,
                        std::uint32_t& value) {
  std::int64_t read = value;
  RETURN_IF_ERROR(file.ReadInteger(key, {least, kWeightMax}, &read));
  value = static_cast<std::uint32_t>(read);
  return absl::OkStatus();
}

absl::Status ReadWeights(ConfigFile& file, PriorityConfig& config) {
  const std::array<std::pair<const char*, std::uint32_t*>, 8> weights = {{
      {"priority.weight_age", &config.weight_age},
      {"priority.weight_fairshare", &config.weight_fairshare},
      {"priority.weight_job_size", &config.weight_job_size},
      {"priority.weight_partition", &config.weight_partition},
      {"priority.weight_qos", &config.weight_qos},
      {"priority.weight_cpu", &config.weight_cpu},
      {"priority.weight_mem", &config.weight_memory},
      {"priority.weight_gpu", &config.weight_gpu},
  }};
  for (const auto& [key, weight] : weights) {
    RETURN_IF_ERROR(ReadNumber(file, key, 0, *weight));
  }
  return absl::OkStatus();
}

absl::Status ReadHalfLife(ConfigFile& file, PriorityConfig& config) {
  RETURN_IF_ERROR(file.ReadDuration("priority.half_life", &config.half_life));
  if (config.half_life.count() != 0 &&
      (config.half_life < core::kHalfLifeMin || config.half_life > core::kHalfLifeMax)) {
    return file.ErrorAt("priority.half_life", "must be 0 (no decay) or from 1s to 3653d");
  }
  return absl::OkStatus();
}

absl::Status ReadBilling(ConfigFile& file, PriorityConfig& config) {
  RETURN_IF_ERROR(ReadName<BillingRule>(file, "priority.billing_rule",
                                        std::array<std::pair<const char*, BillingRule>, 3>{
                                            {{"sum", BillingRule::kSum},
                                             {"max_tres", BillingRule::kMaxTres},
                                             {"max_tres_gres", BillingRule::kMaxTresGres}}},
                                        config.billing_rule));
  if (!file.Has("priority.billing")) {
    return absl::OkStatus();
  }
  std::string text;
  RETURN_IF_ERROR(file.ReadString("priority.billing", &text));
  absl::StatusOr<std::vector<TresWeight>> weights = core::ParseTresWeights(text);
  if (!weights.ok()) {
    return file.ErrorAt("priority.billing", std::string(weights.status().message()));
  }
  config.billing = *std::move(weights);
  return absl::OkStatus();
}

// policy.order, or its older name, priority.order.
absl::Status ReadOrder(ConfigFile& file, PriorityConfig& config) {
  constexpr const char* kOlder = "priority.order";
  constexpr const char* kNewer = "policy.order";
  if (file.Has(kOlder) && file.Has(kNewer)) {
    return file.ErrorAt(kOlder, "is the older name of policy.order: write one of them");
  }
  return ReadName<QueueRule>(file, file.Has(kOlder) ? kOlder : kNewer, kQueueRules, config.order);
}

}  // namespace

absl::Status ReadPriority(ConfigFile& file, PriorityConfig& config) {
  RETURN_IF_ERROR(ReadOrder(file, config));
  RETURN_IF_ERROR(ReadName<FairshareRule>(
      file, "priority.fairshare",
      std::array<std::pair<const char*, FairshareRule>, 2>{
          {{"fair-tree", FairshareRule::kFairTree}, {"classic", FairshareRule::kClassic}}},
      config.fairshare));
  RETURN_IF_ERROR(ReadNumber(file, "priority.damping", 1, config.damping));
  RETURN_IF_ERROR(ReadWeights(file, config));
  RETURN_IF_ERROR(file.ReadBool("priority.favor_small", &config.favor_small));
  RETURN_IF_ERROR(file.ReadDuration("priority.max_age", &config.max_age));
  RETURN_IF_ERROR(ReadHalfLife(file, config));
  return ReadBilling(file, config);
}

}  // namespace muster
