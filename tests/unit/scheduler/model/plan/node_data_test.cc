#include "scheduler/model/plan/node_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler/model/job/container.h"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(NodeData, ACopyIsCalledAsItsSourceIsLast) {
  EXPECT_EQ(NameOfSource("/archive/imagenet/"), "imagenet");
  EXPECT_EQ(NameOfSource("s3:bucket/model.pt"), "model.pt");
  EXPECT_EQ(NameOfSource("s3:bucket"), "bucket");
  EXPECT_EQ(NameOfSource("$SCRATCH/x"), "x");
  EXPECT_EQ(NameOfSource("s3:"), "");
  EXPECT_EQ(NameOfSource("/"), "");
}

TEST(NodeData, SourcesHaveNamesThatDiffer) {
  EXPECT_TRUE(CheckNodeData({}).ok());
  EXPECT_TRUE(CheckNodeData({"/a/x", "/a/y", "s3:x:z"}).ok());
  EXPECT_THAT(std::string(CheckNodeData({"/a/x", "/b/x/"}).message()), HasSubstr("called \"x\""));
  for (const char* source : {"/", "s3:", "..", "/a/..", "~", ""}) {
    EXPECT_FALSE(CheckNodeData({source}).ok()) << source;
  }
  EXPECT_FALSE(CheckNodeData({"/a/x\n"}).ok());
  EXPECT_FALSE(CheckNodeData(std::vector<std::string>(kNodeDataMax + 1, "/a")).ok());
}

TEST(NodeData, MarksAreOfAUserAndOfWhatTheJobWants) {
  JobSpec spec;
  spec.user.uid = 1000;
  EXPECT_THAT(MarksOf(spec), IsEmpty());
  spec.node_data = {"/a/x"};
  spec.container.image = "bundle:/b";
  EXPECT_THAT(MarksOf(spec), ElementsAre(MarkOfData(1000, "/a/x")));
  spec.container.image = "/a/x.sqsh";
  EXPECT_THAT(MarksOf(spec), ElementsAre(MarkOfImage(1000, "/a/x.sqsh"), MarkOfData(1000, "/a/x")));
  EXPECT_NE(MarkOfData(1000, "/a/x"), MarkOfData(1001, "/a/x"));
  EXPECT_NE(MarkOfData(1000, "/a/x.sqsh"), MarkOfImage(1000, "/a/x.sqsh"));
}

}  // namespace
}  // namespace muster
