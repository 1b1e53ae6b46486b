#include "cli/stage/place_words.h"

#include <gtest/gtest.h>

namespace muster::cli {
namespace {

TEST(PlaceWords, HomeAndVariablesAreExpandedAtTheBeginningAlone) {
  const Environment shell(std::vector<std::string>{"HOME=/home/eva", "SCRATCH=/scratch/eva"});
  EXPECT_EQ(ExpandPlace("~/a", shell).value(), "/home/eva/a");
  EXPECT_EQ(ExpandPlace("$SCRATCH/a/$b", shell).value(), "/scratch/eva/a/$b");
  EXPECT_EQ(ExpandPlace("${SCRATCH}", shell).value(), "/scratch/eva");
  for (const char* as_it_is : {"/a", "a~/b", "s3:$b/a", "$", "~eva/a"}) {
    EXPECT_EQ(ExpandPlace(as_it_is, shell).value(), as_it_is);
  }
  EXPECT_EQ(std::string(ExpandPlace("$TMP/a", shell).status().message()),
            "\"$TMP/a\": the variable TMP is not set: set it, or write it out");
}

}  // namespace
}  // namespace muster::cli
