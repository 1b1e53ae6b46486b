#include "cli/cmd_checkpoint.h"

#include "absl/strings/str_cat.h"
#include "cli/checkpoint_interval.h"
#include "cli/parse/number.h"

namespace muster {
namespace {

absl::StatusOr<int> Checkpoint(const Invocation& invocation) {
  const std::string& command = invocation.arguments.front();
  if (command != "interval") {
    return absl::InvalidArgumentError(
        absl::StrCat(Quote(command), " is not a checkpoint command: use interval"));
  }
  return CheckpointInterval(invocation);
}

}  // namespace

Verb CheckpointVerb() {
  Verb verb;
  verb.name = "checkpoint";
  verb.purpose = "Tell how often to checkpoint, and what it costs";
  verb.synopsis = "interval";
  verb.examples = {"muster checkpoint interval --cost 5m --mtbf 24h --restart 10m",
                   "muster checkpoint interval --cost 90s --mtbf 1d12h --json"};
  verb.remarks =
      "D is a duration: 90s, 5m, 24h, 1d12h, 250ms, or as in Slurm minutes, MM:SS, HH:MM:SS, "
      "D-HH:MM:SS.\n"
      "An interval is the work between the end of one checkpoint and the beginning of the next.\n"
      "OVERHEAD is the expected time over that without failures and checkpoints, minus 1.\n";
  verb.options = CheckpointIntervalOptions();
  verb.options.push_back(JsonOption());
  verb.arguments_min = 1;
  verb.arguments_max = 1;
  verb.run = Checkpoint;
  return verb;
}

}  // namespace muster
