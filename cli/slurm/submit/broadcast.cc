#include "cli/slurm/submit/broadcast.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "cli/frame/verbs.h"
#include "cli/request/program_path.h"
#include "scheduler/base/status.h"

namespace muster::cli::slurm {

std::string BroadcastPath(const std::string& destination, const std::string& program,
                          const std::string& job) {
  if (!destination.empty() && destination.back() != '/') {
    return destination;
  }
  return absl::StrCat(destination, "slurm_bcast_", job, "_",
                      program.substr(program.rfind('/') + 1));
}

absl::Status BroadcastProgram(const Environment& environment, Words& words) {
  std::string& command = words.operands.front();
  ASSIGN_OR_RETURN(const std::string program,
                   FindProgram(command, words.Value("chdir"), environment));
  const std::string path =
      BroadcastPath(words.Value("bcast"), program, environment.Get("MUSTER_JOB_ID"));
  static const std::vector<Verb> verbs;
  const Invocation cast{.environment = environment,
                        .verbs = verbs,
                        .values = {{"force", ""}},
                        .arguments = {program, path}};
  ASSIGN_OR_RETURN(const int code, CastVerb().run(cast));
  if (code != 0) {
    return absl::AbortedError(absl::StrCat("--bcast: ", program, " was not copied to all nodes"));
  }
  command = path.find('/') == std::string::npos ? absl::StrCat("./", path) : path;
  return absl::OkStatus();
}

}  // namespace muster::cli::slurm
