#pragma once

// The command line of sacct as what it asks for.
//
// Pure. Invariant: `since` is not after `until`.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/controller/query/job_choice.h"
#include "cli/frame/environment.h"
#include "cli/slurm/frame/words.h"
#include "cli/slurm/history/account_fields.h"

namespace muster::cli::slurm {

std::span<const Row> SacctRows();

// A step that --jobs names: of a job, "12.0" or "12.batch".
struct NamedStep {
  JobSelector job;
  std::optional<std::uint32_t> step;  // unset: the script
};

struct AccountColumn {
  const AccountField* field = nullptr;
  int width = 0;  // negative: to the left
};

struct SacctRequest {
  JobChoice choice;
  std::vector<NamedStep> steps;  // only these lines; empty: all
  Time since = kNoTime;
  Time until = kNoTime;
  bool allocations = false;  // --allocations: no lines of steps
  bool document = false;     // --json
  bool header = true;
  bool each_element = false;  // --array
  bool help = false;          // --helpformat
  bool parsable = false;
  bool ends_with_delimiter = false;
  std::string delimiter = "|";
  char unit = 0;
  std::vector<AccountColumn> columns;
  std::string clusters;
};

// Who asks, and when.
struct Asker {
  std::uint32_t uid = 0;
  Time now = kNoTime;
  absl::TimeZone zone;
};

// InvalidArgument: a line for stderr, with the command's name where Slurm has it.
absl::StatusOr<SacctRequest> ReadSacct(const Words& words, const Environment& environment,
                                       const Asker& asker);

// A moment of --starttime and --endtime, in any of Slurm's forms.
absl::StatusOr<Time> ReadMoment(const std::string& text, const Asker& asker);

}  // namespace muster::cli::slurm
