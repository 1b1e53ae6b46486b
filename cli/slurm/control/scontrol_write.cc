#include "cli/slurm/control/scontrol_write.h"

#include <sys/types.h>

#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "cli/parse/selector.h"
#include "cli/slurm/frame/cluster.h"
#include "cli/slurm/frame/errors.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/file.h"

namespace muster::cli::slurm {
namespace {

constexpr std::string_view kBatchScript = "batch_script";
constexpr mode_t kScriptMode = 0700;

absl::StatusOr<std::string> ScriptOf(const Call& call, const std::string& id) {
  const absl::StatusOr<JobSelector> job = ParseSelector(id);
  if (!job.ok()) {
    return absl::NotFoundError("");
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, OpenCluster(call));
  ASSIGN_OR_RETURN(const std::vector<JobDetail> details,
                   connection->Call(ShowJob{ById(*job), true}));
  if (details.front().work_dir.empty()) {  // what only its owner is told
    return absl::PermissionDeniedError("");
  }
  return details.front().script;
}

}  // namespace

int WriteEntity(const ControlCall& call) {
  const std::string entity = absl::AsciiStrToLower(call.words.front());
  if (entity.empty() || kBatchScript.substr(0, entity.size()) != entity) {
    return FailPlainly(call.call,
                       absl::StrCat("invalid entity:", call.words.front(), " for keyword:write"));
  }
  if (call.words.size() < 2 || call.words.size() > 3) {
    return FailPlainly(call.call, call.words.size() < 2 ? "too few arguments for keyword:write"
                                                        : "too many arguments for keyword:write");
  }
  const std::string& id = call.words[1];
  const absl::StatusOr<std::string> script = ScriptOf(call.call, id);
  if (!script.ok() || script->empty()) {
    const absl::Status why = script.ok() ? absl::NotFoundError("") : script.status();
    return Fail(call.call, absl::StrCat("job script retrieval failed: ", SlurmText(why)));
  }
  const std::string file =
      call.words.size() > 2 ? call.words[2] : absl::StrCat("slurm-", id, ".sh");
  if (file == "-") {
    call.call.out << *script << std::flush;
    return 0;
  }
  if (const absl::Status written = WriteFileAtomically(file, *script, kScriptMode); !written.ok()) {
    return Fail(call.call,
                absl::StrCat("failed to open file `", file, "`: ", std::string(written.message())));
  }
  if (!call.quiet) {
    call.call.out << "batch script for job " << id << " written to " << file << "\n" << std::flush;
  }
  return 0;
}

}  // namespace muster::cli::slurm
