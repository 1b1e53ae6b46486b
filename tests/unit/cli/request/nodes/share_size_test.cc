#include "cli/request/nodes/share_size.h"

#include <gtest/gtest.h>

#include <utility>

#include "cli/request/job_options.h"
#include "scheduler/base/text/words.h"

namespace muster::cli {
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

absl::StatusOr<JobRequest> Read(const std::map<std::string, std::string>& values,
                                JobVerb verb = JobVerb::kSubmit) {
  return ReadJobOptions(values, {}, verb, {});
}

const std::vector<const Machine*>& Cluster() {
  static const Machine small = With("NVIDIA A30", 24, 2);
  static const Machine large = With("NVIDIA H100 80GB", 80, 1);
  static const Machine none;
  static const std::vector<const Machine*> all = {&none, &large, &small};
  return all;
}

std::uint32_t ShareOf(const std::map<std::string, std::string>& values) {
  absl::StatusOr<JobRequest> request = Read(values);
  EXPECT_TRUE(request.ok()) << request.status();
  const absl::Status filled = FillGpuShare(Cluster(), &*request);
  EXPECT_TRUE(filled.ok()) << filled;
  return request->spec.request.gpu_share.value();
}

TEST(ShareSize, IsThePartOfTheSmallestGpuThatHoldsIt) {
  EXPECT_EQ(ShareOf({{"gpu-share", "6G"}}), 250U);
  EXPECT_EQ(ShareOf({{"gpu-share", "24G"}}), 1000U);
  EXPECT_EQ(ShareOf({{"gpu-share", "40G"}}), 500U) << "the smaller ones are too small";
  EXPECT_EQ(ShareOf({{"gpu-share", "6G"}, {"gpus", "h100:1"}}), 75U);
}

TEST(ShareSize, IsRoundedUp) {
  EXPECT_EQ(ShareOf({{"gpu-share", "5G"}}), 209U);  // 208.3
  EXPECT_EQ(ShareOf({{"gpu-share", "1M"}}), 1U);
}

TEST(ShareSize, NoSmallerGpuIsTaken) {
  absl::StatusOr<JobRequest> request = Read({{"gpu-share", "40G"}});
  ASSERT_TRUE(request.ok());
  ASSERT_TRUE(FillGpuShare(Cluster(), &*request).ok());
  EXPECT_EQ(request->spec.request.gpus_per_task.count, 1U);
  EXPECT_EQ(request->spec.request.gpus_per_task.memory, Bytes(80ULL << 30U));
}

TEST(ShareSize, WhatNoGpuHoldsIsRefused) {
  absl::StatusOr<JobRequest> request = Read({{"gpu-share", "81G"}});
  ASSERT_TRUE(request.ok());
  EXPECT_EQ(
      FillGpuShare(Cluster(), &*request).message(),
      "--gpu-share: no GPU of this cluster has 81G of memory; muster topo shows what there is");
  request = Read({{"gpu-share", "30G"}, {"gpus-per-task", "a30:1"}});
  ASSERT_TRUE(request.ok());
  EXPECT_EQ(FillGpuShare(Cluster(), &*request).message(),
            "--gpu-share: no " + Quote("a30") +
                " of this cluster has 30G of memory; muster topo shows what there is");
}

TEST(ShareSize, APartStaysAsItIs) {
  EXPECT_EQ(ShareOf({{"gpu-share", "0.3"}}), 300U);
  EXPECT_EQ(ShareOf({}), 0U);
}

TEST(ShareSize, IsRefusedWhereNothingTurnsItIntoAPart) {
  EXPECT_FALSE(Read({{"gpu-share", "20"}}).ok());
  EXPECT_FALSE(Read({{"gpu-share", "20X"}}).ok());
  EXPECT_FALSE(Read({{"alt", "--gpu-share=6G|--gpu-share=0.5"}}).ok());
  const absl::StatusOr<JobRequest> request = Read({{"gpu-share", "6G"}});
  ASSERT_TRUE(request.ok());
  EXPECT_FALSE(RefuseShareSize(*request).ok());
  EXPECT_GT(request->spec.request.gpu_share, kWholeGpu) << "no controller takes it as it is";
}

}  // namespace
}  // namespace muster::cli
