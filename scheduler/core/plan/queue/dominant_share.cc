#include "scheduler/core/plan/queue/dominant_share.h"

#include <algorithm>
#include <map>

#include "absl/numeric/int128.h"
#include "scheduler/core/state/books/usage_keys.h"

namespace muster::core {

WholeCluster WholeOf(const std::vector<NodeSnapshot>& nodes) {
  WholeCluster whole;
  std::map<const Machine*, std::uint32_t> threads;
  for (const NodeSnapshot& node : nodes) {
    const auto [known, is_new] = threads.emplace(node.machine.get(), 0);
    if (is_new) {
      known->second = AllCpus(*node.machine).Count();
    }
    whole.cpus += known->second;
    whole.memory += node.machine->memory.value();
    whole.gpus += node.machine->gpus.size() * kWholeGpu.value();
  }
  return whole;
}

std::uint64_t GpusOf(const TresUse& use) {
  std::uint64_t gpus = 0;
  for (const auto& [model, thousandths] : use.gpus) {
    gpus += thousandths;
  }
  return gpus;
}

Amounts AskOf(const JobSpec& spec) {
  const TresUse use = LeastUse(spec.request);
  return {use.cpus, use.memory, GpusOf(use)};
}

Amounts HeldBy(const RunningJob& job) {
  const std::uint64_t gpus = job.spec->request.gpu_share.zero()
                                 ? std::uint64_t{job.gpus} * kWholeGpu.value()
                                 : GpusOf(LeastUse(job.spec->request));
  return {job.cpus, job.memory.value(), gpus};
}

std::uint64_t DominantShare(const Amounts& held, const WholeCluster& whole) {
  const Amounts all = {whole.cpus, whole.memory, whole.gpus};
  std::uint64_t share = 0;
  for (std::size_t i = 0; i < held.size(); ++i) {
    if (all[i] > 0) {
      share = std::max(share,
                       static_cast<std::uint64_t>(absl::uint128(held[i]) * kShareParts / all[i]));
    }
  }
  return share;
}

}  // namespace muster::core
