// srun's scripts around a task, as a shell runs them.

#include "cli/slurm/submit/task_scripts.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cstdio>
#include <fstream>

#include "cli/page/shell_words.h"

namespace muster::cli::slurm {
namespace {

std::string Script(const std::string& name, const std::string& text) {
  const std::string path = ::testing::TempDir() + "/" + name;
  std::ofstream(path) << "#!/bin/sh\n" << text;
  chmod(path.c_str(), 0700);
  return path;
}

struct Ran {
  std::string output;
  int code = 0;
};

Ran RunAll(const std::vector<std::string>& command) {
  Ran ran;
  FILE* const pipe = popen(ShellWords(command).c_str(), "r");
  for (int c = fgetc(pipe); c != EOF; c = fgetc(pipe)) {
    ran.output += static_cast<char>(c);
  }
  const int status = pclose(pipe);
  ran.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return ran;
}

TEST(TaskScripts, APrologPrintsAndSetsVariablesOfItsTask) {
  const std::string prolog = Script("prolog",
                                    "echo export 'A=two  words; $HOME'\necho unset B\n"
                                    "echo print from the prolog\necho export 'bad name=1'\n"
                                    "echo nothing that counts\nexit 3\n");
  setenv("B", "there", 1);
  const Ran ran = RunAll(AroundTask(prolog, "", {"sh", "-c", "echo \"[$A] [$B]\"; exit 5"}));
  EXPECT_EQ(ran.output, "from the prolog\n[two  words; $HOME] []\n");
  EXPECT_EQ(ran.code, 5);
}

TEST(TaskScripts, AnEpilogRunsAfterTheTaskWhoseCodeCounts) {
  const std::string epilog = Script("epilog", "echo after\nexit 7\n");
  const Ran ran = RunAll(AroundTask("", epilog, {"sh", "-c", "echo task; exit 4"}));
  EXPECT_EQ(ran.output, "task\nafter\n");
  EXPECT_EQ(ran.code, 4);
}

TEST(TaskScripts, ASignalReachesTheTaskAndTheEpilogStillRuns) {
  const std::string epilog = Script("epilog2", "echo after\n");
  const Ran ran =
      RunAll(AroundTask("", epilog,
                        {"sh", "-c",
                         "trap 'echo caught; exit 9' TERM; sleep 0.3; kill -TERM $PPID; "
                         "while :; do sleep 0.1; done"}));
  EXPECT_EQ(ran.output, "caught\nafter\n");
  EXPECT_EQ(ran.code, 9);
}

}  // namespace
}  // namespace muster::cli::slurm
