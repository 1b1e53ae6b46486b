#include "agent/supervisor/image/device_edits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "agent/supervisor/image/yaml_document.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr const char* kJson = R"({"cdiVersion":"0.6.0","kind":"nvidia.com/gpu","devices":[
  {"name":"0","containerEdits":{"deviceNodes":[{"path":"/dev/nvidia0"}]}},
  {"name":"GPU-b","containerEdits":{"deviceNodes":[{"path":"/dev/nvidia1"},{"path":"/dev/nvidiactl"}]}}],
  "containerEdits":{"env":["NVIDIA_VISIBLE_DEVICES=void"],
   "deviceNodes":[{"path":"/dev/nvidiactl","hostPath":"/dev/nvidiactl"}],
   "mounts":[{"hostPath":"/lib/libcuda.so.1","containerPath":"/lib/libcuda.so.1","options":["ro","bind"]}],
   "hooks":[{"hookName":"createContainer","path":"/usr/bin/hook","args":["hook","ldcache"]}]}})";

// As nvidia-ctk writes it.
constexpr const char* kYaml = R"(---
cdiVersion: 0.5.0
containerEdits:
  deviceNodes:
  - path: /dev/nvidiactl
  env:
  - NVIDIA_VISIBLE_DEVICES=void
devices:
- containerEdits:
    deviceNodes:
    - path: /dev/nvidia0
  name: "0"
kind: nvidia.com/gpu
)";

TEST(DeviceEdits, OnlyTheJobsOwnDevicesOfADescriptionCount) {
  const absl::StatusOr<DeviceEdits> edits = EditsFrom(kJson, {{1, "GPU-b"}});
  ASSERT_TRUE(edits.ok()) << edits.status();
  EXPECT_THAT(edits->device_files, ElementsAre("/dev/nvidia1", "/dev/nvidiactl"));
  EXPECT_THAT(edits->environment, ElementsAre("NVIDIA_VISIBLE_DEVICES=void"));
  EXPECT_THAT(edits->mounts,
              ElementsAre(ContainerMount{"/lib/libcuda.so.1", "/lib/libcuda.so.1", true}));
  EXPECT_THAT(edits->hooks,
              ElementsAre(DeviceHook{"createContainer", "/usr/bin/hook", {"hook", "ldcache"}}));
}

TEST(DeviceEdits, ADescriptionInYamlSaysTheSame) {
  const absl::StatusOr<DeviceEdits> edits = EditsFrom(kYaml, {{0, "GPU-a"}});
  ASSERT_TRUE(edits.ok()) << edits.status();
  EXPECT_THAT(edits->device_files, ElementsAre("/dev/nvidia0", "/dev/nvidiactl"));
}

TEST(DeviceEdits, ADescriptionThatLacksADeviceIsNotFollowed) {
  EXPECT_TRUE(absl::IsNotFound(EditsFrom(kJson, {{0, "GPU-a"}, {7, "GPU-h"}}).status()));
  EXPECT_FALSE(EditsFrom("[1, 2]", {{0, "GPU-a"}}).ok());
  EXPECT_FALSE(EditsFrom("a: [", {{0, "GPU-a"}}).ok());
  EXPECT_FALSE(
      EditsFrom(R"({"devices":[{"name":"0","containerEdits":{"env":[1]}}]})", {{0, ""}}).ok());
}

TEST(DeviceEdits, ADocumentThatHoldsItselfIsRefused) {
  EXPECT_FALSE(ParseJsonOrYaml("a: &x\n  b: *x\n").ok());
  EXPECT_EQ(ParseJsonOrYaml("a: [1, \"1\", true, null]")->dump(), R"({"a":[1,"1",true,null]})");
}

TEST(DeviceEdits, DescriptionsAreReadInTheOrderOfTheirNames) {
  const TempDirectory directory;
  std::ofstream(directory.path() + "/b.yaml") << "b";
  std::ofstream(directory.path() + "/a.json") << "a";
  std::ofstream(directory.path() + "/c.txt") << "c";
  EXPECT_THAT(ReadDescriptions({"/no/such/directory", directory.path()}), ElementsAre("a", "b"));
}

TEST(DeviceEdits, WithoutADescriptionTheDriversLibrariesAreShown) {
  const DeviceEdits edits = EditsFromDriver(
      "3 libs found in cache\n"
      "\tlibcuda.so.1 (libc6,x86-64) => /lib/x86_64-linux-gnu/libcuda.so.1\n"
      "\tlibcuda.so.1 (libc6,AArch64) => /lib/aarch64-linux-gnu/libcuda.so.1\n"
      "\tlibcuda.so.1 (libc6) => /lib/i386-linux-gnu/libcuda.so.1\n"
      "\tlibnvidia-container.so.1 (libc6,x86-64) => /lib/libnvidia-container.so.1\n"
      "\tlibc.so.6 (libc6,x86-64) => /lib/x86_64-linux-gnu/libc.so.6\n",
      {"/usr/bin/nvidia-smi"});
  ASSERT_EQ(edits.mounts.size(), 2U);
  EXPECT_EQ(edits.mounts[0].destination, "/usr/local/nvidia/lib64/libcuda.so.1");
  EXPECT_TRUE(edits.mounts[0].read_only);
  EXPECT_EQ(edits.mounts[1].destination, "/usr/local/nvidia/bin/nvidia-smi");
  EXPECT_THAT(EditsFromDriver("", {}).mounts, IsEmpty());
}

}  // namespace
}  // namespace muster::agent
