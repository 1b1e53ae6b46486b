#include "agent/supervisor/image/layout/oci_layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "agent/supervisor/image/cache/image_facts.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class OciLayoutTest : public ::testing::Test {
 protected:
  OciLayoutTest() {
    std::filesystem::create_directories(top_ + "/blobs/sha256");
    Blob('a', absl::StrCat(R"({"config":{"digest":")", Digest('b'), "\"}}"));
    Blob('b', R"({"architecture":"amd64","config":{"Env":["A=1"],"WorkingDir":"/w",)"
              R"("Entrypoint":["/init"]}})");
    Index(absl::StrCat(R"({"digest":")", Digest('a'),
                       R"(","annotations":{"org.opencontainers.image.ref.name":"v1"}})"));
  }
  static std::string Digest(char digit) { return "sha256:" + std::string(64, digit); }
  void Blob(char digit, const std::string& text) {
    std::ofstream(absl::StrCat(top_, "/blobs/sha256/", std::string(64, digit))) << text;
  }
  void Index(const std::string& manifests) {
    std::ofstream(top_ + "/index.json") << R"({"manifests":[)" << manifests << "]}";
  }
  std::string Refused(const std::string& tag = "") {
    return std::string(ReadOciLayout(top_, tag).status().message());
  }

  TempDirectory directory_;
  const std::string top_ = directory_.path();
};

TEST_F(OciLayoutTest, AnImageSaysWhatItsProgramsWant) {
  const absl::StatusOr<ImageFacts> facts = ReadOciLayout(top_, "v1");
  ASSERT_TRUE(facts.ok()) << facts.status();
  EXPECT_EQ(facts->digest, Digest('a'));
  EXPECT_EQ(facts->architecture, "amd64");
  EXPECT_THAT(facts->environment, ElementsAre("A=1"));
  EXPECT_EQ(facts->work_dir, "/w");
  EXPECT_THAT(facts->entrypoint, ElementsAre("/init"));
  EXPECT_EQ(*NameInLayout(top_, ""), "v1");
}

TEST_F(OciLayoutTest, WhatIsNotThereIsNamed) {
  EXPECT_THAT(Refused("v2"), HasSubstr("holds no image \"v2\""));
  Index("");
  EXPECT_THAT(Refused(), HasSubstr("holds no image"));
}

TEST_F(OciLayoutTest, ADigestThatIsAPathIsNoDigest) {
  Index(R"({"digest":"sha256:../../../../etc/passwd"})");
  EXPECT_THAT(Refused(), HasSubstr("is no sha256 digest"));
}

TEST_F(OciLayoutTest, AnIndexOfSeveralMachinesIsNoImage) {
  Blob('a', R"({"manifests":[]})");
  EXPECT_TRUE(absl::IsFailedPrecondition(ReadOciLayout(top_, "").status()));
}

TEST_F(OciLayoutTest, AnImageForAnotherMachineIsRefusedInWords) {
  ImageFacts facts;
  EXPECT_TRUE(CheckArchitecture(facts).ok());
  facts.architecture = OwnArchitecture();
  EXPECT_TRUE(CheckArchitecture(facts).ok());
  facts.architecture = "sparc";
  EXPECT_THAT(std::string(CheckArchitecture(facts).message()),
              HasSubstr("the image is for sparc; this node is "));
}

}  // namespace
}  // namespace muster::agent
