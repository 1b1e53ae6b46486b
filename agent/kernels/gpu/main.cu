// gpu: what a GPU does: memory, reductions, matrix products, a fused layer, copies, launches.

#include <algorithm>
#include <array>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "agent/kernels/gpu/device.h"
#include "agent/kernels/gpu/operations.h"
#include "agent/kernels/harness/kernel.h"

namespace muster::kernels {
namespace {

constexpr std::array<Family, 7> kFamilies = {{
    {"vectors", "copy, vector add, saxpy, triad", AddVectorOperations, VerifyVectors},
    {"reductions", "sum, sum of squares", AddReductions, VerifyReductions},
    {"gemm", "tiled matrix product beside the library's", AddMatrixProducts, VerifyMatrixProducts},
    {"norm-gelu", "the fused layer beside the three passes", AddNormGelu, VerifyNormGelu},
    {"transfers", "host and peer copies", AddTransfers, nullptr},
    {"launches", "kernel launches beside a graph", AddLaunches, nullptr},
    {"all-reduce", "NCCL's or RCCL's, over all GPUs", AddAllReduce, nullptr},
}};

struct Request {
  GpuOptions gpu;
  std::string only = "all";
};

bool IsWanted(const Request& request, const Family& family) {
  return request.only == "all" || request.only == family.name;
}

// What the largest family needs of the GPU's memory.
double DeviceBytes(const Request& request, int64_t n) {
  const double vectors = 8.0 * sizeof(float) * static_cast<double>(n);
  const auto side = static_cast<double>(request.gpu.side);
  return vectors + 3 * sizeof(float) * side * side;
}

std::string ProblemOf(const Request& request, int64_t n) {
  if (request.gpu.tune > 0 && request.only != "all" && request.only != "gemm") {
    return "--tune: " + request.only + " has no tiles to search: use --only gemm";
  }
  if (request.gpu.tune > 0 && request.gpu.by_rule) {
    return "--tune and --by-rule: choose one";
  }
  const std::string problem = UseDevice(static_cast<int>(request.gpu.device));
  if (!problem.empty()) {
    return problem;
  }
  size_t available = 0;
  size_t total = 0;
  Must(GPU(MemGetInfo)(&available, &total), "asking for the GPU's free memory");
  const double needed = DeviceBytes(request, n);
  return needed > static_cast<double>(available)
             ? TooLarge(n, needed, static_cast<double>(available)) + " (of the GPU's memory)"
             : "";
}

std::string VersionText(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

nlohmann::ordered_json DeviceFacts(int device) {
  const DeviceProperties properties = PropertiesOf(device);
  int runtime = 0;
  int driver = 0;
  Must(GPU(RuntimeGetVersion)(&runtime), "asking for the runtime's version");
  Must(GPU(DriverGetVersion)(&driver), "asking for the driver's version");
  return {{"device",
           {{"index", device},
            {"name", std::string(properties.name)},
            {"compute_capability",
             std::to_string(properties.major) + "." + std::to_string(properties.minor)},
            {"multiprocessors", properties.multiProcessorCount},
            {"memory_bytes", properties.totalGlobalMem},
            {"ecc", properties.ECCEnabled != 0},
            {"api", kRuntimeName},
            {"runtime", VersionText(runtime)},
            {"driver", VersionText(driver)}}}};
}

std::vector<Operation> Prepare(Request* request, const BenchOptions& options) {
  request->gpu.n = options.n;
  request->gpu.seed = static_cast<uint64_t>(options.seed);
  std::vector<Operation> operations;
  for (const Family& family : kFamilies) {
    if (IsWanted(*request, family)) {
      family.add(request->gpu, &operations);
    }
  }
  return operations;
}

void Verify(const Request& request, Check* check) {
  for (const Family& family : kFamilies) {
    if (IsWanted(request, family) && family.verify != nullptr) {
      family.verify(request.gpu.seed + 17, check);
    }
  }
}

std::string PeaksKey(const Request& request) {
  const DeviceProperties properties = PropertiesOf(static_cast<int>(request.gpu.device));
  return std::string(kRuntimeName) + " device " + std::to_string(request.gpu.device) + ", " +
         properties.name;
}

void AddOptions(Request* request, CommandLine* line) {
  std::vector<std::string> names = {"all"};
  for (const Family& family : kFamilies) {
    names.emplace_back(family.name);
  }
  line->AddText("only", "which measurements", &request->only, names);
  line->AddCount("device", "which GPU, from 0", &request->gpu.device, 0, 1023);
  line->AddCount("side", "rows and columns of each matrix", &request->gpu.side, 1, 1 << 15);
  line->AddCount("columns", "elements of a row that is normalised", &request->gpu.columns, 1,
                 1 << 16);
  line->AddReal("tune", "search this many seconds for gemm's fastest tile, and keep it",
                &request->gpu.tune, 0, 86400);
  line->AddSwitch("by-rule", "gemm by the tile that is the rule, whatever was found",
                  &request->gpu.by_rule);
}

int Run(int argc, char** argv) {
  auto request = std::make_shared<Request>();
  request->gpu.side = 4096;
  request->gpu.columns = 4096;
  Kernel kernel;
  kernel.name = "gpu";
  kernel.purpose =
      "what a GPU does, CUDA or HIP: bandwidth, reductions by warp shuffles, a tiled "
      "matrix product\nbeside the library's, a fused layer beside its three passes, "
      "host and peer copies, launches.";
  kernel.example = "gpu --only gemm --side 8192 --json";
  kernel.n_meaning = "elements of each vector";
  kernel.n = int64_t{64} << 20;
  kernel.n_max = int64_t{1} << 33;
  kernel.tolerance = "vectors 0; sums, products and norms as their sources tell";
  kernel.add_options = [request](CommandLine* line) { AddOptions(request.get(), line); };
  kernel.problem = [request](int64_t n) { return ProblemOf(*request, n); };
  kernel.bytes_needed = [](int64_t n) { return 24.0 * static_cast<double>(n); };
  kernel.prepare = [request](const BenchOptions& options) {
    return std::optional(Prepare(request.get(), options));
  };
  kernel.verify = [request](const BenchOptions&, Check* check) { Verify(*request, check); };
  kernel.measure_peaks = MeasureGpuPeaks;
  kernel.peaks_key = [request] { return PeaksKey(*request); };
  kernel.facts = [request] {
    nlohmann::ordered_json facts = DeviceFacts(static_cast<int>(request->gpu.device));
    facts.update(*request->gpu.facts);
    return facts;
  };
  return RunKernel(kernel, argc, argv);
}

}  // namespace
}  // namespace muster::kernels

int main(int argc, char** argv) {
  return muster::kernels::Run(argc, argv);
}
