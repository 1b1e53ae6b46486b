#include <filesystem>
#include <iostream>

#include "absl/strings/str_cat.h"
#include "cli/frame/verbs.h"
#include "cli/moving/conf_lines.h"
#include "cli/moving/dump_import.h"
#include "cli/moving/moved_settings.h"
#include "cli/moving/settings_import.h"
#include "scheduler/base/status.h"
#include "scheduler/model/settings/scheduler_config.h"
#include "scheduler/runtime/config_file.h"
#include "scheduler/runtime/file.h"
#include "scheduler/settings/policy_tables.h"
#include "scheduler/settings/settings_file.h"
#include "topology/network/slurm_topology.h"

namespace muster::cli {
namespace {

constexpr const char* kWritten = "musterd.toml";

absl::StatusOr<std::string> Read(const std::string& path) {
  const absl::StatusOr<std::string> text = ReadFile(path);
  return text.ok() ? text
                   : absl::StatusOr<std::string>(
                         absl::FailedPreconditionError(std::string(text.status().message())));
}

// The network as musterd will read it from the same file.
absl::Status ImportTopology(const std::string& path, MovedSettings* settings) {
  ASSIGN_OR_RETURN(const std::string text, Read(path));
  const std::string name = std::filesystem::path(path).filename().string();
  const bool yaml = std::filesystem::path(path).extension() == ".yaml";
  ASSIGN_OR_RETURN(const Network network, yaml ? topology::ParseSlurmTopologyYaml(text, name)
                                               : topology::ParseSlurmTopology(text, name));
  for (const std::string& remark : network.remarks) {
    settings->Remark(name, "network", remark);
  }
  std::error_code unknown;
  settings->SetText("", "network", std::filesystem::absolute(path, unknown).string());
  return absl::OkStatus();
}

// What musterd would say of it.
absl::Status CheckWritten(const std::string& text) {
  ASSIGN_OR_RETURN(ConfigFile file, ConfigFile::Parse(text, kWritten));
  SchedulerConfig policy = DefaultSettings();
  RETURN_IF_ERROR(ReadSettings(file, policy));
  ASSIGN_OR_RETURN(const std::vector<PolicyObject> objects, ReadPolicy(file));
  return CheckPolicyFile(file, SitePolicy(), objects);
}

absl::StatusOr<int> Import(const Invocation& invocation) {
  MovedSettings settings;
  ASSIGN_OR_RETURN(const std::vector<ConfLine> lines,
                   ReadConfLines(invocation.arguments.front(), Read));
  ImportSettings(lines, &settings);
  if (const std::string path = invocation.Value("sacctmgr-dump"); !path.empty()) {
    ASSIGN_OR_RETURN(const std::string text, Read(path));
    RETURN_IF_ERROR(ImportDump(text, std::filesystem::path(path).filename().string(), &settings));
  }
  if (const std::string path = invocation.Value("topology"); !path.empty()) {
    RETURN_IF_ERROR(ImportTopology(path, &settings));
  }
  const std::string text = settings.Write();
  std::cout << text << std::flush;
  if (const absl::Status accepted = CheckWritten(text); !accepted.ok()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "what was written is not yet a configuration: ", std::string(accepted.message())));
  }
  return 0;
}

}  // namespace

Verb ImportVerb() {
  Verb verb;
  verb.name = "import";
  verb.purpose = "Write Muster's configuration from Slurm's";
  verb.synopsis = "slurm.conf";
  verb.examples = {"muster import /etc/slurm/slurm.conf >musterd.toml",
                   "muster import slurm.conf --sacctmgr-dump cluster.cfg --topology topology.conf"};
  verb.remarks =
      "Prints a musterd.toml: settings, partitions, accounts and users, as musterd takes them. "
      "What\n"
      "agents need is a comment after it, and so is a line for each thing that has no\n"
      "counterpart, with the reason. Nothing is changed anywhere.";
  verb.options = {{.name = "sacctmgr-dump",
                   .letter = 0,
                   .metavar = "FILE",
                   .text = "Accounts and users too, as `sacctmgr dump CLUSTER` wrote them"},
                  {.name = "topology",
                   .letter = 0,
                   .metavar = "FILE",
                   .text = "The network too: topology.conf or topology.yaml"}};
  verb.arguments_min = 1;
  verb.arguments_max = 1;
  verb.run = Import;
  return verb;
}

}  // namespace muster::cli
