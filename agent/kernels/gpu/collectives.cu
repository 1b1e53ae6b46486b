#include <algorithm>
#include <limits>
#include <memory>

#include "agent/kernels/gpu/device.h"
#include "agent/kernels/gpu/libraries.h"
#include "agent/kernels/gpu/operations.h"
#include "agent/kernels/place/seeded.h"

namespace muster::kernels {
namespace {

// One device's part. The device is current while the part is made and used.
struct Part {
  Part(int on, int64_t n) : device(on), in(n), out(n) {}

  int device;
  DeviceArray<float> in;
  DeviceArray<float> out;
  Stream stream;
};

struct AllReduce {
  AllReduce(int home_device, int64_t n, uint64_t with_seed)
      : home(home_device), seed(with_seed), collectives(DeviceCount()) {
    for (int device = 0; collectives.found() && device < DeviceCount(); ++device) {
      Must(GPU(SetDevice)(device), "turning to a GPU");
      parts.push_back(std::make_unique<Part>(device, n));
      std::vector<float> values(static_cast<size_t>(n));
      for (size_t i = 0; i < values.size(); ++i) {
        values[i] = Input(device, i);
      }
      parts.back()->in.Set(values);
      parts.back()->out.Poison();
      ins.push_back(parts.back()->in.data());
      outs.push_back(parts.back()->out.data());
      streams.push_back(parts.back()->stream.get());
    }
    Must(GPU(SetDevice)(home), "turning back");
  }

  float Input(int device, size_t i) const {
    return static_cast<float>(SeededUnit(seed + static_cast<uint64_t>(device), i));
  }

  // By the host's clock, over all devices.
  double Run() const {
    const double begin = MonotonicSeconds();
    collectives.AllReduce(ins, outs, static_cast<size_t>(parts.front()->in.size()), streams);
    for (const auto& part : parts) {
      part->stream.Wait();
    }
    return MonotonicSeconds() - begin;
  }

  double MaxError() const {
    double worst = 0;
    for (const auto& part : parts) {
      const std::vector<float> out = part->out.Get();
      for (size_t i = 0; i < out.size(); ++i) {
        double sum = 0;
        for (const auto& each : parts) {
          sum += static_cast<double>(Input(each->device, i));
        }
        worst = std::max(worst, ErrorOf(static_cast<double>(out[i]), sum));
      }
    }
    return worst;
  }

  int home;
  uint64_t seed;
  Collectives collectives;
  std::vector<std::unique_ptr<Part>> parts;
  std::vector<float*> ins;
  std::vector<float*> outs;
  std::vector<GPU(Stream_t)> streams;
};

}  // namespace

void AddAllReduce(const GpuOptions& options, Operations* operations) {
  if (DeviceCount() < 2) {
    return;
  }
  auto reduce =
      std::make_shared<AllReduce>(static_cast<int>(options.device),
                                  std::min<int64_t>(options.n, int64_t{64} << 20), options.seed);
  if (!reduce->collectives.found()) {
    return;
  }
  const auto devices = static_cast<double>(reduce->parts.size());
  Operation operation;
  operation.name = "all-reduce-" + std::to_string(reduce->parts.size()) + "-gpus";
  // Bus bandwidth: what a ring moves on each link, 2 (p - 1) / p of the data.
  operation.bytes = 2 * (devices - 1) / devices * sizeof(float) *
                    static_cast<double>(reduce->parts.front()->in.size());
  operation.memory_roof = false;  // the links' roof is not the memory's
  operation.run = [reduce] { return reduce->Run(); };
  operation.check = [reduce, devices, name = operation.name](Check* check) {
    check->Hold(name, reduce->MaxError(),
                devices * devices * static_cast<double>(std::numeric_limits<float>::epsilon()));
  };
  operations->push_back(operation);
}

}  // namespace muster::kernels
