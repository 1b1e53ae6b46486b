#include "cli/up/daemon_child.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace muster::cli {
namespace {

using ::testing::HasSubstr;

// A prefix that programs were installed below.
class ProgramNearTest : public ::testing::Test {
 protected:
  ProgramNearTest() {
    std::string name = (std::filesystem::temp_directory_path() / "muster-XXXXXX").string();
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    prefix_ = name;
    std::filesystem::create_directories(prefix_ / "bin");
    std::filesystem::create_directories(prefix_ / "sbin");
  }
  ~ProgramNearTest() override {
    std::error_code gone;
    std::filesystem::remove_all(prefix_, gone);
  }

  std::string Bin() const { return (prefix_ / "bin").string(); }
  std::string Install(const std::string& place, mode_t mode) const {
    const std::string path = (prefix_ / place).string();
    std::ofstream(path) << "program";
    chmod(path.c_str(), mode);
    return path;
  }

  std::filesystem::path prefix_;
};

TEST_F(ProgramNearTest, APackagesDaemonIsFoundInTheSbinBesideOurDirectory) {
  const std::string daemon = Install("sbin/musterd", 0755);
  EXPECT_EQ(ProgramNear(Bin(), "musterd").value(), daemon);
}

TEST_F(ProgramNearTest, TheOneInOurDirectoryComesFirst) {
  Install("sbin/musterd", 0755);
  const std::string beside = Install("bin/musterd", 0755);
  EXPECT_EQ(ProgramNear(Bin(), "musterd").value(), beside);
}

TEST_F(ProgramNearTest, WhatCannotBeExecutedIsNamedAsMissing) {
  const std::string beside = Install("bin/musterd", 0644);
  const absl::Status missing = ProgramNear(Bin(), "musterd").status();
  EXPECT_EQ(missing.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(missing.message()), HasSubstr(beside + ": not there"));
}

}  // namespace
}  // namespace muster::cli
