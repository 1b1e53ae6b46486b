#include "cli/request/given_variables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

namespace muster::cli {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;
using ::testing::StartsWith;

std::string FileWith(const std::string& bytes) {
  std::string path = ::testing::TempDir() + "/given_variables";
  std::ofstream(path, std::ios::binary)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return path;
}

TEST(GivenVariables, AFileHasOneBehindEachNulByte) {
  const std::string path = FileWith(std::string("A=1\0B=two words\nand lines\0", 27));
  EXPECT_THAT(VariablesIn(path).value(), ElementsAre("A=1", "B=two words\nand lines"));
  EXPECT_EQ(VariablesIn(FileWith("A=1\nB")).value().size(), 1U) << "a line is no end";
  EXPECT_FALSE(VariablesIn(FileWith(std::string("A=1\0what\0", 9))).ok());
  EXPECT_FALSE(VariablesIn("/nowhere/to/be/found").ok());
}

TEST(GivenVariables, ALoginSaysItsVariablesAndNotThoseOfItsShell) {
  const Environment environment(std::vector<std::string>{"TERM=dumb"});
  const auto variables = LoginVariables(environment);
  ASSERT_TRUE(variables.ok()) << variables.status();
  EXPECT_THAT(*variables, Contains(StartsWith("HOME=/")));
  EXPECT_THAT(*variables, Contains(StartsWith("PATH=")));
  EXPECT_THAT(*variables, Not(Contains(StartsWith("SHLVL="))));
}

TEST(GivenVariables, WhatIsThereAlreadyStays) {
  std::vector<std::string> variables = {"A=1"};
  AddMissing({"A=2", "B=3"}, &variables);
  EXPECT_THAT(variables, ElementsAre("A=1", "B=3"));
}

}  // namespace
}  // namespace muster::cli
