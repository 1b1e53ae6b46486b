#include "cli/request/record/run_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "scheduler/model/value/program_record.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::cli {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

using Variables = std::vector<std::string>;

class RunRecordTest : public ::testing::Test {
 protected:
  [[nodiscard]] Variables Of(const Variables& environment) const {
    Program program;
    program.environment = environment;
    program.script = "#!/bin/sh\n";
    program.work_dir = directory_.path();
    return RunRecord(program, {});
  }
  [[nodiscard]] std::string HashOf(const Variables& environment) const {
    const Variables record = Of(environment);
    return *std::find_if(record.begin(), record.end(), [](const std::string& line) {
      return line.rfind("environment=", 0) == 0;
    });
  }

  const TempDirectory directory_;
};

TEST_F(RunRecordTest, NamesWhatARunIsMadeOfInOrder) {
  EXPECT_THAT(
      Of({"LOADEDMODULES=gcc/12:openmpi/4", "VIRTUAL_ENV=/v", "PYTHONHASHSEED=0",
          "CONDA_DEFAULT_ENV=base", "SEED=7"}),
      ElementsAre("conda=base", StartsWith("environment="), "modules=gcc/12:openmpi/4",
                  StartsWith("program="), "seed.PYTHONHASHSEED=0", "seed.SEED=7", "virtualenv=/v"));
}

TEST_F(RunRecordTest, NamesWhereAndHowOftenItCheckpointsWhereThatWasSaid) {
  EXPECT_THAT(Of({"MUSTER_SUBMIT_CHECKPOINT_DIR=/state", "MUSTER_CHECKPOINT_INTERVAL=auto"}),
              ElementsAre("checkpoint.directory=/state", "checkpoint.interval=auto",
                          StartsWith("environment="), StartsWith("program=")));
}

TEST_F(RunRecordTest, TheHashIsThatOfAllVariablesButTheShellsOwn) {
  const Variables one = {"A=1", "B=2"};
  EXPECT_EQ(HashOf(one), HashOf({"B=2", "A=1", "PWD=/x", "SHLVL=4", "XDG_SESSION_ID=9"}));
  EXPECT_NE(HashOf(one), HashOf({"A=1", "B=3"}));
  EXPECT_NE(HashOf(one), HashOf({"A=1"}));
}

TEST_F(RunRecordTest, TheProgramIsKnownByItsScriptAndItsCommand) {
  Program program;
  program.work_dir = directory_.path();
  program.script = "#!/bin/sh\n";
  program.argv = {"train.sh", "--epochs", "7"};
  const std::string one = ProgramLineOf(RunRecord(program, {}));
  EXPECT_EQ(one, ProgramLineOf(RunRecord(program, {})));
  program.environment = {"A=1"};
  EXPECT_EQ(one, ProgramLineOf(RunRecord(program, {})));
  program.argv.back() = "8";
  EXPECT_NE(one, ProgramLineOf(RunRecord(program, {})));
  program.argv.back() = "7";
  program.script += "exit 0\n";
  EXPECT_NE(one, ProgramLineOf(RunRecord(program, {})));
  EXPECT_EQ(ProgramLineOf({"programs=1", "program"}), "");
}

TEST_F(RunRecordTest, NoValueThatMayBeASecretIsInIt) {
  for (const std::string& line : Of({"TOKEN=hunter2", "API_KEY=hunter2", "MY_SEED=hunter2"})) {
    EXPECT_THAT(line, Not(::testing::HasSubstr("hunter2")));
  }
}

TEST_F(RunRecordTest, AValueThatCannotBeSentOrIsLongIsItsHash) {
  EXPECT_THAT(Of({"VIRTUAL_ENV=\xff"}), Contains(StartsWith("virtualenv=hash ")));
  EXPECT_THAT(Of({"LOADEDMODULES=" + std::string(1000, 'm')}),
              Contains(StartsWith("modules=hash ")));
}

TEST_F(RunRecordTest, WhoWantsNoneHasNone) {
  Program program;
  program.environment = {"SEED=7"};
  program.work_dir = directory_.path();
  EXPECT_THAT(RunRecord(program, {"MUSTER_RECORD=0"}), IsEmpty());
}

}  // namespace
}  // namespace muster::cli
