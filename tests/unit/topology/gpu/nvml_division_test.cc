#include "topology/gpu/nvml_division.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "scheduler/runtime/file.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"
#include "topology/gpu/gpu_nvml.h"

namespace muster::topology {
namespace {

using ::testing::HasSubstr;

// The profiles of an H200, as a real one told them; `more` is more of the GPU's words.
std::string OneGpu(const std::string& more = "") {
  return absl::StrCat(
      R"({"devices": [{"uuid": "GPU-a", "name": "NVIDIA H200", "memory": 150754820096,
          "pci": [0, 1, 0], "profiles": [
          {"id": 19, "name": "1g.18gb", "slices": 1, "instances": 7, "memory_mib": 16384,
           "placements": [[0,1],[1,1],[2,1],[3,1],[4,1],[5,1],[6,1]]},
          {"id": 9, "name": "3g.71gb", "slices": 3, "instances": 2, "memory_mib": 71424,
           "placements": [[0,4],[4,4]]}])",
      more, "}]}");
}

class NvmlDivision : public ::testing::Test {
 protected:
  ~NvmlDivision() override { unsetenv("MUSTER_FAKE_NVML_JSON"); }
  void Say(const std::string& json) {
    std::ofstream(directory_ / "gpus.json") << json;
    setenv("MUSTER_FAKE_NVML_JSON", (directory_ / "gpus.json").c_str(), 1);
  }
  static std::string Divide(const std::vector<MigInstance>& instances) {
    return std::string(DivideNvidia(FAKE_NVML, "GPU-a", instances).message());
  }
  static std::vector<std::string> Models() {
    std::vector<std::string> models;
    for (const Gpu& gpu : NvmlLibrary().List(FAKE_NVML).gpus) {
      models.push_back(gpu.model);
    }
    return models;
  }
  TempDirectory directory_;
};

const std::vector<MigInstance> kMixed = {
    {"1g.18gb", 19, {0, 1}}, {"1g.18gb", 19, {2, 1}}, {"3g.71gb", 9, {4, 4}}};

TEST_F(NvmlDivision, TheLibrarySaysWhatAGpuCanBe) {
  Say(OneGpu());
  const GpuListing listing = NvmlLibrary().List(FAKE_NVML);
  ASSERT_EQ(listing.mig.size(), 1U);
  EXPECT_EQ(listing.mig[0].whole.uuid, "GPU-a");
  ASSERT_EQ(listing.mig[0].profiles.size(), 2U);
  EXPECT_EQ(listing.mig[0].profiles[1],
            (MigProfile{"3g.71gb", 9, 3, 2, kMebibyte * 71424, {{0, 4}, {4, 4}}}));
  Say(R"({"devices": [{"uuid": "GPU-a", "name": "NVIDIA L40", "memory": 1, "pci": [0, 1, 0]}]})");
  EXPECT_TRUE(NvmlLibrary().List(FAKE_NVML).mig.empty());
  EXPECT_TRUE(NvmlLibrary().List(FAKE_NVML_WITHOUT_MIG).mig.empty());
}

TEST_F(NvmlDivision, AGpuIsDividedOtherwiseAndMadeWholeAgain) {
  Say(OneGpu());
  EXPECT_EQ(Divide(kMixed), "");
  EXPECT_EQ(Models(),
            (std::vector<std::string>{"NVIDIA H200 MIG 1g.18gb", "NVIDIA H200 MIG 1g.18gb",
                                      "NVIDIA H200 MIG 3g.71gb"}));
  EXPECT_EQ(Divide({{"3g.71gb", 9, {0, 4}}}), "");
  EXPECT_EQ(Models(), (std::vector<std::string>{"NVIDIA H200 MIG 3g.71gb"}));
  EXPECT_EQ(Divide({}), "");
  EXPECT_EQ(Models(), (std::vector<std::string>{"NVIDIA H200"}));
}

TEST_F(NvmlDivision, WhatFailsLeavesTheGpuAsItWas) {
  Say(OneGpu());
  EXPECT_THAT(Divide({{"3g.71gb", 9, {0, 4}}, {"1g.18gb", 19, {2, 1}}}),
              HasSubstr("an instance 1g.18gb at slice 2 cannot be made: "));
  EXPECT_EQ(Models(), (std::vector<std::string>{"NVIDIA H200"}));
  ASSERT_EQ(Divide({{"3g.71gb", 9, {4, 4}}}), "");
  EXPECT_THAT(Divide({{"3g.71gb", 9, {0, 4}}, {"1g.18gb", 19, {2, 1}}}), HasSubstr("at slice 2"));
  EXPECT_EQ(Models(), (std::vector<std::string>{"NVIDIA H200 MIG 3g.71gb"}));
}

TEST_F(NvmlDivision, AGpuThatNeedsAResetSaysWhatToDo) {
  Say(OneGpu(R"(, "needs_reset": true)"));
  EXPECT_THAT(Divide(kMixed), HasSubstr("MIG cannot be turned on while the machine runs"));
  EXPECT_THAT(Divide(kMixed), HasSubstr("nvidia-smi -i 0 -mig 1"));
  EXPECT_EQ(Models(), (std::vector<std::string>{"NVIDIA H200"}));
}

TEST_F(NvmlDivision, AGpuInUseAndOneThatTheLibraryRefusesAreNotTouched) {
  Say(OneGpu(R"(, "processes": [{"pid": 4711}])"));
  EXPECT_EQ(Divide(kMixed), "process 4711 uses it");
  Say(OneGpu(R"(, "fails": {"mode": 4})"));
  EXPECT_THAT(Divide(kMixed), HasSubstr("MIG cannot be turned on: "));
  EXPECT_THAT(std::string(DivideNvidia(FAKE_NVML, "GPU-b", {}).message()),
              HasSubstr("NVML lists no GPU GPU-b"));
  EXPECT_THAT(std::string(DivideNvidia("libno.so", "GPU-a", {}).message()),
              HasSubstr("NVML does not load"));
}

}  // namespace
}  // namespace muster::topology
