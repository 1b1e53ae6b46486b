#include "cli/request/given_variables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"

namespace muster::cli {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
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

// A login of ours, with a home of its own and `profile` there.
Login LoginWith(const std::string& profile) {
  const std::filesystem::path home =
      std::filesystem::path(::testing::TempDir()) / absl::StrCat("given_variables_home.", getpid());
  std::filesystem::create_directories(home);
  std::ofstream(home / ".profile") << profile;
  return Login{"/bin/sh", {"HOME=" + home.string(), "PATH=/usr/bin:/bin"}};
}

TEST(GivenVariables, ALoginIsTheOneOfThePasswordFile) {
  const auto login = OwnLogin(Environment(std::vector<std::string>{"TERM=vt100"}));
  ASSERT_TRUE(login.ok()) << login.status();
  EXPECT_THAT(login->shell, StartsWith("/"));
  EXPECT_THAT(login->environment, Contains(StartsWith("HOME=/")));
  EXPECT_THAT(login->environment, Contains("TERM=vt100"));
}

TEST(GivenVariables, ALoginSaysItsVariablesAndNotThoseOfItsShell) {
  const auto variables = LoginVariables(LoginWith("echo news; export SITE='two words'\n"));
  ASSERT_TRUE(variables.ok()) << variables.status();
  EXPECT_THAT(*variables, Contains("SITE=two words"));
  EXPECT_THAT(*variables, Contains(StartsWith("PATH=")));
  EXPECT_THAT(*variables, Not(Contains(StartsWith("SHLVL="))));
  EXPECT_THAT(*variables, Not(Contains(HasSubstr("news"))));
}

TEST(GivenVariables, AProfileThatWaitsIsAskedToEnd) {
  const Login login = LoginWith("trap 'touch \"$HOME/in-order\"; exit' TERM; sleep 600 & wait\n");
  const auto variables = LoginVariables(login, std::chrono::seconds(2));
  EXPECT_THAT(variables.status().message(), HasSubstr("no variables within 2 s"));
  const std::string home = login.environment.front().substr(std::strlen("HOME="));
  EXPECT_TRUE(std::filesystem::exists(home + "/in-order"));
}

TEST(GivenVariables, WhatIsThereAlreadyStays) {
  std::vector<std::string> variables = {"A=1"};
  AddMissing({"A=2", "B=3"}, &variables);
  EXPECT_THAT(variables, ElementsAre("A=1", "B=3"));
}

}  // namespace
}  // namespace muster::cli
