#include <gtest/gtest.h>

#include <utility>

#include "scheduler/base/text/words.h"
#include "scheduler/core/handle/submit/new_job.h"
#include "tests/unit/scheduler/core/builders.h"

namespace muster::core {
namespace {

Machine With(const std::string& model, std::uint64_t gigabytes, int count) {
  Machine machine;
  for (int i = 0; i < count; ++i) {
    Gpu& gpu = machine.gpus.emplace_back();
    gpu.model = model;
    gpu.memory = Bytes(gigabytes << 30U);
  }
  return machine;
}

const std::vector<const Machine*>& Cluster() {
  static const Machine small = With("NVIDIA A30", 24, 2);
  static const Machine large = With("NVIDIA H100 80GB", 80, 1);
  static const Machine none;
  static const std::vector<const Machine*> all = {&none, &large, &small};
  return all;
}

ResourceRequest Asking(std::uint64_t megabytes, const std::string& type = "") {
  ResourceRequest request;
  request.gpu_share_memory = Bytes(megabytes << 20U);
  if (!type.empty()) {
    request.gpus = {type, 1};
  }
  return request;
}

std::uint32_t ShareOf(ResourceRequest request) {
  const absl::Status filled = FillGpuShare(Cluster(), request);
  EXPECT_TRUE(filled.ok()) << filled;
  EXPECT_TRUE(request.gpu_share_memory.zero());
  return request.gpu_share.value();
}

TEST(ShareSize, IsThePartOfTheSmallestGpuThatHoldsIt) {
  EXPECT_EQ(ShareOf(Asking(6 << 10)), 250U);
  EXPECT_EQ(ShareOf(Asking(24 << 10)), 1000U);
  EXPECT_EQ(ShareOf(Asking(40 << 10)), 500U) << "the smaller ones are too small";
  EXPECT_EQ(ShareOf(Asking(6 << 10, "h100")), 75U);
}

TEST(ShareSize, IsRoundedUp) {
  EXPECT_EQ(ShareOf(Asking(5 << 10)), 209U);  // 208.3
  EXPECT_EQ(ShareOf(Asking(1)), 1U);
}

TEST(ShareSize, NoSmallerGpuIsTaken) {
  ResourceRequest request = Asking(40 << 10);
  ASSERT_TRUE(FillGpuShare(Cluster(), request).ok());
  EXPECT_EQ(request.gpus_per_task.count, 1U);
  EXPECT_EQ(request.gpus_per_task.memory, Bytes(80ULL << 30U));
}

TEST(ShareSize, WhatNoGpuHoldsIsRefused) {
  ResourceRequest request = Asking(81 << 10);
  EXPECT_EQ(
      FillGpuShare(Cluster(), request).message(),
      "--gpu-share: no GPU of this cluster has 81G of memory; muster topo shows what there is");
  request = Asking(30 << 10, "a30");
  EXPECT_EQ(FillGpuShare(Cluster(), request).message(),
            "--gpu-share: no " + Quote("a30") +
                " of this cluster has 30G of memory; muster topo shows what there is");
}

TEST(ShareSize, APartStaysAsItIs) {
  ResourceRequest request;
  request.gpu_share = GpuShare(300);
  EXPECT_EQ(ShareOf(request), 300U);
  EXPECT_EQ(ShareOf({}), 0U);
}

// A node with a GPU of 24 GiB.
class ShareSizeOfAJob : public ::testing::Test {
 protected:
  ShareSizeOfAJob() {
    testing::Shape shape;
    shape.gpus = 1;
    Registration registration = testing::World::RegistrationOf("n1", shape);
    registration.machine.gpus.front().memory = Bytes(24ULL << 30U);
    world_.Take(RegisterAgent{registration});
  }
  testing::World world_;
};

TEST_F(ShareSizeOfAJob, IsKnownWhenTheJobIsAccepted) {
  JobSpec spec = world_.Spec(testing::Tasks(1));
  spec.request.gpu_share_memory = Bytes(6ULL << 30U);
  spec.alternatives = {Alternative{spec.request, spec.time_limit}, Alternative{spec.request, {}}};
  spec.alternatives[1].request.gpu_share_memory = Bytes(12ULL << 30U);
  const Job& job = *world_.state.FindJob(world_.Submit(spec));
  EXPECT_EQ(job.spec->request.gpu_share, GpuShare(250));
  EXPECT_TRUE(job.spec->request.gpu_share_memory.zero());
  EXPECT_TRUE(job.spec->request.own_gpus);
  EXPECT_EQ(job.spec->alternatives[1].request.gpu_share, GpuShare(500));
}

TEST_F(ShareSizeOfAJob, IsRefusedBeforeItWaitsWhereNoGpuHasIt) {
  SubmitJob command;
  command.token = "t";
  command.spec = world_.Spec(testing::Tasks(1));
  command.spec.request.gpu_share_memory = Bytes(30ULL << 30U);
  EXPECT_TRUE(absl::IsFailedPrecondition(world_.Take(command).status));
  command.program = testing::Script();
  Component component{command.spec, command.program};
  command.spec.request.gpu_share_memory = Bytes(6ULL << 30U);
  command.components = {component};
  EXPECT_EQ(world_.Take(command).status.message(),
            "component 1: --gpu-share: no GPU of this cluster has 30G of memory; muster topo "
            "shows what there is");
}

}  // namespace
}  // namespace muster::core
