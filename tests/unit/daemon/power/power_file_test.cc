#include "scheduler/settings/power_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pwd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "daemon/power/power_user.h"
#include "daemon/serve/config.h"
#include "scheduler/settings/settings_file.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::daemon {
namespace {

using ::testing::HasSubstr;

constexpr const char* kPrograms = "suspend = \"/sbin/off\"\nresume = \"/sbin/on\"\n";

absl::Status Read(const std::string& text, SchedulerConfig* config) {
  absl::StatusOr<ConfigFile> file = ConfigFile::Parse(text, "m.toml");
  if (!file.ok()) {
    return file.status();
  }
  absl::Status status = ReadSettings(*file, *config);
  return status.ok() ? file->RefuseUnknownKeys() : status;
}

// The refusal of a class of nodes n[1-4] with its programs and these lines.
std::string ErrorOf(const std::string& lines) {
  SchedulerConfig config;
  const absl::Status status =
      Read(std::string("[power.a]\nnodes = \"n[1-4]\"\n") + kPrograms + lines, &config);
  EXPECT_FALSE(status.ok()) << lines;
  return std::string(status.message());
}

TEST(PowerFile, AClassOfNodesIsReadWithAllItsKeys) {
  SchedulerConfig config;
  const absl::Status status = Read(
      "[power.cloud]\nnodes = \"c[1-100]\"\nexcept = \"c[1-2]\"\nidle = \"10m\"\n"
      "suspend = \"/sbin/off\"\nresume = \"/sbin/on\"\nsuspend_timeout = \"40s\"\n"
      "resume_timeout = \"5m\"\nboot_time = \"90s\"\nkeep_on = 3\nmax_on = 20\nrate = 10\n"
      "user = \"slurm\"\nbusy_watts = 350\nidle_watts = 150\noff_watts = 5\n",
      &config);
  ASSERT_TRUE(status.ok()) << status;
  ASSERT_EQ(config.power.size(), 1U);
  PowerClass kind;
  kind.name = "cloud";
  kind.nodes = "c[1-100]";
  kind.except = "c[1-2]";
  kind.idle = std::chrono::minutes(10);
  kind.suspend = "/sbin/off";
  kind.resume = "/sbin/on";
  kind.user = "slurm";
  kind.suspend_time = std::chrono::seconds(40);
  kind.resume_timeout = std::chrono::minutes(5);
  kind.boot_time = std::chrono::seconds(90);
  kind.keep_on = 3;
  kind.most_on = 20;
  kind.rate = 10;
  kind.busy_watts = 350;
  kind.idle_watts = 150;
  kind.off_watts = 5;
  EXPECT_EQ(config.power.front(), kind);
}

TEST(PowerFile, WithoutATableNothingIsSwitchedOff) {
  SchedulerConfig config;
  ASSERT_TRUE(Read("[policy]\nbackfill = \"none\"\n", &config).ok());
  EXPECT_TRUE(config.power.empty());
}

TEST(PowerFile, NodesAreSwitchedForJobsWithoutPlacesToo) {
  SchedulerConfig config;
  const absl::Status status = Read(std::string("[policy]\nbackfill = \"none\"\n[power.a]\n") +
                                       "nodes = \"n[1-4]\"\n" + kPrograms,
                                   &config);
  EXPECT_TRUE(status.ok()) << status;
}

TEST(PowerFile, AMistakeIsNamedWithItsLine) {
  EXPECT_THAT(ErrorOf("nodez = \"x\"\n"), HasSubstr("m.toml:5: power.a.nodez: "));
  EXPECT_THAT(ErrorOf("except = \"n[\"\n"), HasSubstr("m.toml:5: power.a.except: "));
  EXPECT_THAT(ErrorOf("except = \"ALL\"\n"), HasSubstr("leave the table out"));
  EXPECT_THAT(ErrorOf("idle = 10\n"), HasSubstr("m.toml:5: power.a.idle: "));
  EXPECT_THAT(ErrorOf("keep_on = -1\n"), HasSubstr("m.toml:5: power.a.keep_on: "));
  EXPECT_THAT(ErrorOf("suspend_timeout = \"0s\"\n"), HasSubstr("takes a while to shut down"));
  EXPECT_THAT(ErrorOf("boot_time = \"0s\"\n"), HasSubstr("takes a while to boot"));
  EXPECT_THAT(ErrorOf("boot_time = \"1h\"\n"), HasSubstr("m.toml:5: power.a.boot_time: is longer"));
  EXPECT_THAT(ErrorOf("idle_watts = 100\noff_watts = 100\n"), HasSubstr("give all three, or none"));
  EXPECT_THAT(ErrorOf(std::string("[power.b]\nnodes = \"n4\"\n") + kPrograms),
              HasSubstr("m.toml:6: power.b.nodes: n4 is in power.a, too"));
  EXPECT_THAT(ErrorOf(std::string("[power.b]\nnodes = \"ALL\"\n") + kPrograms),
              HasSubstr("\"ALL\" leaves no node"));
  SchedulerConfig config;
  EXPECT_THAT(std::string(Read("[power]\nidle = \"10m\"\n", &config).message()),
              HasSubstr("m.toml:2: power.idle: is no table"));
  EXPECT_THAT(std::string(Read("[power.a]\nidle = \"10m\"\n", &config).message()),
              HasSubstr("m.toml:1: power.a: say which nodes"));
  EXPECT_THAT(
      std::string(Read("[power.a]\nnodes = \"n1\"\nsuspend = \"off\"\n", &config).message()),
      HasSubstr("m.toml:3: power.a.suspend: \"off\" is no absolute path"));
  EXPECT_THAT(
      std::string(Read("[power.a]\nnodes = \"n1\"\nsuspend = \"/off\"\n", &config).message()),
      HasSubstr("m.toml:1: power.a: give both programs"));
}

TEST(PowerFile, AUserWhomTheMachineDoesNotKnowIsRefusedWithTheLine) {
  const TempDirectory directory;
  const std::string path = directory / "m.toml";
  std::ofstream(path) << "[power.a]\nnodes = \"n[1-4]\"\n"
                      << kPrograms << "user = \"nobody-of-that-name\"\n";
  DaemonConfig config;
  EXPECT_EQ(std::string(ReadConfigFile(path, config).message()),
            path + ":5: power.a.user: \"nobody-of-that-name\" is no user of this machine");
}

TEST(PowerUser, OfOurOwnOrOfNoneThereIsNothingToBecome) {
  EXPECT_EQ(FindPowerUser("")->has_value(), false);
  const passwd* const own = getpwuid(geteuid());
  ASSERT_NE(own, nullptr);
  EXPECT_EQ(FindPowerUser(own->pw_name)->has_value(), false);
}

TEST(PowerUser, WhoIsNotRootCannotRunProgramsAsAnybodyElse) {
  const passwd* const nobody = getpwnam("nobody");
  ASSERT_NE(nobody, nullptr);
  const uid_t uid = nobody->pw_uid;
  const pid_t child = fork();
  if (child == 0) {
    const bool other = geteuid() != 0 || setresuid(uid, uid, uid) == 0;
    const auto root = FindPowerUser("root");
    _exit(other && absl::IsPermissionDenied(root.status()) ? 0 : 1);
  }
  int status = 1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace muster::daemon
