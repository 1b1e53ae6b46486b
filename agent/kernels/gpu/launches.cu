#include <memory>

#include "agent/kernels/gpu/device.h"
#include "agent/kernels/gpu/operations.h"

namespace muster::kernels {
namespace {

constexpr int kChain = 1000;  // kernels of a repeat

__global__ void Count(unsigned long long* count) {
  *count += 1;
}

struct Launches {
  Launches() : count(1) {
    count.Set({0});
    GPU(Graph_t) graph = nullptr;
    Must(GPU(StreamBeginCapture)(stream.get(), GPU(StreamCaptureModeThreadLocal)),
         "beginning a graph");
    LaunchChain();
    Must(GPU(StreamEndCapture)(stream.get(), &graph), "ending a graph");
    Must(MakeExecutable(&chain, graph), "making a graph ready");
    Must(GPU(GraphDestroy)(graph), "giving a graph back");
  }
  ~Launches() { Must(GPU(GraphExecDestroy)(chain), "giving a graph back"); }
  Launches(const Launches&) = delete;
  Launches& operator=(const Launches&) = delete;

  void LaunchChain() {
    for (int i = 0; i < kChain; ++i) {
      Count<<<1, 1, 0, stream.get()>>>(count.data());
      MustLaunch("an empty kernel");
    }
  }

  // The whole way, by the host's clock: what the program waits for.
  double Run(bool graph) {
    stream.Wait();
    const double begin = MonotonicSeconds();
    if (graph) {
      Must(GPU(GraphLaunch)(chain, stream.get()), "starting a graph");
    } else {
      LaunchChain();
    }
    stream.Wait();
    const double seconds = MonotonicSeconds() - begin;
    ran += kChain;
    return seconds;
  }

  DeviceArray<unsigned long long> count;
  Stream stream;
  GPU(GraphExec_t) chain = nullptr;
  unsigned long long ran = 0;
};

}  // namespace

void AddLaunches(const GpuOptions& /*options*/, Operations* operations) {
  auto launches = std::make_shared<Launches>();
  for (const bool graph : {false, true}) {
    Operation operation;
    operation.name = graph ? "graph-of-1000-kernels" : "1000-kernel-launches";
    operation.steps = kChain;
    operation.run = [launches, graph] { return launches->Run(graph); };
    operation.check = [launches, name = operation.name](Check* check) {
      const unsigned long long counted = launches->count.Get().front();
      check->Hold(name + ": kernels that ran",
                  ErrorOf(static_cast<double>(counted), static_cast<double>(launches->ran)), 0);
    };
    operations->push_back(operation);
  }
}

}  // namespace muster::kernels
