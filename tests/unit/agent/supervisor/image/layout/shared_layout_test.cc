#include "agent/supervisor/image/layout/shared_layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "scheduler/runtime/file.h"
#include "tests/unit/agent/supervisor/image/layout/layout_maker.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class SharedLayoutTest : public ::testing::Test {
 protected:
  LayoutDraft Draft(std::uint64_t bytes = 1 << 20) {
    return LayoutDraft::Make(directory_ / "draft", bytes).value();
  }

  TempDirectory directory_;
  const MadeLayout made_ = MakeLayout(directory_ / "layout");
};

TEST_F(SharedLayoutTest, AllFilesOfALayoutAreSentItsIndexFirst) {
  const std::vector<std::string> names = FilesOfLayout(directory_ / "layout").value();
  ASSERT_EQ(names.size(), 5U);
  EXPECT_EQ(names[0], "oci-layout");
  EXPECT_EQ(names[1], "index.json");
  EXPECT_TRUE(absl::IsNotFound(FilesOfLayout(directory_ / "none").status()));
}

TEST_F(SharedLayoutTest, WhatIsWrittenIsTheImageThatWasAskedFor) {
  LayoutDraft draft = Draft();
  const std::vector<std::string> names = FilesOfLayout(directory_ / "layout").value();
  for (const std::string& name : names) {
    const std::string text = ReadFile(absl::StrCat(directory_ / "layout", "/", name)).value();
    ASSERT_TRUE(draft.Begin(name).ok());
    ASSERT_TRUE(draft.Add(text.substr(0, 5)).ok());
    ASSERT_TRUE(draft.Add(text.substr(5)).ok());
  }
  ASSERT_TRUE(draft.End().ok());
  EXPECT_TRUE(CheckLayout(directory_ / "draft", made_.manifest).ok());
  EXPECT_THAT(std::string(CheckLayout(directory_ / "draft", made_.layer).message()),
              HasSubstr(absl::StrCat("it is the image ", made_.manifest)));
}

TEST_F(SharedLayoutTest, ABlobWithOtherBytesIsRefused) {
  LayoutDraft draft = Draft();
  ASSERT_TRUE(draft.Begin("blobs/sha256/" + made_.layer.substr(7)).ok());
  ASSERT_TRUE(draft.Add("other bytes").ok());
  EXPECT_TRUE(absl::IsDataLoss(draft.End()));
}

TEST_F(SharedLayoutTest, NothingIsWrittenUnderAnotherName) {
  LayoutDraft draft = Draft();
  for (const std::string& name :
       {std::string("../out"), std::string("/etc/passwd"), std::string("blobs/sha256/../../out"),
        "blobs/sha256/" + std::string(64, 'G'), std::string()}) {
    EXPECT_TRUE(absl::IsInvalidArgument(draft.Begin(name))) << name;
    EXPECT_TRUE(absl::IsInvalidArgument(draft.Add("x"))) << name;
  }
  ASSERT_TRUE(draft.Begin("index.json").ok());
  EXPECT_FALSE(draft.Begin("index.json").ok()) << "a file came twice";
}

TEST_F(SharedLayoutTest, NoMoreIsWrittenThanTheCacheHolds) {
  LayoutDraft draft = Draft(10);
  ASSERT_TRUE(draft.Begin("index.json").ok());
  EXPECT_TRUE(draft.Add("0123456789").ok());
  EXPECT_TRUE(absl::IsResourceExhausted(draft.Add("x")));
}

TEST_F(SharedLayoutTest, AnImageChosenFromAnIndexIsProvedByTheIndex) {
  const std::string raw = absl::StrCat(R"({"manifests":[{"digest":")", made_.manifest, "\"}]}");
  const std::string digest = DigestOfText(raw);
  const std::string layout = directory_ / "layout";
  EXPECT_FALSE(CheckLayout(layout, digest).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(KeepIndex(layout, digest, raw + " ")));
  ASSERT_TRUE(KeepIndex(layout, digest, raw).ok());
  EXPECT_TRUE(CheckLayout(layout, digest).ok());
  const std::string others = R"({"manifests":[{"digest":"sha256:0"},7]})";
  ASSERT_TRUE(KeepIndex(layout, DigestOfText(others), others).ok());
  EXPECT_FALSE(CheckLayout(layout, DigestOfText(others)).ok());
}

}  // namespace
}  // namespace muster::agent
