// --stage-in and --stage-out: which colon parts SRC and DST.

#include "cli/parse/request/stage_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::cli {
namespace {

using ::testing::HasSubstr;

StagePair In(std::string_view text) {
  return ParseStageIn(text).value_or(StagePair{"refused", ""});
}
StagePair Out(std::string_view text) {
  return ParseStageOut(text).value_or(StagePair{"refused", ""});
}

TEST(StageWords, TheLastColonBeforeAPathPartsWhatIsStagedIn) {
  EXPECT_EQ(In("/data/a:/scratch/a"), (StagePair{"/data/a", "/scratch/a"}));
  EXPECT_EQ(In("a:./b"), (StagePair{"a", "./b"}));
  EXPECT_EQ(In("s3:bucket/a:/scratch/a"), (StagePair{"s3:bucket/a", "/scratch/a"}));
  EXPECT_EQ(In("sftp:/data/a:~/a"), (StagePair{"sftp:/data/a", "~/a"}));
  EXPECT_EQ(In(":s3,endpoint='https://x:9000':b/a:$SCRATCH/"),
            (StagePair{":s3,endpoint='https://x:9000':b/a", "$SCRATCH/"}));
}

TEST(StageWords, TheFirstColonPartsWhatIsStagedOut) {
  EXPECT_EQ(Out("results:/archive/a"), (StagePair{"results", "/archive/a"}));
  EXPECT_EQ(Out("results:s3:bucket/a"), (StagePair{"results", "s3:bucket/a"}));
  EXPECT_EQ(Out("./a::s3,env_auth=true:bucket/a"),
            (StagePair{"./a", ":s3,env_auth=true:bucket/a"}));
}

TEST(StageWords, WhatSaysNotWhereToIsRefusedAndToldHowToWriteIt) {
  for (const char* text : {"", "a", "a:b", "s3:bucket/a", ":/a", ":s3,endpoint='https://x':b/a"}) {
    EXPECT_THAT(std::string(ParseStageIn(text).status().message()),
                HasSubstr("use SRC:/PATH, SRC:./PATH or SRC:~/PATH"))
        << text;
  }
  for (const char* text : {"", "a", "a:b", ":/a", "s3:bucket/a:/b"}) {
    EXPECT_THAT(std::string(ParseStageOut(text).status().message()),
                HasSubstr("use PATH:/PATH, PATH:./PATH or PATH:REMOTE:PATH"))
        << text;
  }
}

TEST(StageWords, ARemoteHasANameBeforeItsColonAndAPathHasNone) {
  EXPECT_TRUE(IsRemotePlace("s3:"));
  EXPECT_TRUE(IsRemotePlace("my-store.2:bucket/a"));
  EXPECT_TRUE(IsRemotePlace(":local:/a"));
  for (const char* path : {"", "a", "/a:b", "./a:b", "a/b:c", "~/a:b", ":a", "::a"}) {
    EXPECT_FALSE(IsRemotePlace(path)) << path;
  }
}

TEST(StageWords, ADestinationThatEndsWithASlashGetsTheSourceUnderItsName) {
  EXPECT_EQ(StagedName("/data/a", "/scratch/b"), "/scratch/b");
  EXPECT_EQ(StagedName("/data/a", "/scratch/"), "/scratch/a");
  EXPECT_EQ(StagedName("/data/a//", "s3:bucket/"), "s3:bucket/a");
  EXPECT_EQ(StagedName("s3:a", "/scratch/"), "/scratch/a");
}

TEST(StageWords, ASourceForNodesHasOneNameWhereverItIsNamed) {
  std::vector<std::string> sources = {"/a"};
  EXPECT_TRUE(AddNodeData("s3:b/c/\nd", &sources).ok());
  EXPECT_EQ(sources, (std::vector<std::string>{"/a", "s3:b/c", "d"}));
  EXPECT_FALSE(AddNodeData("/x/d", &sources).ok()) << "a name twice";
  EXPECT_EQ(WithAbsoluteSource("d", "/home/ada"), "/home/ada/d");
  for (const char* source : {"/d", "~/d", "$SCRATCH/d", "s3:b/d"}) {
    EXPECT_EQ(WithAbsoluteSource(source, "/home/ada"), source);
  }
}

TEST(StageWords, EachLineAddsAPairUpToABound) {
  std::vector<StagePair> pairs = {{"a", "/a"}};
  EXPECT_TRUE(AddStageIns("b:/b\nc:/c", &pairs).ok());
  EXPECT_TRUE(AddStageOuts("d:/d", &pairs).ok());
  EXPECT_EQ(pairs.size(), 4U);
  EXPECT_FALSE(AddStageIns("b:/b\n", &pairs).ok());
  absl::Status status;
  for (int i = 0; i < 64 && status.ok(); ++i) {
    status = AddStageIns("b:/b", &pairs);
  }
  EXPECT_THAT(std::string(status.message()), HasSubstr("more than 64 copies"));
}

TEST(ObjectCopiesTest, APlaceMaySayHowOften) {
  const absl::StatusOr<ObjectCopies> plain = ParseObjectCopies("s3:bucket/state/");
  ASSERT_TRUE(plain.ok());
  EXPECT_EQ(plain->place, "s3:bucket/state");
  EXPECT_EQ(plain->every, std::chrono::hours(1));
  const absl::StatusOr<ObjectCopies> often =
      ParseObjectCopies(":s3,env_auth=true:bucket/a,b,every=90s");
  ASSERT_TRUE(often.ok());
  EXPECT_EQ(often->place, ":s3,env_auth=true:bucket/a,b");
  EXPECT_EQ(often->every, std::chrono::seconds(90));
}

TEST(ObjectCopiesTest, AnOptionThatIsMistypedIsNotTakenForThePath) {
  for (const char* text : {"s3:b,evry=5m", "s3:b/state,keep=3", "s3:b,every=5m,x=1", "s3:b,=1"}) {
    EXPECT_FALSE(ParseObjectCopies(text).ok()) << text;
  }
  EXPECT_EQ(ParseObjectCopies("s3:b,evry=5m").status().message(),
            "\"evry=5m\" is no option: use every=TIME; a path that ends so has a / behind");
  EXPECT_EQ(ParseObjectCopies("s3:b/year=2024,month=1/")->place, "s3:b/year=2024,month=1");
  EXPECT_EQ(ParseObjectCopies("s3:b/a=1")->place, "s3:b/a=1");
}

TEST(ObjectCopiesTest, WhatIsNoRemoteIsRefused) {
  std::string copies;
  for (const char* text : {"", "/scratch/state", "./a:b", "bucket", "s3:b,every=soon"}) {
    EXPECT_FALSE(ReadObjectCopies(text, &copies).ok()) << text;
  }
  EXPECT_TRUE(ReadObjectCopies("s3:b,every=5m", &copies).ok());
  EXPECT_EQ(copies, "s3:b,every=5m");
}

}  // namespace
}  // namespace muster::cli
