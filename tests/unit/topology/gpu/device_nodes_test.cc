#include "topology/gpu/device_nodes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/unit/scheduler/runtime/temp_directory.h"
#include "topology/gpu/libraries.h"

namespace muster::topology {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// What the drivers say, as files below a directory.
class GpuDevicesTest : public ::testing::Test {
 protected:
  void Write(const std::string& path, const std::string& text) {
    const std::filesystem::path file = root_.path() + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  void AddNvidia(const std::string& address, std::uint32_t minor) {
    Write("/proc/driver/nvidia/gpus/" + address + "/information",
          "Model: \t\t NVIDIA H200\nIRQ:   \t\t 100\nBus Location: \t " + address +
              "\nDevice Minor: \t " + std::to_string(minor) + "\n");
  }
  void AddDrawing(const std::string& name, const std::string& number, const std::string& address,
                  const std::string& vendor) {
    const std::string device = "/sys/devices/pci0000:00/" + address;
    Write(device + "/vendor", vendor + "\n");
    Write("/sys/class/drm/" + name + "/dev", number + "\n");
    std::filesystem::create_symlink(root_.path() + device,
                                    root_.path() + "/sys/class/drm/" + name + "/device");
  }
  void AddGpu(const std::string& address, GpuVendor vendor = GpuVendor::kNvidia,
              const std::string& instance = "") {
    Gpu gpu;
    gpu.os_index = static_cast<std::uint32_t>(machine_.gpus.size());
    gpu.pci_address = address;
    gpu.vendor = vendor;
    gpu.instance = instance;
    machine_.gpus.push_back(gpu);
  }
  std::vector<DeviceNodes> Find() const { return FindGpuDevices(machine_, root_.path()); }

  TempDirectory root_;
  Machine machine_;
};

TEST_F(GpuDevicesTest, AMachineWithoutGpusHasNothingToGuard) {
  Write("/proc/devices", "Character devices:\n  1 mem\n");
  AddDrawing("card0", "226:0", "0000:00:02.0", "0x1a03");
  EXPECT_THAT(Find(), IsEmpty());
}

TEST_F(GpuDevicesTest, AGpuIsFoundByItsAddressWhateverItsNumber) {
  AddNvidia("0000:0f:00.0", 3);
  AddNvidia("0000:2a:00.0", 0);
  AddGpu("0000:0f:00.0");
  AddGpu("0000:2a:00.0");
  EXPECT_THAT(Find(), ElementsAre(DeviceNodes{195, 3, 3, {0}}, DeviceNodes{195, 0, 0, {1}},
                                  DeviceNodes{195, 0, 253, {}}));
}

TEST_F(GpuDevicesTest, AGpuOfAnotherSliceIsNobodys) {
  AddNvidia("0000:0f:00.0", 3);
  AddNvidia("0000:2a:00.0", 0);
  AddGpu("0000:2a:00.0");
  EXPECT_THAT(Find(), ElementsAre(DeviceNodes{195, 3, 3, {}}, DeviceNodes{195, 0, 0, {0}},
                                  DeviceNodes{195, 0, 253, {}}));
}

TEST_F(GpuDevicesTest, WithoutTheDriversDirectoryTheNumberOfTheLibraryCounts) {
  AddGpu("0000:0f:00.0");
  EXPECT_THAT(Find(), ElementsAre(DeviceNodes{195, 0, 0, {0}}, DeviceNodes{195, 0, 253, {}}));
}

TEST_F(GpuDevicesTest, TheInstancesOfADividedGpuShareItsDeviceAndTheCapabilities) {
  AddNvidia("0000:0f:00.0", 0);
  Write("/proc/devices", "Character devices:\n195 nvidia\n237 nvidia-caps\n\nBlock devices:\n");
  AddGpu("0000:0f:00.0", GpuVendor::kNvidia, "1g.10gb");
  AddGpu("0000:0f:00.0", GpuVendor::kNvidia, "2g.20gb");
  EXPECT_THAT(Find(), ElementsAre(DeviceNodes{195, 0, 0, {0, 1}}, DeviceNodes{195, 0, 253, {}},
                                  DeviceNodes{237, 0, (1U << 20) - 1, {0, 1}}));
}

TEST_F(GpuDevicesTest, RenderNodesGoWithTheirGpuAndOneFileWithAllOfAmds) {
  AddDrawing("renderD128", "226:128", "0000:03:00.0", "0x1002");
  AddDrawing("renderD129", "226:129", "0000:04:00.0", "0x1002");
  Write("/sys/class/kfd/kfd/dev", "234:0\n");
  AddGpu("0000:03:00.0", GpuVendor::kAmd);
  EXPECT_THAT(Find(), ElementsAre(DeviceNodes{226, 128, 128, {0}}, DeviceNodes{226, 129, 129, {}},
                                  DeviceNodes{234, 0, 0, {0}}));
}

}  // namespace
}  // namespace muster::topology
