#include "cli/tune/tune_settings.h"

#include <array>
#include <chrono>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "scheduler/simulator/flat/policy_names.h"

namespace muster::cli {
namespace {

constexpr std::int64_t kHourOfSlack = 3600;
constexpr std::int64_t kNever = std::int64_t{24} * 3650 * kHourOfSlack;

struct Parameter {
  std::int64_t core::PromptRules::*member;
  std::vector<std::int64_t> values;
};

const std::array<Parameter, kTuneParameters>& Parameters() {
  static const std::array<Parameter, kTuneParameters> kAll = {{
      {&core::PromptRules::stretch_permille, {0, 1000, 2000, 5000, 10'000, 20'000, 50'000}},
      {&core::PromptRules::slack,
       {0, kHourOfSlack, 4 * kHourOfSlack, 12 * kHourOfSlack, 24 * kHourOfSlack, 48 * kHourOfSlack,
        96 * kHourOfSlack}},
      {&core::PromptRules::patience,
       {kHourOfSlack, 4 * kHourOfSlack, 8 * kHourOfSlack, 16 * kHourOfSlack, 32 * kHourOfSlack,
        64 * kHourOfSlack, kNever}},
      {&core::PromptRules::backlog_permille, {0, 250, 500, 1000, 2000}},
  }};
  return kAll;
}

// As a configuration says it: "24h", "90s".
std::string SpanText(std::int64_t seconds) {
  return seconds % kHourOfSlack == 0 ? absl::StrCat(seconds / kHourOfSlack, "h")
                                     : absl::StrCat(seconds, "s");
}

bool IsPrompt(const TuneSettings& settings) {
  return settings.policy.order == sim::FlatOrder::kPrompt;
}

TuneSettings Named(const char* name) {
  TuneSettings settings;
  settings.name = name;
  settings.policy = *sim::ParseFlatPolicy(name);
  if (IsPrompt(settings)) {
    settings.estimates = sim::Estimates::kLearned;
    settings.policy.estimates_fall_short = true;
  }
  return settings;
}

}  // namespace

std::vector<TuneSettings> LivePolicies() {
  return {Named("prompt"), Named("conservative"), Named("easy"), Named("fcfs")};
}

TuneSettings SettingsOf(const SchedulerConfig& config) {
  if (config.priority.order != QueueRule::kPrompt) {
    return Named(config.backfill == Backfill::kNone   ? "fcfs"
                 : config.backfill == Backfill::kEasy ? "easy"
                                                      : "conservative");
  }
  TuneSettings settings = Named("prompt");
  const auto seconds = [](Duration duration) {
    return std::chrono::duration_cast<std::chrono::seconds>(duration).count();
  };
  settings.policy.prompt = {.stretch_permille = config.prompt.stretch_permille,
                            .patience = seconds(config.prompt.patience),
                            .backlog_permille = config.prompt.backlog_permille,
                            .slack = seconds(config.prompt.slack)};
  return settings;
}

std::string KeyOf(const TuneSettings& settings) {
  std::string key = settings.name;
  for (const Parameter& parameter : Parameters()) {
    if (IsPrompt(settings)) {
      absl::StrAppend(&key, ",", settings.policy.prompt.*parameter.member);
    }
  }
  return key;
}

std::string TextOf(const TuneSettings& settings) {
  if (!IsPrompt(settings)) {
    return settings.name;
  }
  const core::PromptRules& rules = settings.policy.prompt;
  return absl::StrCat("prompt: stretch ", static_cast<double>(rules.stretch_permille) / 1000,
                      ", slack ", SpanText(rules.slack), ", patience ", SpanText(rules.patience),
                      " + ", static_cast<double>(rules.backlog_permille) / 1000, " x backlog");
}

std::string TomlOf(const TuneSettings& settings) {
  if (!IsPrompt(settings)) {
    const std::string backfill = settings.name == "fcfs" ? "none" : settings.name;
    return absl::StrCat("[policy]\norder = \"priority\"\nbackfill = \"", backfill, "\"\n");
  }
  const core::PromptRules& rules = settings.policy.prompt;
  return absl::StrCat("[policy]\norder = \"prompt\"\nstretch_permille = ", rules.stretch_permille,
                      "\nslack = \"", SpanText(rules.slack), "\"\npatience = \"",
                      SpanText(rules.patience), "\"\nbacklog_permille = ", rules.backlog_permille,
                      "\n");
}

std::vector<TuneSettings> Neighbours(const TuneSettings& settings, std::size_t parameter) {
  const Parameter& moved = Parameters()[parameter];
  std::vector<TuneSettings> found;
  for (const std::int64_t value : moved.values) {
    if (settings.policy.prompt.*moved.member != value) {
      found.push_back(settings);
      found.back().policy.prompt.*moved.member = value;
    }
  }
  return found;
}

std::size_t NeighboursInAll() {
  std::size_t count = 0;
  for (const Parameter& parameter : Parameters()) {
    count += parameter.values.size() - 1;
  }
  return count;
}

TuneSettings WithSlack(const TuneSettings& settings, std::int64_t slack) {
  TuneSettings other = settings;
  core::PromptRules& rules = other.policy.prompt;
  rules.patience = rules.slack == 0 ? slack
                                    : slack / rules.slack * rules.patience +
                                          slack % rules.slack * rules.patience / rules.slack;
  rules.backlog_permille = slack == 0 ? 0 : rules.backlog_permille;
  rules.slack = slack;
  return other;
}

}  // namespace muster::cli
