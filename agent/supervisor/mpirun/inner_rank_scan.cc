#include "agent/supervisor/mpirun/inner_rank_scan.h"

#include <unistd.h>

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "agent/supervisor/limits/process_tree.h"
#include "agent/supervisor/mpirun/inner_rank_wire.h"
#include "scheduler/runtime/file.h"

namespace muster::agent {
namespace {

bool NamesTorchrun(const std::string& text) {
  return absl::StrContains(text, "torchrun") || absl::StrContains(text, "torch.distributed");
}

}  // namespace

bool IsHydra(const Program& program) {
  const LauncherKind kind = LauncherOf(program.environment);
  return kind == LauncherKind::kHydra || kind == LauncherKind::kHydraAsPlanned;
}

bool StartsInnerRanks(const Program& program) {
  return IsHydra(program) || NamesTorchrun(program.script) ||
         std::any_of(program.argv.begin(), program.argv.end(), NamesTorchrun);
}

FoundRank RankOfEnvironment(const std::string& environ_text) {
  const std::vector<std::string> fields = UnpackFields(environ_text);
  FoundRank found;
  InnerRank& rank = found.rank;
  if (!ValueOf(fields, "MPI_LOCALNRANKS").empty() && !ValueOf(fields, "PMI_RANK").empty()) {
    rank.launcher = "an mpiexec";
    rank.rank = NumberOf(fields, "PMI_RANK");
    rank.size = NumberOf(fields, "PMI_SIZE");
    rank.local_rank = NumberOf(fields, "MPI_LOCALRANKID");
    rank.local_size = NumberOf(fields, "MPI_LOCALNRANKS");
    found.hydra_binding = ValueOf(fields, "HYDRA_BINDING");
  } else if (!ValueOf(fields, "TORCHELASTIC_RUN_ID").empty()) {
    rank.launcher = "a torchrun";
    rank.rank = NumberOf(fields, "RANK");
    rank.size = NumberOf(fields, "WORLD_SIZE");
    rank.local_rank = NumberOf(fields, "LOCAL_RANK");
    rank.local_size = NumberOf(fields, "LOCAL_WORLD_SIZE");
  } else {
    rank.launcher.clear();
  }
  return found;
}

std::vector<FoundRank> FindInnerRanks() {
  std::vector<FoundRank> ranks;
  std::set<pid_t> at_or_below;
  for (const pid_t pid : Descendants(getpid())) {
    if (at_or_below.count(ParentOf(pid)) != 0) {
      at_or_below.insert(pid);
      continue;
    }
    const absl::StatusOr<std::string> text = ReadFile(absl::StrCat("/proc/", pid, "/environ"));
    FoundRank found = text.ok() ? RankOfEnvironment(*text) : RankOfEnvironment("");
    if (!found.rank.launcher.empty()) {
      found.pid = pid;
      at_or_below.insert(pid);
      ranks.push_back(std::move(found));
    }
  }
  return ranks;
}

}  // namespace muster::agent
