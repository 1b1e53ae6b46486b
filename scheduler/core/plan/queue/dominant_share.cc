#include "scheduler/core/plan/queue/dominant_share.h"

#include <algorithm>
#include <map>

#include "absl/numeric/int128.h"
#include "scheduler/core/state/tables/usage_keys.h"

namespace muster::core {

Amounts WholeOf(const std::vector<NodeSnapshot>& nodes) {
  Amounts whole;
  std::map<const Machine*, std::uint32_t> threads;
  for (const NodeSnapshot& node : nodes) {
    const auto [known, is_new] = threads.emplace(node.machine.get(), 0);
    if (is_new) {
      known->second = AllCpus(*node.machine).Count();
    }
    whole.cpus += known->second;
    whole.memory += node.machine->memory;
    whole.gpu_share += node.machine->gpus.size() * kWholeGpu.value();
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
  return {.cpus = use.cpus, .memory = Bytes(use.memory), .gpu_share = GpusOf(use)};
}

Amounts HeldBy(const RunningJob& job) {
  const std::uint64_t gpus = job.spec->request.gpu_share.zero()
                                 ? std::uint64_t{job.gpus} * kWholeGpu.value()
                                 : GpusOf(LeastUse(job.spec->request));
  return {.cpus = job.cpus, .memory = job.memory, .gpu_share = gpus};
}

std::uint64_t DominantShare(const Amounts& held, const Amounts& whole) {
  const auto part = [](std::uint64_t of, std::uint64_t all) {
    return all == 0 ? 0 : static_cast<std::uint64_t>(absl::uint128(of) * kShareParts / all);
  };
  return std::max({part(held.cpus, whole.cpus), part(held.memory.value(), whole.memory.value()),
                   part(held.gpu_share, whole.gpu_share)});
}

}  // namespace muster::core
