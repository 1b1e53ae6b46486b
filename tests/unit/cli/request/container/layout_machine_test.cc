#include "cli/request/container/layout_machine.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::cli {
namespace {

class LayoutMachineTest : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(place_ + "/blobs/sha256"); }
  // The blob's description, of the digest that repeats `digit`.
  std::string Blob(char digit, const std::string& text) {
    const std::string hex(64, digit);
    std::ofstream(absl::StrCat(place_, "/blobs/sha256/", hex)) << text;
    return absl::StrCat(R"("digest": "sha256:)", hex, R"(")");
  }
  std::string Image(char digit, const std::string& machine) {
    const std::string config =
        Blob(static_cast<char>(digit + 1), absl::StrCat(R"({"architecture": ")", machine, R"("})"));
    return Blob(digit, absl::StrCat(R"({"config": {)", config, "}}"));
  }
  void Index(const std::string& entries) {
    std::ofstream(place_ + "/index.json") << absl::StrCat(R"({"manifests": [)", entries, "]}");
  }
  static std::string Named(const std::string& image, const std::string& name) {
    return absl::StrCat("{", image, R"(, "annotations": {"org.opencontainers.image.ref.name": ")",
                        name, R"("}})");
  }

  const TempDirectory directory_;
  const std::string place_ = directory_.path();
};

TEST_F(LayoutMachineTest, TheImageOfTheTagCounts) {
  Index(Named(Image('0', "amd64"), "v1") + "," + Named(Image('2', "arm64"), "latest"));
  EXPECT_EQ(LayoutMachine(place_, "v1"), "amd64");
  EXPECT_EQ(LayoutMachine(place_, ""), "arm64");
  EXPECT_EQ(LayoutMachine(place_, "v2"), "");
}

TEST_F(LayoutMachineTest, TheOnlyImageNeedsNoName) {
  Index("{" + Image('0', "amd64") + "}");
  EXPECT_EQ(LayoutMachine(place_, ""), "amd64");
}

TEST_F(LayoutMachineTest, WhatIsNoLayoutIsForAnyMachine) {
  EXPECT_EQ(LayoutMachine(place_, ""), "");
  for (const char* entry : {"7", R"({"digest": 7})", R"({"digest": "sha256:../../../etc/passwd"})",
                            R"({"digest": "sha256:00"})", R"({"annotations": 7})"}) {
    Index(entry);
    EXPECT_EQ(LayoutMachine(place_, ""), "") << entry;
  }
  Index("{" + Blob('0', R"({"manifests": []})") + "}");  // an index of several machines' images
  EXPECT_EQ(LayoutMachine(place_, ""), "");
}

}  // namespace
}  // namespace muster::cli
