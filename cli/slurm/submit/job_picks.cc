#include "cli/slurm/submit/job_picks.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/host_list.h"
#include "scheduler/model/job/job_state.h"

namespace muster::cli::slurm {
namespace {

using Names = std::vector<std::string>;

// Every value of the option, those of its repetitions too.
Names All(const Words& words, std::string_view option) {
  Names all;
  for (const GivenWord& word : words.options) {
    if (word.name == option) {
      const Names some = SplitCommas(word.value);
      all.insert(all.end(), some.begin(), some.end());
    }
  }
  return all;
}

// The states that can be ended, by their names, codes and beginnings of names.
absl::StatusOr<std::string> StateOf(const std::string& text) {
  const std::string upper = absl::AsciiStrToUpper(text);
  for (const JobState state : {JobState::kPending, JobState::kRunning, JobState::kSuspended}) {
    const std::string name = Name(state);
    if (upper == Code(state) || (upper.size() > 1 && name.substr(0, upper.size()) == upper)) {
      return name;
    }
  }
  return absl::InvalidArgumentError(
      absl::StrCat("Invalid job state specified: ", text,
                   ": Valid job states are PENDING, RUNNING, and SUSPENDED"));
}

}  // namespace

absl::StatusOr<JobChoice> ReadPicks(const Words& words, const std::string& self) {
  JobChoice picks;
  if (const std::string user = words.Has("me") ? self : words.Value("user"); !user.empty()) {
    picks.users = {user};
  }
  picks.names = All(words, "name");
  picks.accounts = All(words, "account");
  picks.partitions = All(words, "partition");
  picks.qos = All(words, "qos");
  picks.reservations = All(words, "reservation");
  for (const std::string& text : All(words, "state")) {
    ASSIGN_OR_RETURN(std::string state, StateOf(text));
    picks.states.push_back(std::move(state));
  }
  if (words.Has("nodelist")) {
    absl::StatusOr<Names> nodes = NodeNames(words.Value("nodelist"));
    if (!nodes.ok()) {
      return absl::InvalidArgumentError("scancel: error: Invalid node name specified");
    }
    picks.nodes = *std::move(nodes);
  }
  return picks;
}

bool Selects(const JobChoice& picks) {
  return !picks.users.empty() || !picks.names.empty() || !picks.accounts.empty() ||
         !picks.partitions.empty() || !picks.qos.empty() || !picks.reservations.empty() ||
         !picks.states.empty() || !picks.nodes.empty();
}

}  // namespace muster::cli::slurm
