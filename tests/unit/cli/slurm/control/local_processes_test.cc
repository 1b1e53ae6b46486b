// The words of scontrol's changes, and the processes of jobs on this machine.

#include "cli/slurm/control/local_processes.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "cli/slurm/control/key_values.h"
#include "tests/unit/cli/slurm/recorded.h"

namespace muster::cli::slurm {
namespace {

std::string Environ(const std::vector<std::string>& entries) {
  std::string text;
  for (const std::string& entry : entries) {
    text += entry + '\0';
  }
  return text;
}

// A process as /proc shows it, with `parent`.
void Put(const std::filesystem::path& proc, int pid, int parent, const std::string& environment) {
  const std::filesystem::path folder = proc / std::to_string(pid);
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "environ", std::ios::binary) << environment;
  std::ofstream(folder / "stat") << pid << " (a (b) c) S " << parent << " 1 1 0";
}

TEST(LocalProcesses, BelongToTheJobAndRankThatTheirEnvironmentNames) {
  EXPECT_EQ(ReadLocalProcess(5, Environ({"HOME=/", "MUSTER_JOB_ID=7", "MUSTER_STEP_ID=1",
                                         "MUSTER_PROCID=3", "MUSTER_LOCALID=1"})),
            (LocalProcess{5, 7, "1", "1", "3"}));
  EXPECT_EQ(ReadLocalProcess(5, Environ({"MUSTER_JOB_ID=7"})),
            (LocalProcess{5, 7, "batch", "0", "0"}));
  EXPECT_FALSE(ReadLocalProcess(5, Environ({"HOME=/"})).has_value());
  EXPECT_FALSE(ReadLocalProcess(5, Environ({"MUSTER_JOB_ID=x"})).has_value());
}

TEST(LocalProcesses, ARanksChildrenAreNoRanks) {
  const std::filesystem::path proc =
      std::filesystem::path(::testing::TempDir()) / "local_processes_proc";
  std::filesystem::remove_all(proc);
  const std::string rank =
      Environ({"MUSTER_JOB_ID=7", "MUSTER_STEP_ID=1", "MUSTER_PROCID=3", "MUSTER_LOCALID=1"});
  Put(proc, 10, 1, rank);
  Put(proc, 11, 10, rank);
  Put(proc, 12, 1, Environ({"HOME=/"}));
  std::filesystem::create_directories(proc / "sys");
  const std::vector<LocalProcess> found = LocalProcesses(proc.string());
  EXPECT_EQ(found, (std::vector<LocalProcess>{{10, 7, "1", "1", "3"}, {11, 7, "1", "-", "-"}}));
  const std::string table = ProcessTable(found);
  EXPECT_EQ(table.substr(0, table.find('\n') + 1),
            recorded::Of("scontrol", "scontrol listpids 14").out);
  std::filesystem::remove_all(proc);
}

TEST(KeyValues, AreReadAsSlurmReadsThem) {
  const KeyValues pairs = ReadKeyValues({"job", "7", "TimeLimit=30", "Comment=a=b"}).value();
  EXPECT_EQ(ValueOf(pairs, "jobid"), "7");
  EXPECT_EQ(ValueOf(pairs, "timelimit"), "30");
  EXPECT_EQ(ValueOf(pairs, "comment"), "a=b");
  EXPECT_FALSE(HasKey(pairs, "nice"));
  EXPECT_EQ(std::string(ReadKeyValues({"partition"}).status().message()) + "\n",
            recorded::Of("scontrol_change", "scontrol create partition").err);
  EXPECT_FALSE(ReadKeyValues({"=3"}).ok());
}

}  // namespace
}  // namespace muster::cli::slurm
