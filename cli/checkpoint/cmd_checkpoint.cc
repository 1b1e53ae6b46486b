#include <array>

#include "absl/strings/str_cat.h"
#include "cli/checkpoint/checkpoint_carry.h"
#include "cli/checkpoint/checkpoint_directory.h"
#include "cli/checkpoint/checkpoint_interval.h"
#include "cli/checkpoint/checkpoint_usage.h"
#include "cli/frame/subcommand.h"
#include "cli/frame/verbs.h"
#include "scheduler/base/status.h"

namespace muster::cli {
namespace {

struct Command {
  const char* name;
  bool takes_directory;
  bool takes_several;
  absl::StatusOr<int> (*run)(const Invocation&);
};

constexpr std::array<Command, 9> kCommands = {{{"interval", false, false, CheckpointInterval},
                                               {"list", true, false, CheckpointList},
                                               {"verify", true, false, CheckpointVerify},
                                               {"prune", true, true, CheckpointPrune},
                                               {"usage", false, false, CheckpointUsage},
                                               {"push", true, true, CheckpointPush},
                                               {"fetch", true, true, CheckpointFetch},
                                               {"admit", true, false, CheckpointAdmit},
                                               {"carry", true, true, CheckpointCarry}}};

absl::StatusOr<int> Checkpoint(const Invocation& invocation) {
  const std::string& command = invocation.arguments.front();
  ASSIGN_OR_RETURN(const Command* const found, FindSubcommand(kCommands, "checkpoint", command));
  const std::size_t given = invocation.arguments.size();
  if (given != (found->takes_directory ? 2 : 1) && !(found->takes_several && given > 2)) {
    return absl::InvalidArgumentError(absl::StrCat(command,
                                                   found->takes_directory
                                                       ? ": name one directory: muster checkpoint "
                                                       : ": takes no argument: muster checkpoint ",
                                                   command, found->takes_directory ? " DIR" : ""));
  }
  return found->run(invocation);
}

}  // namespace

Verb CheckpointVerb() {
  Verb verb;
  verb.name = "checkpoint";
  verb.purpose = "Compute how often to checkpoint; list, verify, prune and count checkpoints";
  verb.synopsis = "interval|list DIR|verify DIR|prune DIR…|usage|push DIR PLACE|fetch DIR PLACE";
  verb.forms = {"interval --cost D --mtbf D [options]",
                "interval --level D/D [--level D/D…]",
                "list|verify DIR [options]",
                "prune DIR… [options]",
                "usage [--json]",
                "push|fetch DIR REMOTE:PATH"};
  verb.examples = {"muster checkpoint interval --cost 5m --mtbf 24h --restart 10m",
                   "muster checkpoint interval --cost 90s --mtbf 1d12h --json",
                   "muster checkpoint interval --level 2s/8h --level 8s/24h --level 120s/168h",
                   "muster checkpoint verify state",
                   "muster checkpoint prune state --keep 1",
                   "muster checkpoint usage",
                   "muster checkpoint push muster-12.checkpoint s3:bucket/state"};
  verb.remarks =
      "D is a duration: 90s, 5m, 24h, 1d12h, 250ms, or as in Slurm minutes, MM:SS, HH:MM:SS, "
      "D-HH:MM:SS.\n"
      "An interval is the work between the end of one checkpoint and the beginning of the next.\n"
      "OVERHEAD is the expected time over that without failures and checkpoints, minus 1.\n";
  verb.options = CheckpointIntervalOptions();
  for (const Option& option : CheckpointDirectoryOptions()) {
    verb.options.push_back(option);
  }
  for (const Option& option : CheckpointAdmitOptions()) {
    verb.options.push_back(option);
  }
  verb.options.push_back(JsonOption());
  verb.arguments_min = 1;
  verb.arguments_max = kAnyNumber;
  verb.run = Checkpoint;
  return verb;
}

}  // namespace muster::cli
