#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "agent/kernels/health/child.h"
#include "agent/kernels/health/counters.h"
#include "agent/kernels/health/gpu_checks.h"
#include "agent/kernels/health/node_checks.h"

namespace muster::kernels {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

std::string Fixture(const std::string& name) {
  std::ifstream file(std::string(MUSTER_FIXTURES) + "/health/" + name);
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_FALSE(text.str().empty()) << name;
  return text.str();
}

std::vector<std::string> Names(const std::vector<Figure>& figures) {
  std::vector<std::string> names;
  for (const Figure& figure : figures) {
    names.push_back(figure.component);
  }
  return names;
}

double ValueOf(const std::vector<Figure>& figures, const std::string& component) {
  for (const Figure& figure : figures) {
    if (figure.component == component) {
      return figure.value;
    }
  }
  ADD_FAILURE() << "no " << component;
  return -1;
}

// A /sys of the test's own.
class CountersTest : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = ::testing::TempDir() + "/health_counters" + std::to_string(getpid());
  }
  void TearDown() override { std::filesystem::remove_all(root_); }
  void Write(const std::string& path, const std::string& text) {
    const std::filesystem::path file = root_ + "/sys/devices/system/" + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  std::string root_;
};

TEST_F(CountersTest, AMachineThatCountsNothingSaysNothing) {
  EXPECT_THAT(CounterFigures(ReadCounters(root_), ReadCounters(root_)), IsEmpty());
}

TEST_F(CountersTest, MemoryErrorsAreThoseOfAllControllers) {
  Write("edac/mc/mc0/ue_count", "0\n");
  Write("edac/mc/mc1/ue_count", "2\n");
  Write("edac/mc/mc0/ce_count", "17\n");
  Write("edac/mc/power/ue_count", "9\n");
  const std::vector<Figure> figures = CounterFigures({}, ReadCounters(root_));
  EXPECT_EQ(ValueOf(figures, "uncorrected memory errors"), 2);
  EXPECT_EQ(ValueOf(figures, "corrected memory errors"), 17);
  EXPECT_EQ(figures[0].better, Better::kNever);
  EXPECT_EQ(figures[1].better, Better::kShown);
}

TEST_F(CountersTest, ThrottlingIsWhatWasAddedDuringTheCheck) {
  Write("cpu/cpu0/thermal_throttle/core_throttle_count", "100\n");
  Write("cpu/cpu0/thermal_throttle/package_throttle_count", "7\n");
  Write("cpu/cpu1/thermal_throttle/core_throttle_count", "nonsense\n");
  const NodeCounters before = ReadCounters(root_);
  Write("cpu/cpu0/thermal_throttle/core_throttle_count", "103\n");
  EXPECT_EQ(ValueOf(CounterFigures(before, ReadCounters(root_)), "thermal throttling"), 3);
}

// As an H200 answered with driver 580.159.04, idle and after a load.
constexpr const char* kIdle = "0, 0, 0, No, No, 0, 0, 38, 16\n";

TEST(GpuAnswers, ARealAnswerIsReadFieldByField) {
  const std::vector<GpuAnswers> gpus = ParseGpuAnswers(kIdle);
  ASSERT_EQ(gpus.size(), 1U);
  const std::vector<Figure> figures = CounterFigures(gpus[0], gpus[0]);
  EXPECT_THAT(Names(figures),
              UnorderedElementsAre(
                  "GPU 0 uncorrected memory errors", "GPU 0 corrected memory errors",
                  "GPU 0 failed row remapping", "GPU 0 pending row remapping", "GPU 0 temperature",
                  "GPU 0 PCIe lanes", "GPU 0 thermal throttling", "GPU 0 power throttling"));
  EXPECT_EQ(ValueOf(figures, "GPU 0 temperature"), 38);
  EXPECT_EQ(ValueOf(figures, "GPU 0 PCIe lanes"), 16);
}

TEST(GpuAnswers, WhatAGpuDoesNotHaveIsNotTold) {
  const GpuAnswers gpu =
      ParseGpuAnswers("3, [N/A], [N/A], [N/A], [N/A], [Not Supported], 0, 44, 16\n").front();
  EXPECT_THAT(
      Names(CounterFigures(gpu, gpu)),
      UnorderedElementsAre("GPU 3 temperature", "GPU 3 PCIe lanes", "GPU 3 power throttling"));
}

TEST(GpuAnswers, DefectsAndThrottlingShow) {
  const GpuAnswers before = ParseGpuAnswers("1, 0, 5, No, No, 1000, 0, 60, 16").front();
  const GpuAnswers after = ParseGpuAnswers("1, 2, 5, Yes, Yes, 251000, 0, 91, 8").front();
  const std::vector<Figure> figures = CounterFigures(before, after);
  EXPECT_EQ(ValueOf(figures, "GPU 1 uncorrected memory errors"), 2);
  EXPECT_EQ(ValueOf(figures, "GPU 1 failed row remapping"), 1);
  EXPECT_EQ(ValueOf(figures, "GPU 1 thermal throttling"), 250) << "milliseconds";
}

TEST(GpuAnswers, WordsThatAreNoAnswerMakeNoGpu) {
  EXPECT_THAT(ParseGpuAnswers("No devices were found\n"), IsEmpty());
  EXPECT_THAT(ParseGpuAnswers("Unable to determine the device handle for GPU0, Reboot, the, "
                              "system, to, recover, this, GPU, please\n"),
              IsEmpty());
  EXPECT_THAT(ParseGpuAnswers(""), IsEmpty());
}

TEST(GpuKernels, RealDocumentsGiveTheirMedians) {
  const std::vector<Figure> vectors = KernelFigures("GPU 0", Fixture("gpu_vectors.json"));
  EXPECT_NEAR(ValueOf(vectors, "GPU 0 memory bandwidth"), 4200, 200);
  const std::vector<Figure> product = KernelFigures("GPU 0", Fixture("gpu_gemm.json"));
  EXPECT_NEAR(ValueOf(product, "GPU 0 matrix product"), 41.4, 0.1) << "TFLOP/s";
  const std::vector<Figure> copies = KernelFigures("GPU 0", Fixture("gpu_transfers.json"));
  EXPECT_NEAR(ValueOf(copies, "GPU 0 copy from the host"), 55.2, 0.1);
  EXPECT_NEAR(ValueOf(copies, "GPU 0 copy to the host"), 55.3, 0.1);
  EXPECT_EQ(ValueOf(copies, "GPU 0 wrong results"), 0);
}

TEST(GpuKernels, TheMeasuredPeakIsTheRoofOfMemoryAndArithmeticAlone) {
  const std::vector<Figure> figures =
      KernelFigures("GPU 0", R"({"operations":[{"name":"copy","gb_per_s":{"median":4100}},
          {"name":"gemm-tiled","gflop_per_s":{"median":45000}},
          {"name":"device-to-host-pinned","gb_per_s":{"median":55}}],
          "peaks":{"gb_per_s":4300,"gflop_per_s":60000},"verified":true})");
  ASSERT_EQ(figures.size(), 4U);
  EXPECT_EQ(figures[0].roof, 4300);
  EXPECT_EQ(figures[1].roof, 60) << "TFLOP/s";
  EXPECT_EQ(figures[2].roof, 0);
}

TEST(GpuKernels, LinksAreNamedByTheirEndsAndWrongResultsAreTold) {
  const std::vector<Figure> figures =
      KernelFigures("GPU 0",
                    R"({"operations":[{"name":"peer-0-3","gb_per_s":{"best":320,"median":313}},
          {"name":"peer-0-4-through-host","gb_per_s":{"median":20}}],"verified":false})");
  EXPECT_EQ(ValueOf(figures, "GPU 0 link to GPU 3"), 313);
  EXPECT_EQ(ValueOf(figures, "GPU 0 link to GPU 4"), 20);
  EXPECT_EQ(ValueOf(figures, "GPU 0 wrong results"), 1);
}

TEST(GpuKernels, WhatIsNoDocumentGivesNothing) {
  for (const char* text : {"", "gpu: no device", "[]", R"({"operations":3})"}) {
    EXPECT_THAT(KernelFigures("GPU 0", text), IsEmpty()) << text;
  }
  EXPECT_EQ(KernelFigures("GPU 0", R"({"operations":[7,{"name":"copy","gb_per_s":3}]})").size(), 1U)
      << "that nothing was wrong";
}

TEST(NodeChecks, EachComponentIsMeasuredAndNothingIsWrong) {
  const std::vector<Figure> figures = CheckNode(0.01);
  EXPECT_THAT(Names(figures), Contains("clock"));
  EXPECT_GT(ValueOf(figures, "clock"), 0.1);
  EXPECT_GT(ValueOf(figures, "memory bandwidth"), 0);
  EXPECT_GT(ValueOf(figures, "matrix product"), 0);
  EXPECT_EQ(ValueOf(figures, "wrong results in memory"), 0);
  EXPECT_EQ(ValueOf(figures, "wrong results of arithmetic"), 0);
  EXPECT_GT(ValueOf(figures, "memory size"), 0);
}

TEST(Child, ItsOutputIsReadAndItsFailureTold) {
  EXPECT_EQ(RunChild({"echo", "hello"}), "hello\n");
  EXPECT_EQ(RunChild({"sh", "-c", "echo wrong; exit 1"}), "wrong\n")
      << "a kernel that found a wrong result";
  EXPECT_EQ(RunChild({"sh", "-c", "exit 2"}), std::nullopt);
  EXPECT_EQ(RunChild({"/nowhere/at-all"}), std::nullopt);
}

}  // namespace
}  // namespace muster::kernels
