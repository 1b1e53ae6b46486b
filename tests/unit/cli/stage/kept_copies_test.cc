#include "cli/stage/kept_copies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class KeptCopiesTest : public ::testing::Test {
 protected:
  Invocation Words(std::map<std::string, std::string> values,
                   std::vector<std::string> arguments = {}) {
    return {environment_, verbs_, std::move(values), std::move(arguments)};
  }
  const Environment environment_{{}};
  const std::vector<Verb> verbs_;
};

TEST_F(KeptCopiesTest, SourcesAreNamedAsJobsNameThem) {
  const PruneImages removal = ReadCopiesToRemove(Words({{"remove", ""}, {"nodelist", "n[1-2]"}},
                                                       {"data/", "/abs/b", "s3:bucket/c"}),
                                                 "/home/ada")
                                  .value();
  EXPECT_TRUE(removal.data);
  EXPECT_FALSE(removal.all);
  EXPECT_THAT(removal.images, ElementsAre("/home/ada/data", "/abs/b", "s3:bucket/c"));
  EXPECT_THAT(removal.nodes, ElementsAre("n1", "n2"));
}

TEST_F(KeptCopiesTest, APruneIsOfAllOrOfAnAge) {
  EXPECT_TRUE(ReadCopiesToRemove(Words({{"prune", ""}}), "/")->all);
  const PruneImages old =
      ReadCopiesToRemove(Words({{"prune", ""}, {"older-than", "2h"}, {"user", "bob"}}), "/")
          .value();
  EXPECT_FALSE(old.all);
  EXPECT_EQ(old.unused_for, std::chrono::hours(2));
  EXPECT_EQ(old.user, "bob");
}

TEST_F(KeptCopiesTest, WordsThatMeanNothingTogetherAreRefused) {
  for (const Invocation& words :
       {Words({{"list", ""}, {"prune", ""}}), Words({{"list", ""}}, {"a"}), Words({{"remove", ""}}),
        Words({{"list", ""}, {"older-than", "2h"}}), Words({{"list", ""}, {"after", "7"}})}) {
    EXPECT_TRUE(absl::IsInvalidArgument(ListOrRemoveCopies(words).status()));
  }
}

TEST_F(KeptCopiesTest, TheDocumentNamesSourcesAndNodes) {
  ImageTable copies;
  copies.images.emplace_back();
  copies.images[0].node = "n1";
  copies.images[0].name = "/data/a";
  copies.images[0].size = Bytes(5);
  EXPECT_THAT(PrintCopiesJson(copies), HasSubstr("\"source\": \"/data/a\""));
  EXPECT_THAT(PrintCopiesJson(copies), HasSubstr("\"silent\": []"));
}

}  // namespace
}  // namespace muster::cli
