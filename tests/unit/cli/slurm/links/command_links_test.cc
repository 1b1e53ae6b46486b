// The links of Slurm's commands, and the table that they lead to.

#include "cli/slurm/links/command_links.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "cli/slurm/commands.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::cli::slurm {
namespace {

namespace fs = std::filesystem;

class CommandLinks : public ::testing::Test {
 protected:
  const TempDirectory own_;
  const fs::path directory_ = own_ / "links";
};

TEST_F(CommandLinks, EveryCommandOfTheTableHasALink) {
  std::vector<std::string> table;
  for (const Command& command : AllCommands()) {
    table.emplace_back(command.name);
  }
  EXPECT_EQ(table, std::vector<std::string>(CommandNames().begin(), CommandNames().end()));
  ASSERT_TRUE(LinkCommands("/somewhere/muster-slurm", directory_ / "below").ok());
  for (const std::string& name : table) {
    EXPECT_EQ(fs::read_symlink(directory_ / "below" / name), "/somewhere/muster-slurm");
  }
}

TEST_F(CommandLinks, LinkingAgainRenewsTheLinks) {
  ASSERT_TRUE(LinkCommands("/old/muster-slurm", directory_).ok());
  ASSERT_TRUE(LinkCommands("/new/muster-slurm", directory_).ok());
  EXPECT_EQ(fs::read_symlink(directory_ / "squeue"), "/new/muster-slurm");
}

TEST_F(CommandLinks, WhatIsNotOursIsNotReplaced) {
  fs::create_directories(directory_);
  std::ofstream(directory_ / "squeue") << "a program";
  const absl::Status status = LinkCommands("/new/muster-slurm", directory_);
  EXPECT_TRUE(absl::IsAlreadyExists(status));
  EXPECT_THAT(std::string(status.message()),
              ::testing::HasSubstr("squeue: is there and is not ours"));
  EXPECT_TRUE(fs::is_regular_file(directory_ / "squeue"));
}

TEST_F(CommandLinks, ACommandIsChosenByTheNameOfTheProgramOrTheFirstArgument) {
  const Environment environment;
  const auto run = [&](const std::vector<std::string>& words) {
    std::ostringstream out;
    std::ostringstream err;
    const int code = RunSlurmCommand(environment, words, out, err);
    return std::to_string(code) + "|" + out.str() + "|" + err.str();
  };
  EXPECT_EQ(run({"/x/muster-slurm"}),
            "1||muster-slurm: error: missing COMMAND: see muster-slurm --help\n");
  EXPECT_EQ(run({"/x/muster-slurm", "ls"}),
            "1||muster-slurm: error: ls is no command: see muster-slurm --help\n");
  EXPECT_EQ(run({"/x/muster-slurm", "-V"}), "0|slurm 24.05.8\n|");
}

}  // namespace
}  // namespace muster::cli::slurm
