#include "cli/whatif/whatif_settings.h"

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"
#include "cli/simulate/simulate_options.h"
#include "cli/simulate/trace_options.h"
#include "cli/whatif/setting_change.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"
#include "scheduler/runtime/config_file.h"
#include "scheduler/simulator/flat/policy_names.h"

namespace muster::cli {
namespace {

struct NumberKey {
  const char* name;
  std::int64_t WhatifSettings::*member;
};
struct WordKey {
  const char* name;
  std::string WhatifSettings::*member;
};

constexpr std::array<NumberKey, 3> kNumbers = {{
    {"processors", &WhatifSettings::processors},
    {"nodes", &WhatifSettings::nodes},
    {"cpus_per_node", &WhatifSettings::cpus_per_node},
}};
constexpr std::array<WordKey, 6> kWords = {{
    {"policy", &WhatifSettings::policy},
    {"backfill", &WhatifSettings::backfill},
    {"backfill_order", &WhatifSettings::backfill_order},
    {"estimates", &WhatifSettings::estimates},
    {"instant", &WhatifSettings::instant},
    {"filter", &WhatifSettings::filter},
}};

// Either way of saying how many must stay true: the one that was not named follows.
absl::Status ChangeNumber(const NumberKey& key, const SettingChange& change,
                          WhatifSettings* settings) {
  if (settings->processors == 0) {
    settings->processors = settings->nodes * settings->cpus_per_node;
  }
  std::int64_t& number = settings->*key.member;
  if (change.sign == '=') {
    ASSIGN_OR_RETURN(number, ParseProcessors(change.value));
  } else {
    ASSIGN_OR_RETURN(number, ChangedNumber(change, number, sim::kProcessorsMax));
  }
  if (std::string(key.name) != "processors") {
    settings->processors = 0;
  }
  return absl::OkStatus();
}

absl::Status ApplyOne(const SettingChange& change, WhatifSettings* settings) {
  std::string known;
  for (const NumberKey& key : kNumbers) {
    if (change.key == key.name) {
      return ChangeNumber(key, change, settings);
    }
    absl::StrAppend(&known, known.empty() ? "" : ", ", key.name);
  }
  const bool is_word = change.sign == '=';
  for (const WordKey& key : kWords) {
    if (change.key == key.name && is_word) {
      settings->*key.member = change.value;
      return absl::OkStatus();
    }
    absl::StrAppend(&known, is_word ? ", " : "", is_word ? key.name : "");
  }
  return absl::InvalidArgumentError(absl::StrCat(Quote(change.key), " is not a setting",
                                                 is_word ? "" : " that is a number", ": ", known));
}

absl::Status ApplyAll(const std::string& text, WhatifSettings* settings) {
  ASSIGN_OR_RETURN(const std::vector<SettingChange> changes, ReadChanges(text));
  for (const SettingChange& change : changes) {
    RETURN_IF_ERROR(ApplyOne(change, settings));
  }
  sim::FlatRun run;
  return FillRun(*settings, &run);
}

}  // namespace

absl::StatusOr<WhatifSettings> ReadWhatifFile(const std::string& path) {
  ASSIGN_OR_RETURN(ConfigFile file, ConfigFile::Load(path));
  WhatifSettings settings;
  for (const NumberKey& key : kNumbers) {
    RETURN_IF_ERROR(file.ReadInteger(key.name, {.min = 1, .max = sim::kProcessorsMax},
                                     &(settings.*key.member)));
  }
  for (const WordKey& key : kWords) {
    RETURN_IF_ERROR(file.ReadString(key.name, &(settings.*key.member)));
  }
  RETURN_IF_ERROR(file.RefuseUnknownKeys());
  if (settings.processors != 0 && settings.nodes != 0) {
    return file.ErrorAt("processors", "nodes says it already: leave one of them out");
  }
  sim::FlatRun run;
  WhatifSettings checked = settings;
  checked.processors = 1;
  const absl::Status status = FillRun(checked, &run);
  return status.ok()
             ? absl::StatusOr<WhatifSettings>(settings)
             : absl::InvalidArgumentError(absl::StrCat(path, ": ", std::string(status.message())));
}

absl::Status CompleteSettings(const sim::TraceHeader& header, WhatifSettings* settings) {
  const std::int64_t processors =
      settings->processors != 0 ? settings->processors : header.max_procs.value_or(0);
  if (settings->nodes == 0 && processors == 0) {
    return absl::FailedPreconditionError(
        "the trace does not say the number of processors: write processors = P, or nodes = N and "
        "cpus_per_node = C, in the file of --base");
  }
  if (settings->nodes == 0) {
    const std::int64_t said = header.max_nodes.value_or(0);
    const bool divides = said > 0 && processors % said == 0;
    settings->nodes = settings->cpus_per_node != 0 ? processors / settings->cpus_per_node
                      : divides                    ? said
                                                   : processors;
  }
  if (settings->cpus_per_node != 0 && processors % settings->cpus_per_node != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat(processors, " processors are no whole number of nodes with ",
                     settings->cpus_per_node, ": change cpus_per_node"));
  }
  if (settings->cpus_per_node == 0) {
    settings->cpus_per_node =
        processors == 0 ? 1 : std::max<std::int64_t>(processors / settings->nodes, 1);
  }
  return absl::OkStatus();
}

absl::Status ApplyChange(const std::string& change, WhatifSettings* settings) {
  const absl::Status status = ApplyAll(change, settings);
  return status.ok() ? status
                     : absl::InvalidArgumentError(absl::StrCat("--change: ", Quote(change), ": ",
                                                               std::string(status.message())));
}

absl::Status FillRun(const WhatifSettings& settings, sim::FlatRun* run) {
  ASSIGN_OR_RETURN(run->policy, sim::ParseFlatPolicy(settings.policy));
  if (!settings.backfill.empty()) {
    ASSIGN_OR_RETURN(run->policy.backfill, sim::ParseBackfill(settings.backfill));
  }
  if (!settings.backfill_order.empty()) {
    ASSIGN_OR_RETURN(run->policy.candidates, sim::ParseCandidateOrder(settings.backfill_order));
  }
  RETURN_IF_ERROR(CheckCombination(run->policy));
  ASSIGN_OR_RETURN(run->estimates, sim::ParseEstimates(settings.estimates));
  ASSIGN_OR_RETURN(run->instant, sim::ParseInstantOrder(settings.instant));
  ASSIGN_OR_RETURN(run->filter, sim::ParseRecordFilter(settings.filter));
  run->policy.estimates_fall_short = sim::FallShort(run->estimates);
  run->processors = settings.processors;
  if (run->processors == 0) {
    if (settings.nodes > sim::kProcessorsMax / std::max<std::int64_t>(settings.cpus_per_node, 1)) {
      return absl::InvalidArgumentError(
          absl::StrCat("nodes x cpus_per_node is more than ", sim::kProcessorsMax));
    }
    run->processors = settings.nodes * settings.cpus_per_node;
  }
  return absl::OkStatus();
}

}  // namespace muster::cli
