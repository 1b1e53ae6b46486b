#include "cli/slurm/frame/states.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "cli/slurm/frame/words.h"
#include "scheduler/model/job/job_state.h"

namespace muster::cli::slurm {
namespace {

// States that Slurm has and Muster has not: no job is in them.
constexpr const char* kForeignStates[][2] = {
    {"BOOT_FAIL", "BF"},     {"LAUNCH_FAILED", "LF"}, {"RECONFIG_FAIL", "RF"},
    {"POWER_UP_NODE", "PU"}, {"REQUEUED", "RQ"},      {"REQUEUE_FED", "RF"},
    {"REQUEUE_HOLD", "RH"},  {"RESIZING", "RS"},      {"RESV_DEL_HOLD", "RD"},
    {"REVOKED", "RV"},       {"SIGNALING", "SI"},     {"SPECIAL_EXIT", "SE"},
    {"STAGE_OUT", "SO"},     {"STOPPED", "ST"}};

bool AddState(const std::string& word, std::vector<std::string>& names) {
  const std::string upper = absl::AsciiStrToUpper(word);
  for (const JobStateName& known : kJobStateNames) {
    if (upper == known.name || upper == known.code) {
      names.emplace_back(known.name);
      if (IsRunning(known.state)) {
        names.emplace_back(Name(JobState::kConfiguring));
      }
      return true;
    }
  }
  return std::any_of(
      std::begin(kForeignStates), std::end(kForeignStates),
      [&upper](const auto& state) { return upper == state[0] || upper == state[1]; });
}

}  // namespace

absl::StatusOr<std::vector<std::string>> ReadStates(const std::string& text) {
  std::vector<std::string> names;
  for (const std::string& word : SplitCommas(text)) {
    if (absl::EqualsIgnoreCase(word, "all")) {
      return std::vector<std::string>();
    }
    if (!AddState(word, names)) {
      return absl::InvalidArgumentError(absl::StrCat("Invalid job state specified: ", word));
    }
  }
  // None of ours: a name that no job's state has.
  return names.empty() ? std::vector<std::string>{"-"} : names;
}

}  // namespace muster::cli::slurm
