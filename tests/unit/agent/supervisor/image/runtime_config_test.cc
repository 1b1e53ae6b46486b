#include "agent/supervisor/image/runtime_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "nlohmann/json.hpp"

namespace muster::agent {
namespace {

using Json = nlohmann::json;

Json Document(const RuntimeParts& parts) {
  return Json::parse(RuntimeConfig(parts));
}

Json MountAt(const Json& document, const std::string& destination) {
  for (const Json& mount : document["mounts"]) {
    if (mount["destination"] == destination) {
      return mount;
    }
  }
  return {};
}

bool Has(const Json& mount, const std::string& option) {
  const std::vector<std::string> options = mount["options"];
  return std::find(options.begin(), options.end(), option) != options.end();
}

TEST(RuntimeConfigTest, OnlyUsersAndMountsAreTheContainersOwn) {
  const Json document = Document({.root = "/r", .uid = 61001, .gid = 61002});
  EXPECT_EQ(document["linux"]["namespaces"], Json::parse(R"([{"type":"user"},{"type":"mount"}])"));
  EXPECT_EQ(document["linux"]["uidMappings"][0]["containerID"], 61001);
  EXPECT_EQ(document["linux"]["uidMappings"][0]["size"], 1);
  EXPECT_EQ(document["linux"]["gidMappings"][0]["containerID"], 61002);
  EXPECT_TRUE(document["process"]["noNewPrivileges"]);
  EXPECT_TRUE(document["root"]["readonly"]);
}

TEST(RuntimeConfigTest, NoMountKeepsSetUserIds) {
  RuntimeParts parts{.root = "/r",
                     .mounts = {{"/data", "/data", true}, {"/home/a", "/home/a", false}}};
  parts.devices.device_files = {"/dev/nvidia0"};
  parts.devices.mounts = {{"/lib/libcuda.so.1", "/lib64/libcuda.so.1", true}};
  const Json document = Document(parts);
  for (const Json& mount : document["mounts"]) {
    EXPECT_TRUE(Has(mount, "nosuid")) << mount;
  }
  EXPECT_TRUE(Has(MountAt(document, "/data"), "ro"));
  EXPECT_TRUE(Has(MountAt(document, "/home/a"), "rw"));
  EXPECT_TRUE(Has(MountAt(document, "/data"), "nodev"));
  EXPECT_FALSE(Has(MountAt(document, "/dev/nvidia0"), "nodev")) << "it would be no device";
}

TEST(RuntimeConfigTest, AUsersMountsComeAfterThoseOfEveryContainer) {
  const Json document = Document({.root = "/r", .mounts = {{"/scratch", "/tmp", false}}});
  std::vector<std::string> sources;
  for (const Json& mount : document["mounts"]) {
    if (mount["destination"] == "/tmp") {
      sources.push_back(mount["source"]);
    }
  }
  EXPECT_EQ(sources, (std::vector<std::string>{"/tmp", "/scratch"}));
}

TEST(RuntimeConfigTest, HooksStandUnderTheirNames) {
  RuntimeParts parts{.root = "/r"};
  EXPECT_FALSE(Document(parts).contains("hooks"));
  parts.devices.hooks = {{"createContainer", "/usr/bin/hook", {"hook", "x"}}};
  EXPECT_EQ(Document(parts)["hooks"]["createContainer"][0]["path"], "/usr/bin/hook");
}

}  // namespace
}  // namespace muster::agent
