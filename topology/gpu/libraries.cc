#include "topology/gpu/libraries.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "topology/gpu/gpu_nvml.h"
#include "topology/gpu/gpu_rocm.h"

namespace muster::topology {
namespace {

// The meters of several vendors as one.
class MeterOfAll final : public GpuMeter {
 public:
  explicit MeterOfAll(std::vector<std::unique_ptr<GpuMeter>> meters) : meters_(std::move(meters)) {}

  std::vector<GpuReading> Read() override { return OfEach(&GpuMeter::Read); }
  std::vector<GpuReading> Glance() override { return OfEach(&GpuMeter::Glance); }
  std::vector<GpuProcess> Processes() override { return OfEach(&GpuMeter::Processes); }

 private:
  template <class One>
  std::vector<One> OfEach(std::vector<One> (GpuMeter::*ask)()) {
    std::vector<One> all;
    for (const std::unique_ptr<GpuMeter>& meter : meters_) {
      std::vector<One> more = ((*meter).*ask)();
      std::move(more.begin(), more.end(), std::back_inserter(all));
    }
    return all;
  }

  std::vector<std::unique_ptr<GpuMeter>> meters_;
};

}  // namespace

std::span<const GpuLibrary* const> GpuLibraries() {
  static const std::array libraries = {
      &NvmlLibrary(),
      &RocmSmiLibrary(),
  };
  return libraries;
}

const GpuLibrary& GpuLibraryOf(GpuVendor vendor) {
  const std::span<const GpuLibrary* const> all = GpuLibraries();
  const auto its = std::find_if(all.begin(), all.end(), [vendor](const GpuLibrary* library) {
    return library->facts().vendor == vendor;
  });
  return its == all.end() ? *all.front() : **its;
}

std::string_view LibraryOfGpu(const Machine& machine, std::string_view uuid) {
  const auto its = std::find_if(machine.gpus.begin(), machine.gpus.end(),
                                [uuid](const Gpu& gpu) { return gpu.uuid == uuid; });
  return GpuLibraryOf(its == machine.gpus.end() ? Gpu().vendor : its->vendor).facts().library;
}

std::string LibraryFile(const GpuLibrary& library) {
  const std::string variable(library.facts().variable);
  // NOLINTNEXTLINE(concurrency-mt-unsafe): called before other threads change the environment
  const char* chosen = std::getenv(variable.c_str());
  return chosen == nullptr ? std::string(library.facts().file) : chosen;
}

std::vector<GpuListing> ListGpus() {
  std::vector<GpuListing> listings;
  for (const GpuLibrary* library : GpuLibraries()) {
    listings.push_back(library->List(LibraryFile(*library)));
  }
  return listings;
}

absl::Status GpuLibrary::Divide(const std::string& /*file*/, const std::string& /*uuid*/,
                                const std::vector<MigInstance>& /*instances*/) const {
  return absl::UnimplementedError(
      absl::StrCat("GPUs cannot be divided by ", std::string(facts().library)));
}

absl::Status DivideGpu(GpuVendor vendor, const std::string& uuid,
                       const std::vector<MigInstance>& instances) {
  const GpuLibrary& library = GpuLibraryOf(vendor);
  return library.Divide(LibraryFile(library), uuid, instances);
}

std::unique_ptr<GpuMeter> OpenGpuMeter() {
  std::vector<std::unique_ptr<GpuMeter>> meters;
  for (const GpuLibrary* library : GpuLibraries()) {
    if (std::unique_ptr<GpuMeter> meter = library->OpenMeter(LibraryFile(*library))) {
      meters.push_back(std::move(meter));
    }
  }
  return meters.empty() ? nullptr : std::make_unique<MeterOfAll>(std::move(meters));
}

std::vector<DeviceNodes> FindGpuDevices(const Machine& machine, const std::string& root) {
  std::vector<DeviceNodes> devices;
  for (const GpuLibrary* library : GpuLibraries()) {
    std::vector<DeviceNodes> more = library->FindDevices(machine, root);
    std::move(more.begin(), more.end(), std::back_inserter(devices));
  }
  return devices;
}

}  // namespace muster::topology
