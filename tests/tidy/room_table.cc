// The table of rooms: a row for each folder that includes others of its wing.
#include <iterator>

#include "tests/tidy/rooms.h"

namespace muster::tidy {

namespace {

constexpr RoomRow kRows[] = {
    {"scheduler/base", "text", "."},
    {"scheduler/model", "change", "job machine plan policy value"},
    {"scheduler/model", "job", "machine policy value"},
    {"scheduler/model", "machine", "value"},
    {"scheduler/model", "plan", "job machine policy settings value"},
    {"scheduler/model", "policy", "value"},
    {"scheduler/model", "request", "change job machine policy value view"},
    {"scheduler/model", "settings", "job machine policy value"},
    {"scheduler/model", "view", "job machine plan policy settings value"},
    {"scheduler/core", "explain",
     "place place/nodes plan plan/queue plan/search policy state state/tables"},
    {"scheduler/core", "handle",
     "handle/attempts handle/nodes handle/steps handle/submit mig place place/nodes policy share "
     "state state/tables"},
    {"scheduler/core", "handle/attempts",
     "handle/steps handle/submit place policy state state/tables"},
    {"scheduler/core", "handle/nodes",
     "handle/attempts mig place/nodes policy power state state/tables"},
    {"scheduler/core", "handle/steps", "place place/nodes policy state state/tables"},
    {"scheduler/core", "handle/submit",
     "place place/nodes plan/search policy power state state/tables"},
    {"scheduler/core", "mig", "place"},
    {"scheduler/core", "place", "state/tables"},
    {"scheduler/core", "place/nodes", "place state/tables"},
    {"scheduler/core", "place/worth", "place place/nodes"},
    {"scheduler/core", "plan",
     "mig place place/nodes plan/availability plan/cycle plan/queue plan/search power state "
     "state/tables"},
    {"scheduler/core", "plan/availability", "place place/nodes policy state/tables"},
    {"scheduler/core", "plan/cycle",
     "place place/nodes plan/availability plan/queue plan/search plan/start policy prompt "
     "state/tables"},
    {"scheduler/core", "plan/queue", "place/nodes policy prompt share state/tables"},
    {"scheduler/core", "plan/search",
     "mig place place/nodes place/worth plan/availability policy power state/tables"},
    {"scheduler/core", "plan/start",
     "place plan/availability plan/search policy power state/tables"},
    {"scheduler/core", "policy", "place/nodes state/tables"},
    {"scheduler/core", "state", "state/apply state/tables"},
    {"scheduler/core", "state/apply", "power state/tables"},
    {"scheduler/core", "state/tables", "share"},
    {"scheduler/simulator", "cluster", "flat schedule workload"},
    {"scheduler/simulator", "crash", ". cluster life questions workload"},
    {"scheduler/simulator", "flat", ". readers schedule workload"},
    {"scheduler/simulator", "forecast", ". flat"},
    {"scheduler/simulator", "life", ""},
    {"scheduler/simulator", "questions", ". workload"},
    {"scheduler/simulator", "readers", "."},
    {"scheduler/simulator", "report", "cluster flat readers schedule"},
    {"scheduler/simulator", "schedule", ". readers"},
    {"scheduler/simulator", "workload", ". readers"},
    {"scheduler/runtime", "cgroup", "."},
    {"scheduler/runtime", "identity", "."},
    {"scheduler/runtime", "program", "."},
    {"scheduler/runtime", "sealed", "."},
    {"scheduler/runtime", "service", "."},
    {"topology", ".", "gpu hwloc"},
    {"topology", "bind", "gpu"},
    {"topology", "captured", "hwloc"},
    {"topology", "gpu", "hwloc"},
    {"daemon", ".", "access access/rights agents client controller door leading serve store"},
    {"daemon", "access", "access/rights access/site controller door"},
    {"daemon", "agents", "access controller door"},
    {"daemon", "alerts", "agents controller leading"},
    {"daemon", "client",
     "access access/rights agents alerts client/events client/outside client/views controller door "
     "store store/archive"},
    {"daemon", "client/events", "access controller events store"},
    {"daemon", "client/outside", "access agents client/views controller"},
    {"daemon", "client/views", "access access/rights"},
    {"daemon", "controller", "controller/cycle events power store"},
    {"daemon", "gateway",
     "gateway/http gateway/link gateway/page gateway/rest gateway/slurm gateway/stream"},
    {"daemon", "gateway/http", "door"},
    {"daemon", "gateway/rest", "gateway/http"},
    {"daemon", "gateway/slurm", "gateway/http gateway/link"},
    {"daemon", "gateway/stream", "gateway/http gateway/link"},
    {"daemon", "leading", "access controller store store/database store/rows"},
    {"daemon", "replay", "controller store/archive"},
    {"daemon", "serve",
     "access access/rights access/site agents alerts client/views controller door leading power "
     "store "
     "store/archive store/rows"},
    {"daemon", "store", "store/database store/postgres store/rows store/sqlite"},
    {"daemon", "store/archive", "store store/database store/postgres store/rows store/sqlite"},
    {"daemon", "store/copy", "store/database store/postgres store/sqlite"},
    {"daemon", "store/postgres", "store/database"},
    {"daemon", "store/rows", "store/database"},
    {"daemon", "store/sqlite", "store/database"},
    {"agent", ".",
     "attempts attempts/place link node node/files node/network node/pace questions "
     "supervisor/attempt supervisor/criu supervisor/image/cache supervisor/launch "
     "supervisor/limits "
     "supervisor/user_space"},
    {"agent", "attempts",
     "attempts/place supervisor/attempt supervisor/launch supervisor/scripts "
     "supervisor/user_space"},
    {"agent", "attempts/place", "supervisor/attempt"},
    {"agent", "kernels/cpu", "kernels/harness kernels/place"},
    {"agent", "kernels/gpu", "kernels/harness kernels/place"},
    {"agent", "kernels/harness", "kernels/place"},
    {"agent", "kernels/health", "kernels/cpu kernels/harness kernels/place"},
    {"agent", "kernels/heat", "kernels/harness kernels/mpi kernels/place"},
    {"agent", "kernels/mpi", "kernels/harness kernels/place"},
    {"agent", "link", "attempts/place supervisor/attempt"},
    {"agent", "node", "attempts attempts/place node/counters node/files node/network supervisor/attempt"},
    {"agent", "node/pace", "attempts attempts/place node supervisor/attempt"},
    {"agent", "pam", "supervisor/sessions"},
    {"agent", "questions",
     "attempts/place node/network supervisor/attempt supervisor/image/cache "
     "supervisor/user_space"},
    {"agent", "supervisor",
     "supervisor/attempt supervisor/checkpoint supervisor/container supervisor/criu "
     "supervisor/ending supervisor/launch supervisor/limits supervisor/mpi "
     "supervisor/mpirun "
     "supervisor/pmix supervisor/scripts supervisor/sessions supervisor/step "
     "supervisor/user_space supervisor/values"},
    {"agent", "supervisor/attempt", "supervisor/user_space"},
    {"agent", "supervisor/checkpoint",
     "supervisor/attempt supervisor/ending supervisor/limits supervisor/user_space"},
    {"agent", "supervisor/container",
     "supervisor/attempt supervisor/launch supervisor/limits supervisor/mpirun "
     "supervisor/user_space"},
    {"agent", "supervisor/criu",
     "supervisor/attempt supervisor/checkpoint supervisor/ending supervisor/launch "
     "supervisor/limits supervisor/step supervisor/user_space"},
    {"agent", "supervisor/ending", "supervisor/limits"},
    {"agent", "supervisor/exchange", "supervisor/user_space"},
    {"agent", "supervisor/image",
     "supervisor/attempt supervisor/image/cache supervisor/image/layout supervisor/image/system "
     "supervisor/user_space"},
    {"agent", "supervisor/image/cache", "supervisor/attempt supervisor/user_space"},
    {"agent", "supervisor/image/layout",
     "supervisor/attempt supervisor/image/cache supervisor/user_space"},
    {"agent", "supervisor/image/system", ""},
    {"agent", "supervisor/launch",
     "supervisor/attempt supervisor/mpirun supervisor/user_space "
     "supervisor/variables"},
    {"agent", "supervisor/limits", "supervisor/attempt"},
    {"agent", "supervisor/mpi", "supervisor/exchange supervisor/pmix supervisor/user_space"},
    {"agent", "supervisor/mpirun",
     "supervisor/attempt supervisor/limits supervisor/user_space "
     "supervisor/variables"},
    {"agent", "supervisor/pmix", "supervisor/launch supervisor/user_space"},
    {"agent", "supervisor/scripts",
     "supervisor/attempt supervisor/ending supervisor/launch supervisor/limits "
     "supervisor/user_space"},
    {"agent", "supervisor/sessions",
     "supervisor/attempt supervisor/launch supervisor/limits supervisor/user_space"},
    {"agent", "supervisor/step",
     "supervisor/attempt supervisor/container supervisor/launch supervisor/limits supervisor/mpi "
     "supervisor/user_space supervisor/variables"},
    {"agent", "supervisor/values", "supervisor/attempt supervisor/user_space"},
    {"agent", "supervisor/variables", "supervisor/attempt"},
    {"checkpoint", ".", "disk group store"},
    {"checkpoint", "advice", "disk"},
    {"checkpoint", "examples", "."},
    {"checkpoint", "group", "disk parity session store"},
    {"checkpoint", "parity", "disk"},
    {"checkpoint", "session", "advice disk store"},
    {"checkpoint", "store", "advice disk"},
    {"cli", ".", "controller frame"},
    {"cli", "alerts", "controller frame page"},
    {"cli", "checkpoint", "controller controller/query frame page parse parse/request stage"},
    {"cli", "cluster",
     "controller controller/query controller/streams frame links page parse place sheet "
     "sheet/timeline up"},
    {"cli", "compare", "controller controller/query frame page parse"},
    {"cli", "connect", "frame page request run"},
    {"cli", "controller", "frame parse"},
    {"cli", "controller/query", "controller frame parse sheet"},
    {"cli", "controller/streams", "controller"},
    {"cli", "dev",
     "connect controller controller/query frame images jobs/submit page parse request "
     "run"},
    {"cli", "frame", "page parse"},
    {"cli", "drill",
     "checkpoint controller controller/query frame jobs/submit page parse request request/record"},
    {"cli", "estimate", "controller/query frame page parse parse/request"},
    {"cli", "images", "controller frame page request request/container"},
    {"cli", "jobs",
     "controller controller/query controller/streams frame images jobs/submit page parse "
     "parse/request request sheet sheet/timeline stage tell"},
    {"cli", "jobs/submit", "controller frame page parse parse/request request"},
    {"cli", "kernel", "controller frame page parse picture"},
    {"cli", "links", "controller frame kernel page parse"},
    {"cli", "live", "controller controller/query frame page parse"},
    {"cli", "manual", "frame"},
    {"cli", "moving", "frame"},
    {"cli", "notify", "controller controller/streams frame page parse/request sheet"},
    {"cli", "parse/request", "parse"},
    {"cli", "picture", "page sheet"},
    {"cli", "place", "frame page parse parse/request picture request sheet up"},
    {"cli", "report", "controller controller/query frame page"},
    {"cli", "request", "frame parse parse/request request/container request/record"},
    {"cli", "run",
     "controller controller/query frame images jobs/submit page parse parse/request request "
     "run/stream stage"},
    {"cli", "run/stream", "frame"},
    {"cli", "scale", "controller frame page parse picture request run"},
    {"cli", "service",
     "controller controller/query frame jobs/submit page parse request "
     "service/replica service/terms"},
    {"cli", "service/replica", "connect controller frame page"},
    {"cli", "share", "controller frame page parse sheet"},
    {"cli", "sheet", "page"},
    {"cli", "sheet/timeline", "page"},
    {"cli", "simulate", "frame page parse parse/request up"},
    {"cli", "slurm",
     "controller page slurm/accounts slurm/control slurm/frame slurm/history slurm/live "
     "slurm/nodes slurm/queue slurm/report slurm/streams slurm/submit"},
    {"cli", "slurm/accounts", "parse slurm/document slurm/format slurm/frame"},
    {"cli", "slurm/control",
     "controller controller/query page parse request sheet slurm/document slurm/format "
     "slurm/frame slurm/nodes"},
    {"cli", "slurm/document", "frame sheet slurm/format slurm/frame"},
    {"cli", "slurm/format", "frame page sheet"},
    {"cli", "slurm/frame", "controller frame page"},
    {"cli", "slurm/history",
     "controller/query frame page parse sheet slurm/document slurm/format slurm/frame"},
    {"cli", "slurm/links", "frame"},
    {"cli", "slurm/live",
     "controller controller/query controller/streams parse slurm/document slurm/format "
     "slurm/frame slurm/history"},
    {"cli", "slurm/nodes", "frame page slurm/document slurm/format slurm/frame"},
    {"cli", "slurm/queue",
     "controller controller/query frame sheet slurm/document slurm/format slurm/frame"},
    {"cli", "slurm/report", "parse report slurm/accounts slurm/format slurm/frame slurm/history"},
    {"cli", "slurm/streams", "frame parse slurm/frame"},
    {"cli", "slurm/submit",
     "controller controller/query frame images jobs/submit page parse request run "
     "slurm/frame"},
    {"cli", "stage", "controller controller/query frame images page parse/request request"},
    {"cli", "tell", "controller controller/query frame page parse request"},
    {"cli", "up", "controller frame parse parse/request slurm/links"},
    {"cli", "tune", "controller frame page simulate"},
    {"cli", "whatif", "controller frame page simulate"},
};

}  // namespace

const std::vector<RoomRow>& RoomTable() {
  static const std::vector<RoomRow> table(std::begin(kRows), std::end(kRows));
  return table;
}

}  // namespace muster::tidy
