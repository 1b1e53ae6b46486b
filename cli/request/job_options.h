#pragma once

// The request options of submit and run: one table with Slurm's names, for the command line and
// for #MUSTER directives alike. #SBATCH directives are read by Slurm's own table first, and by ours
// where that has no such option.
//
// The command line wins over directives, a later directive over an earlier one. Options of the
// contract that this version lacks are in the table too, so that they are refused by name and not
// taken for typing errors. Pure. Invariants: every error begins with where it was found ("--mem:
// …", "job.sh:3: --mem: …").

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/frame/verb.h"
#include "cli/parse/request/directives.h"
#include "cli/request/job_request.h"

namespace muster::cli {

// An option as it was given, with the place for its errors.
struct GivenOption {
  std::string name;   // the table's long name
  std::string value;  // "" for flags
  std::string where;  // "--mem" or "job.sh:3: --mem"
  friend bool operator==(const GivenOption&, const GivenOption&) = default;
};

enum class JobVerb { kSubmit, kRun, kAlloc };

// The table as options of a verb; what is not in this version is there with an empty text.
std::vector<Option> JobOptions(JobVerb verb);

// Directives as options; `script` names the file in errors.
absl::StatusOr<std::vector<GivenOption>> ReadDirectives(const std::vector<DirectiveLine>& lines,
                                                        const std::string& script);

// What the environment asks for, as Slurm's: SBATCH_… for submit and SALLOC_… for alloc, as
// slurm_option_table has them, and SLURM_PARTITION, _ACCOUNT, _QOS and _RESERVATION for run. It
// stands over directives and below the command line.
absl::StatusOr<std::vector<GivenOption>> OptionsFrom(const Environment& environment, JobVerb verb);

// What a component of a heterogeneous job says: its own options over what it has of the first one
// (--account, --chdir, --comment, --export, --job-name, --time). `directives` are its own; options
// that concern the whole job are refused.
struct ComponentOptions {
  const std::map<std::string, std::string>& values;
  const std::vector<GivenOption>& directives;
};
absl::StatusOr<JobRequest> ReadComponentOptions(const ComponentOptions& first,
                                                const ComponentOptions& own,
                                                const std::vector<GivenOption>& environment,
                                                JobVerb verb, const ParseContext& context);

// The request of `values` (the command line's, by name; names that are not job options are passed
// over) over `directives`.
absl::StatusOr<JobRequest> ReadJobOptions(const std::map<std::string, std::string>& values,
                                          const std::vector<GivenOption>& directives, JobVerb verb,
                                          const ParseContext& context);

// --gpu-share: a part of a GPU; or a size, of which the controller makes one.
absl::Status ReadGpuShare(const std::string& value, JobRequest* request);
// An error where the request has such a size: nothing turns it into a part there.
absl::Status RefuseShareSize(const JobRequest& request);

}  // namespace muster::cli
