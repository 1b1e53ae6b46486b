// pointer-chase: the latency of memory, for each pair of a NUMA node's processors and a node's
// memory.

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "agent/kernels/cpu/chase.h"
#include "agent/kernels/cpu/vector_loops.h"
#include "agent/kernels/harness/kernel.h"
#include "agent/kernels/harness/node_facts.h"

namespace muster::kernels {
namespace {

constexpr int64_t kLineBytes = sizeof(ChainLine);
constexpr int64_t kStepsMost = int64_t{1} << 21;

// One pair and its samples, in nanoseconds a load.
struct Pair {
  int cpu_node = 0;
  int memory_node = 0;
  bool placed = false;
  std::vector<double> nanoseconds;
};

struct Findings {
  std::vector<std::shared_ptr<Pair>> pairs;
};

std::string PairName(const Pair& pair) {
  return "node" + std::to_string(pair.cpu_node) + "-memory" + std::to_string(pair.memory_node);
}

Operation PairOperation(const NumaNode& cpus, const std::shared_ptr<Chain>& chain,
                        const std::shared_ptr<Pair>& pair, const BenchOptions& options) {
  const int64_t lines = std::max<int64_t>(1, options.n / kLineBytes);
  const int64_t steps = std::min(lines, kStepsMost);
  Operation operation;
  operation.name = PairName(*pair);
  operation.steps = static_cast<double>(steps);
  operation.run = [cpus, chain, pair, steps] {
    const ScopedBinding binding(cpus.cpus);
    const double seconds = chain->Walk(steps);
    pair->nanoseconds.push_back(seconds / static_cast<double>(steps) * 1e9);
    return seconds;
  };
  operation.check = [chain, pair](Check* check) {
    check->Hold(PairName(*pair) + ": lines out of the cycle", chain->IsOneCycle() ? 0 : 1, 0);
  };
  return operation;
}

std::optional<std::vector<Operation>> Prepare(const BenchOptions& options, Findings* findings) {
  const int64_t lines = std::max<int64_t>(1, options.n / kLineBytes);
  const std::vector<NumaNode> nodes = NumaNodes();
  std::vector<Operation> operations;
  for (const NumaNode& memory : nodes) {
    if (!memory.has_memory) {
      continue;
    }
    auto chain = std::make_shared<Chain>(lines, memory.id, static_cast<uint64_t>(options.seed));
    if (!chain->allocated()) {
      return std::nullopt;
    }
    for (const NumaNode& cpus : nodes) {
      if (cpus.cpus.empty()) {
        continue;
      }
      auto pair = std::make_shared<Pair>();
      *pair = {cpus.id, memory.id, chain->placed(), {}};
      findings->pairs.push_back(pair);
      operations.push_back(PairOperation(cpus, chain, pair, options));
    }
  }
  return operations;
}

nlohmann::ordered_json Facts(const Findings& findings, int64_t warmup) {
  nlohmann::ordered_json pairs = nlohmann::ordered_json::array();
  for (const auto& pair : findings.pairs) {
    const std::vector<double> measured(pair->nanoseconds.begin() + warmup, pair->nanoseconds.end());
    const Summary summary = Summarise(measured);
    pairs.push_back(
        {{"cpu_node", pair->cpu_node},
         {"memory_node", pair->memory_node},
         {"placed", pair->placed},
         {"nanoseconds",
          {{"best", summary.min}, {"median", summary.median}, {"spread", summary.spread}}}});
  }
  return {{"threads", 1}, {"simd", SimdName()}, {"pairs", pairs}};
}

void Verify(const BenchOptions& options, Check* check) {
  for (const int64_t lines : {1, 2, 3, 63, 64, 65, 4097, 100003}) {
    const Chain chain(lines, 0, static_cast<uint64_t>(options.seed));
    check->Hold("cycle of " + std::to_string(lines) + " lines", chain.IsOneCycle() ? 0 : 1, 0);
  }
}

int Run(int argc, char** argv) {
  auto findings = std::make_shared<Findings>();
  auto warmup = std::make_shared<int64_t>(0);
  Kernel kernel;
  kernel.name = "pointer-chase";
  kernel.purpose =
      "latency of memory: one thread follows a random cycle of pointers, one a cache "
      "line, for\neach pair of a NUMA node's processors and a NUMA node's memory. With "
      "an --n below a cache's\nsize it is that cache's latency.";
  kernel.example = "pointer-chase --n 256M --json";
  kernel.n_meaning = "bytes of the cycle";
  kernel.n = int64_t{128} << 20;
  kernel.n_max = int64_t{1} << 50;
  kernel.tolerance = "0: every line is visited once";
  // The chains of all nodes, and the order while it is made.
  kernel.bytes_needed = [](int64_t n) {
    return static_cast<double>(n) * (static_cast<double>(NumaNodes().size()) + 0.125);
  };
  kernel.prepare = [findings, warmup](const BenchOptions& options) {
    *warmup = options.warmup;
    return Prepare(options, findings.get());
  };
  kernel.verify = Verify;
  kernel.facts = [findings, warmup] { return Facts(*findings, *warmup); };
  return RunKernel(kernel, argc, argv);
}

}  // namespace
}  // namespace muster::kernels

int main(int argc, char** argv) {
  return muster::kernels::Run(argc, argv);
}
