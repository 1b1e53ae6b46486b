#include "cli/whatif/whatif_cluster.h"

#include <array>
#include <filesystem>
#include <limits>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/simulate/failure_options.h"
#include "cli/simulate/simulated_cluster.h"
#include "cli/whatif/setting_change.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"
#include "scheduler/runtime/config_file.h"
#include "scheduler/runtime/file.h"
#include "scheduler/simulator/flat/policy_names.h"

namespace muster::cli {
namespace {

struct Short {
  const char* name;
  const char* key;  // of [nodes.NAME]
};
constexpr std::array<Short, 3> kShorts = {
    {{"nodes", "count"}, {"cpus_per_node", "cpus"}, {"gpus_per_node", "gpus"}}};
constexpr const char* kPolicy = "policy";
constexpr const char* kEstimates = "estimates";

absl::Status UnknownKey(const ConfigFile& file, const std::string& key) {
  std::set<std::string> known = file.known();
  known.insert(kPolicy);
  known.insert(kEstimates);
  for (const Short& brief : kShorts) {
    known.insert(brief.name);
  }
  return absl::InvalidArgumentError(absl::StrCat(
      Quote(key), " is not a setting of the cluster; near it are ", NearestNames(key, known)));
}

// nodes stands for nodes.NAME.count, and so on, where there is one class of nodes.
absl::StatusOr<std::string> WholeKey(const ConfigFile& file, const std::string& key) {
  for (const Short& brief : kShorts) {
    if (key != brief.name) {
      continue;
    }
    std::vector<std::string> keys = file.KeysUnder("nodes");
    for (std::string& name : keys) {
      name = absl::StrCat("nodes.", name, ".", brief.key);
    }
    if (keys.size() != 1) {
      return absl::InvalidArgumentError(absl::StrCat(
          Quote(key), " is of several classes: name one of ", absl::StrJoin(keys, ", ")));
    }
    return keys.front();
  }
  return key;
}

absl::Status SetNumber(const SettingChange& change, const std::string& key, ConfigFile* file) {
  if (file->known().count(key) == 0) {
    return UnknownKey(*file, key);
  }
  if (!file->Has(key)) {
    return absl::InvalidArgumentError(
        absl::StrCat(Quote(key), ": the cluster says no number to change: write KEY=VALUE"));
  }
  std::int64_t number = 0;
  RETURN_IF_ERROR(file->ReadInteger(key, {std::numeric_limits<std::int64_t>::min()}, &number));
  ASSIGN_OR_RETURN(number, ChangedNumber(change, number, kChangeMax));
  return file->Set(key, absl::StrCat(number));
}

absl::StatusOr<std::string> WeighFairshareAlone(std::uint32_t weight, ConfigFile* file) {
  for (const char* other : {"age", "job_size", "partition", "qos", "cpu", "mem", "gpu"}) {
    RETURN_IF_ERROR(file->Set(absl::StrCat("priority.weight_", other), "0"));
  }
  const std::string key = "priority.weight_fairshare";
  RETURN_IF_ERROR(file->Set(key, absl::StrCat(weight)));
  return key;
}

// The policy of that name, as --policy takes it; "muster" is the file's own.
absl::StatusOr<std::string> SetPolicy(const std::string& name, ConfigFile* file) {
  SchedulerConfig config;
  RETURN_IF_ERROR(SetClusterPolicy(name, config));
  if (name == "muster") {
    return "";
  }
  const bool is_prompt = config.priority.order == QueueRule::kPrompt;
  const char* order = file->Has("priority.order") ? "priority.order" : "policy.order";
  RETURN_IF_ERROR(file->Set(order, is_prompt ? "prompt" : "priority"));
  if (is_prompt) {
    return order;
  }
  if (config.priority.weight_fairshare > 0) {
    return WeighFairshareAlone(config.priority.weight_fairshare, file);
  }
  RETURN_IF_ERROR(file->Set("policy.backfill", Name(config.backfill)));
  return std::string("policy.backfill");
}

// One change into the file, or into the run where no file says such a thing. Gives the key.
absl::StatusOr<std::string> Make(const SettingChange& change, ConfigFile* file,
                                 std::optional<sim::Estimates>* estimates) {
  ASSIGN_OR_RETURN(const std::string key, WholeKey(*file, change.key));
  if (change.sign != '=') {
    RETURN_IF_ERROR(SetNumber(change, key, file));
    return key;
  }
  if (key == kEstimates) {
    ASSIGN_OR_RETURN(*estimates, sim::ParseEstimates(change.value));
    return !sim::FallShort(**estimates)
               ? absl::StatusOr<std::string>("")
               : absl::InvalidArgumentError(
                     "user-last-2 is for identical processors: a live job's limit is what it was "
                     "submitted with");
  }
  if (key == kPolicy) {
    return SetPolicy(change.value, file);
  }
  RETURN_IF_ERROR(file->Set(key, change.value));
  return key;
}

absl::StatusOr<sim::ClusterRun> Changed(ConfigFile& file, const std::string& directory,
                                        const std::string& text) {
  ASSIGN_OR_RETURN(const std::vector<SettingChange> changes, ReadChanges(text));
  std::vector<std::string> keys;
  std::optional<sim::Estimates> estimates;
  for (const SettingChange& change : changes) {
    ASSIGN_OR_RETURN(std::string key, Make(change, &file, &estimates));
    if (!key.empty()) {
      keys.push_back(std::move(key));
    }
  }
  ASSIGN_OR_RETURN(sim::ClusterRun run, ReadCluster(file, directory));
  for (const std::string& key : keys) {
    if (file.known().count(key) == 0) {
      return UnknownKey(file, key);
    }
  }
  const bool is_prompt = run.config.priority.order == QueueRule::kPrompt;
  run.estimates =
      estimates.value_or(is_prompt ? sim::Estimates::kLearned : sim::Estimates::kRequested);
  return run;
}

}  // namespace

absl::StatusOr<WhatifCluster> WhatifCluster::Load(const std::string& path) {
  ASSIGN_OR_RETURN(std::string text, ReadFile(path));
  WhatifCluster cluster(path, std::filesystem::path(path).parent_path().string(), std::move(text));
  RETURN_IF_ERROR(cluster.Under("").status());
  return cluster;
}

absl::StatusOr<WhatifCluster> WhatifCluster::OfOptions(const Invocation& invocation) {
  ASSIGN_OR_RETURN(std::string text, AlikeNodesText(invocation));
  return WhatifCluster("the options", "", std::move(text));
}

absl::StatusOr<sim::ClusterRun> WhatifCluster::Under(const std::string& change) const {
  ASSIGN_OR_RETURN(ConfigFile file, ConfigFile::Parse(text_, name_));
  if (file.KeysUnder("nodes").empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(name_, ": no nodes: write [nodes.NAME] with count = N and cpus = C"));
  }
  // Read even where it is changed: what the file cannot hold is known then.
  ASSIGN_OR_RETURN(sim::ClusterRun run, ReadCluster(file, directory_));
  RETURN_IF_ERROR(file.RefuseUnknownKeys());
  RETURN_IF_ERROR(CheckFailureSettings(run));
  if (change.empty()) {
    return run;
  }
  absl::StatusOr<sim::ClusterRun> changed = Changed(file, directory_, change);
  if (changed.ok()) {
    const absl::Status status = CheckFailureSettings(*changed);
    changed = status.ok() ? std::move(changed) : absl::StatusOr<sim::ClusterRun>(status);
  }
  return changed.ok()
             ? std::move(changed)
             : absl::InvalidArgumentError(absl::StrCat("--change: ", Quote(change), ": ",
                                                       std::string(changed.status().message())));
}

absl::StatusOr<bool> DescribesCluster(const std::string& path) {
  ASSIGN_OR_RETURN(const ConfigFile file, ConfigFile::Load(path));
  return !file.KeysUnder("nodes").empty() || !file.KeysUnder(kPolicy).empty();
}

}  // namespace muster::cli
