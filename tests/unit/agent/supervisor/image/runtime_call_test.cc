#include "agent/supervisor/image/runtime_call.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "agent/supervisor/image/runtime_config.h"
#include "scheduler/runtime/file.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::agent {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class RuntimeCallTest : public ::testing::Test {
 protected:
  // A runtime of that name that keeps its words in a file, and does what the script says.
  std::string Runtime(const std::string& name, const std::string& script) {
    const std::string path = directory_.path() + "/" + name;
    std::ofstream(path) << "#!/bin/sh\nprintf '%s ' \"$@\" >>" << Words() << "\n" << script << "\n";
    chmod(path.c_str(), 0755);
    return path;
  }
  std::string Words() const { return directory_.path() + "/words"; }
  void WriteConfig(const RuntimeParts& parts) const {
    std::ofstream(directory_.path() + "/config.json") << RuntimeConfig(parts);
  }

  const TempDirectory directory_;
};

TEST_F(RuntimeCallTest, ARuntimeIsCalledAsItsSpecificationSays) {
  RuntimeCall call(Runtime("runc", "echo 77 >" + directory_.path() + "/pid"), directory_.path());
  EXPECT_EQ(*call.Create(), 77);
  EXPECT_TRUE(call.Delete().ok());
  EXPECT_THAT(*ReadFile(Words()), AllOf(HasSubstr("create --bundle " + directory_.path()),
                                        HasSubstr("delete --force muster")));
}

TEST_F(RuntimeCallTest, ItsLastWordsSayWhyItFailed) {
  RuntimeCall call(
      Runtime("crun", "echo first >" + directory_.path() + "/runtime.log; echo why >>" +
                          directory_.path() + "/runtime.log; exit 1"),
      directory_.path());
  EXPECT_THAT(std::string(call.Create().status().message()), HasSubstr("crun: why"));
  RuntimeCall none(Runtime("crun", "exit 0"), directory_.path());
  EXPECT_FALSE(none.Create().ok());
}

TEST_F(RuntimeCallTest, PodmanIsToldTheSameAndKeepsAllItHasInTheContainersDirectory) {
  RuntimeParts parts{.root = "/r", .uid = 61001, .gid = 61002};
  parts.program = "/p";
  parts.mounts = {{"/a", "/b", true}};
  parts.devices.device_files = {"/dev/nvidia0"};
  parts.devices.hooks.push_back({"createContainer", "/bin/ldconfig", {"ldconfig"}});
  WriteConfig(parts);
  RuntimeCall call(Runtime("podman", "echo 78 >" + directory_.path() + "/pid"), directory_.path());
  EXPECT_EQ(*call.Create(), 78);
  EXPECT_TRUE(call.Delete().ok());
  const std::string words = *ReadFile(Words());
  EXPECT_THAT(words, HasSubstr("--root=" + directory_.path() +
                               "/state --runroot=" + directory_.path() + "/state"));
  EXPECT_THAT(words, HasSubstr("--uidmap=61001:0:1 --gidmap=61002:0:1"));
  EXPECT_THAT(words, HasSubstr("--volume=/a:/b:rbind,nosuid,ro,nodev"));
  EXPECT_THAT(words, HasSubstr("--volume=/dev/nvidia0:/dev/nvidia0:"));
  EXPECT_THAT(words, HasSubstr("--read-only --read-only-tmpfs=false"));
  EXPECT_THAT(words, HasSubstr(" --rootfs /r /.muster-rank "));
  EXPECT_THAT(words, HasSubstr(" init muster "));
  EXPECT_THAT(words, HasSubstr(" rm --force --time=0 muster "));
  EXPECT_THAT(*ReadFile(directory_.path() + "/containers.conf"), HasSubstr("lock_type = \"file\""));
  EXPECT_THAT(*ReadFile(directory_.path() + "/hooks/1.json"),
              AllOf(HasSubstr("/bin/ldconfig"), HasSubstr("createContainer")));
}

TEST_F(RuntimeCallTest, APathThatPodmanCannotBeToldIsRefusedByItsName) {
  RuntimeParts parts{.root = "/r"};
  parts.mounts = {{"/a:b", "/c", false}};
  EXPECT_THAT(std::string(PodmanOptions(RuntimeConfig(parts)).status().message()),
              HasSubstr("/a:b"));
  EXPECT_FALSE(PodmanOptions("no document").ok());
}

}  // namespace
}  // namespace muster::agent
