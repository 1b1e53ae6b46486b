// Memory of a GPU in a checkpoint, over a driver of the test's own (fake_cuda.c).
#include "checkpoint/session/device_memory.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "checkpoint/session/session.h"
#include "tests/unit/checkpoint/store_files.h"

namespace muster::checkpoint {
namespace {

using ::testing::StartsWith;

class DeviceMemoryTest : public StoreFiles {
 protected:
  void SetUp() override {
    StoreFiles::SetUp();
    setenv("MUSTER_CHECKPOINT_CUDA", FAKE_CUDA, 1);
    unsetenv("FAKE_CUDA_RESULT");
  }
  std::unique_ptr<Session> Open() {
    SessionOptions options;
    options.directory = directory_.string();
    options.job = "job7";
    Result<std::unique_ptr<Session>> session = Session::Open(options);
    EXPECT_TRUE(session.ok()) << session.error.text;
    return std::move(session.value);
  }
  Error Protect(Session* session, std::vector<unsigned char>* device) {
    Result<Elsewhere> memory = CudaMemory(device->data(), device->size());
    return memory.ok()
               ? session->ProtectElsewhere("weights", std::move(memory.value), device->size())
               : memory.error;
  }
};

TEST_F(DeviceMemoryTest, WhatWasOnTheDeviceComesBackToIt) {
  std::vector<unsigned char> device(100'003);
  std::iota(device.begin(), device.end(), 1);
  std::uint64_t step = 41;
  const std::vector<unsigned char> saved = device;
  {
    const std::unique_ptr<Session> session = Open();
    ASSERT_FALSE(Protect(session.get(), &device).failed());
    ASSERT_FALSE(session->Protect("step", &step, sizeof(step)).failed());
    ASSERT_FALSE(session->Save().failed());
  }
  std::fill(device.begin(), device.end(), 0);
  step = 0;
  const std::unique_ptr<Session> session = Open();
  ASSERT_FALSE(Protect(session.get(), &device).failed());
  ASSERT_FALSE(session->Protect("step", &step, sizeof(step)).failed());
  EXPECT_EQ(session->RestoreLatest().text, "");
  EXPECT_EQ(device, saved);
  EXPECT_EQ(step, 41U);
}

TEST_F(DeviceMemoryTest, ACopyThatFailsIsNamedAndTheCheckpointBeforeStands) {
  std::vector<unsigned char> device(1000, 7);
  const std::unique_ptr<Session> session = Open();
  ASSERT_FALSE(Protect(session.get(), &device).failed());
  ASSERT_FALSE(session->Save().failed());
  setenv("FAKE_CUDA_RESULT", "700", 1);
  EXPECT_EQ(session->Save().text, "weights: cuMemcpyDtoH: CUDA error 700");
  EXPECT_EQ(session->RestoreLatest().text, "weights: cuMemcpyHtoD: CUDA error 700");
  unsetenv("FAKE_CUDA_RESULT");
  std::fill(device.begin(), device.end(), 0);
  EXPECT_EQ(session->RestoreLatest().text, "");
  EXPECT_EQ(device, std::vector<unsigned char>(1000, 7));
}

TEST_F(DeviceMemoryTest, AnotherSizeIsRefusedBeforeAnythingIsWritten) {
  std::vector<unsigned char> device(1000, 7);
  {
    const std::unique_ptr<Session> session = Open();
    ASSERT_FALSE(Protect(session.get(), &device).failed());
    ASSERT_FALSE(session->Save().failed());
  }
  std::vector<unsigned char> larger(1001, 9);
  const std::unique_ptr<Session> session = Open();
  ASSERT_FALSE(Protect(session.get(), &larger).failed());
  EXPECT_THAT(session->RestoreLatest().text, StartsWith("weights: has 1000 bytes"));
  EXPECT_EQ(larger, std::vector<unsigned char>(1001, 9));
}

}  // namespace
}  // namespace muster::checkpoint
