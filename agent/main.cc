// muster-agent: the wiring of one node's agent.

#include <cstdio>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "agent/options.h"
#include "agent/run_agent.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/clock.h"
#include "scheduler/runtime/identity/signing_key.h"
#include "scheduler/runtime/log.h"
#include "topology/captured/captured.h"
#include "topology/captured/describe.h"
#include "topology/captured/slice.h"
#include "topology/discover.h"

namespace muster::agent {
namespace {

// The machine that this agent stands for.
absl::StatusOr<Machine> FindMachine(const AgentOptions& options, const Logger& log) {
  ASSIGN_OR_RETURN(Machine machine, options.topology.empty()
                                        ? topology::DiscoverMachine()
                                        : topology::ReadCapturedMachine(options.topology));
  GresList gres = options.gres;
  for (const GresCount& pool : machine.gres) {  // of huge pages
    if (pool.count >= options.slices && gres.size() < kGresKinds) {
      AddTo(gres, {{pool.name, pool.count / options.slices}});
    }
  }
  machine.tmp = topology::TmpSize();  // jobs' files are here, whatever machine is played
  if (options.slices > 1) {
    ASSIGN_OR_RETURN(machine, topology::SliceMachine(machine, options.slice, options.slices));
  }
  machine.gres = std::move(gres);
  log.Info("agent", absl::StrCat(options.name, ": ", topology::DescribeMachine(machine)));
  for (const std::string& remark : machine.remarks) {
    log.Warning("agent", remark);
  }
  return machine;
}

}  // namespace
}  // namespace muster::agent

int main(int argc, char** argv) {
  muster::KeepOpenSslToTheEnd();
  const muster::agent::ParsedOptions parsed = muster::agent::ParseAgentOptions(argc, argv);
  if (parsed.exit_code >= 0) {
    return parsed.exit_code;
  }
  const muster::SystemClock clock;
  const muster::Logger log = muster::Logger::ToStandardError(clock);
  const absl::Status status = muster::agent::RunAgent(
      parsed.options, [&] { return muster::agent::FindMachine(parsed.options, log); },
      muster::ServiceManager::FromEnvironment(), clock, log);
  if (!status.ok()) {
    std::fprintf(stderr, "muster-agent: %s\n", std::string(status.message()).c_str());
    return 1;
  }
  return 0;
}
