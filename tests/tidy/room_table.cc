// The table of rooms: a row for each folder that includes others of its wing.
#include <iterator>

#include "tests/tidy/rooms.h"

namespace muster::tidy {

namespace {

constexpr RoomRow kRows[] = {
    {"scheduler/model", "change", "job machine plan policy value"},
    {"scheduler/model", "job", "machine policy value"},
    {"scheduler/model", "machine", "value"},
    {"scheduler/model", "plan", "job machine policy settings value"},
    {"scheduler/model", "policy", "value"},
    {"scheduler/model", "settings", "job machine policy value"},
    {"scheduler/model", "view", "job machine plan policy settings value"},
    {"scheduler/core", "explain",
     "place place/nodes plan plan/queue plan/search policy state state/books"},
    {"scheduler/core", "handle",
     "handle/attempts handle/nodes handle/steps handle/submit place policy share state "
     "state/books"},
    {"scheduler/core", "handle/attempts", "handle/steps place policy state state/books"},
    {"scheduler/core", "handle/nodes", "handle/attempts place/nodes policy state state/books"},
    {"scheduler/core", "handle/steps", "place place/nodes policy state state/books"},
    {"scheduler/core", "handle/submit", "place place/nodes policy state state/books"},
    {"scheduler/core", "place", "state/books"},
    {"scheduler/core", "place/nodes", "place"},
    {"scheduler/core", "place/worth", "place place/nodes"},
    {"scheduler/core", "plan",
     "place/nodes plan/availability plan/cycle plan/queue plan/search state state/books"},
    {"scheduler/core", "plan/availability", "place place/nodes policy"},
    {"scheduler/core", "plan/cycle",
     "place plan/availability plan/queue plan/search policy state/books"},
    {"scheduler/core", "plan/queue", "policy share state/books"},
    {"scheduler/core", "plan/search", "place place/nodes plan/availability policy state/books"},
    {"scheduler/core", "policy", "place/nodes state/books"},
    {"scheduler/core", "state", "state/apply state/books"},
    {"scheduler/core", "state/apply", "state/books"},
    {"scheduler/core", "state/books", "share"},
    {"scheduler/simulator", "cluster", "flat schedule workload"},
    {"scheduler/simulator", "crash", "cluster"},
    {"scheduler/simulator", "flat", ". readers schedule workload"},
    {"scheduler/simulator", "forecast", ". flat"},
    {"scheduler/simulator", "readers", "."},
    {"scheduler/simulator", "report", "cluster flat readers schedule"},
    {"scheduler/simulator", "schedule", ". readers"},
    {"scheduler/simulator", "workload", ". readers"},
    {"scheduler/runtime", "cgroup", "."},
    {"scheduler/runtime", "identity", "."},
    {"topology", ".", "gpu hwloc"},
    {"topology", "bind", "gpu"},
    {"topology", "captured", "hwloc"},
    {"topology", "gpu", "hwloc"},
    {"daemon", ".", "access agents client controller door serve store"},
    {"daemon", "access", "controller door"},
    {"daemon", "agents", "access controller"},
    {"daemon", "client", "access agents client/outside controller store"},
    {"daemon", "client/outside", "access controller"},
    {"daemon", "controller", "store"},
    {"daemon", "gateway", "gateway/http gateway/link gateway/page gateway/rest"},
    {"daemon", "gateway/rest", "gateway/http"},
    {"daemon", "replay", "controller store"},
    {"daemon", "serve", "access controller door"},
    {"agent", ".",
     "attempts link node supervisor/attempt supervisor/criu supervisor/launch supervisor/limits"},
    {"agent", "attempts", "supervisor/attempt supervisor/scripts supervisor/user_space"},
    {"agent", "kernels/cpu", "kernels/harness"},
    {"agent", "kernels/gpu", "kernels/harness"},
    {"agent", "kernels/health", "kernels/cpu kernels/harness"},
    {"agent", "kernels/mpi", "kernels/harness"},
    {"agent", "link", "attempts supervisor/attempt"},
    {"agent", "node", "attempts supervisor/attempt"},
    {"agent", "supervisor",
     "supervisor/attempt supervisor/checkpoint supervisor/criu supervisor/ending "
     "supervisor/exchange supervisor/launch supervisor/limits supervisor/mpi supervisor/mpirun "
     "supervisor/scripts supervisor/step supervisor/user_space"},
    {"agent", "supervisor/attempt", "supervisor/user_space"},
    {"agent", "supervisor/checkpoint",
     "supervisor/attempt supervisor/ending supervisor/limits supervisor/user_space"},
    {"agent", "supervisor/criu",
     "supervisor/attempt supervisor/checkpoint supervisor/ending supervisor/launch "
     "supervisor/limits supervisor/step supervisor/user_space"},
    {"agent", "supervisor/ending", "supervisor/limits"},
    {"agent", "supervisor/launch",
     "supervisor/attempt supervisor/exchange supervisor/mpirun supervisor/user_space "
     "supervisor/variables"},
    {"agent", "supervisor/limits", "supervisor/attempt"},
    {"agent", "supervisor/mpi", "supervisor/exchange supervisor/user_space"},
    {"agent", "supervisor/mpirun",
     "supervisor/attempt supervisor/exchange supervisor/limits supervisor/user_space "
     "supervisor/variables"},
    {"agent", "supervisor/scripts",
     "supervisor/attempt supervisor/ending supervisor/launch supervisor/limits "
     "supervisor/user_space"},
    {"agent", "supervisor/step",
     "supervisor/attempt supervisor/launch supervisor/limits supervisor/mpi "
     "supervisor/user_space supervisor/variables"},
    {"agent", "supervisor/variables", "supervisor/attempt"},
    {"checkpoint", ".", "group"},
    {"checkpoint", "advice", "disk"},
    {"checkpoint", "examples", "."},
    {"checkpoint", "group", "disk parity session store"},
    {"checkpoint", "parity", "disk"},
    {"checkpoint", "session", "advice disk store"},
    {"checkpoint", "store", "advice disk"},
    {"cli", ".", "controller frame"},
    {"cli", "checkpoint", "frame page parse parse/request"},
    {"cli", "cluster", "controller frame page parse place sheet up"},
    {"cli", "controller", "frame page parse sheet"},
    {"cli", "frame", "page parse"},
    {"cli", "jobs", "controller frame jobs/submit page parse request sheet"},
    {"cli", "jobs/submit", "controller frame page parse parse/request request"},
    {"cli", "kernel", "controller frame page parse picture"},
    {"cli", "manual", "frame"},
    {"cli", "parse/request", "parse"},
    {"cli", "picture", "page sheet"},
    {"cli", "place", "controller frame page parse parse/request picture request sheet up"},
    {"cli", "request", "frame parse parse/request"},
    {"cli", "run", "controller frame page parse parse/request request run/stream"},
    {"cli", "run/stream", "frame"},
    {"cli", "share", "controller frame page parse sheet"},
    {"cli", "sheet", "page parse"},
    {"cli", "simulate", "frame page parse parse/request up"},
    {"cli", "slurm",
     "controller page slurm/accounts slurm/control slurm/frame slurm/history slurm/nodes "
     "slurm/queue slurm/submit"},
    {"cli", "slurm/accounts", "slurm/format slurm/frame"},
    {"cli", "slurm/control",
     "controller page parse request sheet slurm/format slurm/frame slurm/nodes"},
    {"cli", "slurm/format", "frame page parse sheet"},
    {"cli", "slurm/frame", "controller frame page parse"},
    {"cli", "slurm/history", "controller frame page parse sheet slurm/format slurm/frame"},
    {"cli", "slurm/links", "frame"},
    {"cli", "slurm/nodes", "frame page parse slurm/format slurm/frame"},
    {"cli", "slurm/queue", "controller frame page parse sheet slurm/format slurm/frame"},
    {"cli", "slurm/submit", "controller frame jobs/submit page parse request run slurm/frame"},
    {"cli", "up", "controller frame page parse parse/request slurm/links"},
    {"cli", "whatif", "controller frame page parse simulate"},
};

}  // namespace

const std::vector<RoomRow>& RoomTable() {
  static const std::vector<RoomRow> table(std::begin(kRows), std::end(kRows));
  return table;
}

}  // namespace muster::tidy
