#include "agent/supervisor/pmix/open_mpi_variables.h"

#include "absl/strings/str_cat.h"

namespace muster::agent {

// JSM_JSRUN_PORT makes it a direct launch: with PMIx's variables alone each rank would start as a
// job of its own.
std::vector<std::string> OpenMpiVariables(const PmixStepConfig& step, std::uint32_t rank) {
  std::uint32_t place = 0;  // of the rank among the local ones
  for (std::uint32_t other = 0; other < rank; ++other) {
    place += step.node_of_rank[other] == step.node_index ? 1 : 0;
  }
  std::vector<std::string> variables = {"JSM_JSRUN_PORT=1"};
  variables.push_back(absl::StrCat("OMPI_COMM_WORLD_RANK=", rank));
  variables.push_back(absl::StrCat("OMPI_COMM_WORLD_SIZE=", step.node_of_rank.size()));
  variables.push_back(absl::StrCat("OMPI_COMM_WORLD_LOCAL_RANK=", place));
  variables.push_back(absl::StrCat("OMPI_COMM_WORLD_LOCAL_SIZE=", step.local_cpusets.size()));
  variables.push_back(absl::StrCat("OMPI_COMM_WORLD_NODE_RANK=", place));
  if (!step.segments.empty()) {
    for (const char* component : {"btl_vader", "btl_sm", "osc_sm"}) {
      variables.push_back(
          absl::StrCat("OMPI_MCA_", component, "_backing_directory=", step.segments));
    }
  }
  const bool alone = step.nodes.size() == 1;
  if (step.host_memory_only && (alone || step.one_machine)) {
    variables.emplace_back("OMPI_MCA_pml=ob1");
    variables.emplace_back(absl::StrCat("OMPI_MCA_btl=self,vader", alone ? "" : ",tcp"));
  }
  if (!alone && step.one_machine) {
    // Open MPI leaves the loopback out, which is all that some machines have.
    variables.emplace_back("OMPI_MCA_btl_tcp_if_include=lo");
  }
  if (step.cores_shared) {
    variables.emplace_back("OMPI_MCA_mpi_yield_when_idle=1");
  }
  return variables;
}

}  // namespace muster::agent
