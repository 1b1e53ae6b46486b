#include "topology/captured/describe.h"

#include <map>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "scheduler/base/text/size_text.h"
#include "scheduler/base/text/words.h"

namespace muster::topology {

std::string DescribeMachine(const Machine& machine) {
  std::vector<std::string> parts;
  if (!machine.packages.empty()) {
    parts.push_back(Counted(machine.packages.size(), "package"));
  }
  if (!machine.dies.empty()) {
    parts.push_back(Counted(machine.dies.size(), "die"));
  }
  parts.push_back(Counted(machine.numa_nodes.size(), "NUMA node"));
  parts.push_back(Counted(machine.cores.size(), "core"));
  parts.push_back(Counted(AllCpus(machine).Count(), "thread"));
  std::map<std::string, std::size_t> models;
  for (const Gpu& gpu : machine.gpus) {
    ++models[gpu.model.empty() ? "GPU" : gpu.model];
  }
  for (const auto& [model, count] : models) {
    parts.push_back(absl::StrCat(count, " × ", model));
  }
  parts.push_back(machine.memory.zero() ? "memory unknown" : BytesText(machine.memory.value()));
  if (!machine.mps.empty()) {
    parts.emplace_back("CUDA MPS");
  }
  return absl::StrJoin(parts, ", ");
}

}  // namespace muster::topology
