#include "cli/run/profiler.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/runtime/file.h"
#include "scheduler/runtime/process.h"
#include "scheduler/runtime/unique_fd.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::cli {
namespace {

using ::testing::HasSubstr;

// Programs with the tools' names that write what they were given, a word a line, and the rank that
// runs them.
class ProfilerTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(mkdir(Tools().c_str(), 0700), 0); }

  std::string Tools() const { return directory_ / "tools"; }
  void Install(const std::string& tool) {
    const std::string path = absl::StrCat(Tools(), "/", tool);
    ASSERT_TRUE(
        WriteFileAtomically(path, absl::StrCat("#!/bin/sh\nprintf '%s\\n' ", tool, " \"$@\"\n"))
            .ok());
    ASSERT_EQ(chmod(path.c_str(), 0700), 0);
  }

  // What rank 3 of step 12.1 prints under the tool; "exit N: …" when it does not end with 0.
  std::string RunRank(const std::string& tool, const std::vector<std::string>& command,
                      const std::string& path) {
    const absl::StatusOr<std::vector<std::string>> words = ProfiledCommand(tool, command);
    EXPECT_TRUE(words.ok()) << words.status();
    const UniqueFd out(
        open((directory_ / "out").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    const UniqueFd in(open("/dev/null", O_RDONLY | O_CLOEXEC));
    const absl::StatusOr<pid_t> pid =
        Spawn({.program = words->front(),
               .arguments = *words,
               .environment = {absl::StrCat("PATH=", path), "MUSTER_JOB_ID=12", "MUSTER_STEP_ID=1",
                               "MUSTER_PROCID=3", "MUSTER_NODE_NAME=n7"},
               .working_directory = directory_.path(),
               .fds = {{in.get(), 0}, {out.get(), 1}, {out.get(), 2}},
               .new_session = true});
    EXPECT_TRUE(pid.ok()) << pid.status();
    int status = 0;
    EXPECT_EQ(waitpid(*pid, &status, 0), *pid);
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return absl::StrCat(code == 0 ? "" : absl::StrCat("exit ", code, ": "),
                        ReadFile(directory_ / "out").value());
  }
  std::string WithTools() const { return absl::StrCat(Tools(), ":/usr/bin:/bin"); }

  TempDirectory directory_;
};

TEST_F(ProfilerTest, EachToolHasAFileOfTheRankAndTheWordsOfTheCommand) {
  for (const char* tool : {"nsys", "ncu", "perf"}) {
    Install(tool);
  }
  const std::string place = directory_.path() + "/";
  const std::vector<std::string> command = {"./solve", "a b", "$HOME", "-o"};
  const std::string words = "./solve\na b\n$HOME\n-o\n";
  EXPECT_EQ(RunRank("nsys", command, WithTools()),
            "nsys\nprofile\n--force-overwrite=true\n--output=" + place + "nsys-12.1.3\n" + words);
  EXPECT_EQ(RunRank("ncu", command, WithTools()),
            "ncu\n--force-overwrite\n--target-processes\nall\n--export\n" + place + "ncu-12.1.3\n" +
                words);
  EXPECT_EQ(RunRank("perf", command, WithTools()),
            "perf\nrecord\n-q\n-g\n-o\n" + place + "perf-12.1.3.data\n--\n" + words);
}

TEST_F(ProfilerTest, TheNewerToolOfAmdIsTakenWhereItIsThere) {
  const std::string output = directory_.path() + "/rocprof-12.1.3";
  Install("rocprof");
  EXPECT_EQ(RunRank("rocprof", {"./solve"}, WithTools()),
            "rocprof\n--sys-trace\n-o\n" + output + ".csv\n./solve\n");
  Install("rocprofv3");
  EXPECT_EQ(RunRank("rocprof", {"./solve"}, WithTools()),
            "rocprofv3\n--sys-trace\n-d\n" + output + "\n-o\nrank\n--\n./solve\n");
}

TEST_F(ProfilerTest, APyTorchProgramFindsItsProfilersSettings) {
  const std::string output = directory_.path() + "/torch-12.1.3";
  EXPECT_EQ(RunRank("torch",
                    {"/bin/sh", "-c",
                     "echo $KINETO_USE_DAEMON $KINETO_DAEMON_INIT_DELAY_S; cat $KINETO_CONFIG"},
                    WithTools()),
            "1 5\nENABLE_SIGUSR2=YES\nENABLE_IPC_FABRIC=YES\nACTIVITIES_LOG_FILE=" + output +
                ".json\nACTIVITIES_DURATION_MSECS=2000\n");
}

TEST_F(ProfilerTest, ARankWhoseNodeLacksTheToolSaysSoAndRunsNothing) {
  for (const char* tool : {"nsys", "ncu", "rocprof", "perf"}) {
    EXPECT_EQ(RunRank(tool, {"/bin/touch", "ran"}, Tools()),
              absl::StrCat("exit 127: muster: --profile: ", tool,
                           " is not installed on n7: install it there, or add its directory to "
                           "PATH\n"));
  }
  EXPECT_FALSE(ReadFile(directory_ / "ran").ok());
}

TEST_F(ProfilerTest, AToolThatIsNotHereIsRefusedBeforeTheStart) {
  const Environment environment({absl::StrCat("PATH=", Tools())});
  for (const char* tool : {"nsys", "ncu", "perf"}) {
    const absl::Status status = CheckProfiler(tool, "/", environment);
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(status.message()),
                HasSubstr(absl::StrCat("--profile=", tool, ": ", tool, " is not installed")));
  }
  Install("nsys");
  EXPECT_TRUE(CheckProfiler("nsys", "/", environment).ok());
  Install("rocprof");
  EXPECT_TRUE(CheckProfiler("rocprof", "/", environment).ok()) << "the older one will do";
  EXPECT_TRUE(CheckProfiler("torch", "/", environment).ok()) << "the program brings it";
}

TEST_F(ProfilerTest, ANameThatIsNoToolIsBadUsage) {
  EXPECT_EQ(ProfiledCommand("gdb", {"./solve"}).status(),
            absl::InvalidArgumentError("--profile: \"gdb\" is no profiler that is known: use one "
                                       "of nsys, ncu, rocprof, perf, torch"));
  EXPECT_EQ(CheckProfiler("gdb", "/", Environment()).code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(ProfilerTest, TheKernelsLevelSaysWhoMayMeasure) {
  EXPECT_TRUE(MayMeasure("-1\n"));
  EXPECT_TRUE(MayMeasure("2\n"));
  EXPECT_FALSE(MayMeasure("3\n"));
  EXPECT_FALSE(MayMeasure("4\n"));
  EXPECT_TRUE(MayMeasure("")) << "a kernel without it refuses by itself";
}

TEST_F(ProfilerTest, TheDriversParametersSayWhoMayReadCounters) {
  EXPECT_TRUE(CountersAreRoots("Mobile: 4294967295\nRmProfilingAdminOnly: 1\n"));
  EXPECT_FALSE(CountersAreRoots("Mobile: 4294967295\nRmProfilingAdminOnly: 0\n"));
}

}  // namespace
}  // namespace muster::cli
