// The parsers of a job's terms: dependencies, constraints, node lists, licences.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "cli/parse/request/constraint.h"
#include "cli/parse/request/dependency.h"
#include "cli/parse/request/licenses.h"
#include "scheduler/base/text/host_list.h"
#include "scheduler/model/job/dependency.h"

namespace muster::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Read(const std::string& text) {
  const absl::StatusOr<Dependency> dependency = ParseDependency(text);
  return dependency.ok() ? ToText(*dependency) : "refused";
}

TEST(ParseDependency, TakesSlurmsForms) {
  EXPECT_EQ(Read("afterok:1"), "afterok:1");
  EXPECT_EQ(Read("afterok:1:2"), "afterok:1,afterok:2");
  EXPECT_EQ(Read("afterany:1_3,afternotok:2"), "afterany:1_3,afternotok:2");
  EXPECT_EQ(Read("after:1+5:2"), "after:1+5,after:2");
  EXPECT_EQ(Read("aftercorr:7"), "aftercorr:7");
  EXPECT_EQ(Read("singleton"), "singleton");
  EXPECT_EQ(Read("afterok:1?afterok:2:3"), "afterok:1?afterok:2?afterok:3");
}

TEST(ParseDependency, RefusesWhatIsNone) {
  for (const char* text : {"",
                           ",",
                           "afterok",
                           "afterok:",
                           "afterok:0",
                           "afterok:-1",
                           "afterok:1:",
                           "afterok::1",
                           "afterok:1,",
                           "afterok:1,afterok:2?afterok:3",
                           "later:1",
                           "singleton:1",
                           "afterok:1+5",
                           "after:1+",
                           "afterok:1_",
                           "afterok:1_x",
                           "afterok:99999999999999999999",
                           "1",
                           " afterok:1",
                           "afterok:1 "}) {
    EXPECT_EQ(Read(text), "refused") << text;
  }
  EXPECT_THAT(std::string(ParseDependency("x").status().message()), HasSubstr("afterok:12:13"));
}

TEST(ParseDependency, IsBounded) {
  std::string text = "afterok";
  for (int i = 0; i < 1001; ++i) {
    text += ":1";
  }
  EXPECT_THAT(std::string(ParseDependency(text).status().message()), HasSubstr("more than 1000"));
}

std::string Features(const std::string& text) {
  const absl::StatusOr<Constraint> constraint = ParseConstraint(text);
  return constraint.ok() ? ToText(*constraint) : "refused";
}

TEST(ParseConstraint, BindsNotBeforeAndBeforeOr) {
  EXPECT_EQ(Features("a"), "a");
  EXPECT_EQ(Features("a&b|c"), "a&b|c");
  EXPECT_EQ(Features("a&(b|c)"), "a&(b|c)");
  EXPECT_EQ(Features("!a&!(b|c)"), "!a&!(b|c)");
  EXPECT_EQ(Features("((a))"), "a");
}

TEST(ParseConstraint, TakesCounts) {
  EXPECT_EQ(Features("a*2"), "[a*2]");
  EXPECT_EQ(Features("[a*2&b*4]"), "[a*2&b*4]");
  EXPECT_EQ(Features("ib&[a*2&(b|c)*4]"), "ib&[a*2&(b|c)*4]");
  const Constraint constraint = *ParseConstraint("ib&[a*2&b*4]");
  EXPECT_EQ(constraint.counts.size(), 2U);
  EXPECT_EQ(constraint.counts[1].nodes, 4U);
  EXPECT_EQ(ToText(constraint.every), "ib");
}

TEST(ParseConstraint, RefusesWhatIsNone) {
  for (const char* text :
       {"",     "&",     "a&",      "|a",      "a||b", "!",         "(a",    "a)",
        "a b",  "a*0",   "a*",      "a*x",     "[a",   "[a]",       "[a*2",  "a*2|b",
        "!a*2", "(a*2)", "[[a*2]]", "a*99999", "a,b",  "[a*2|b*2]", "b|a*2", "ä"}) {
    EXPECT_EQ(Features(text), "refused") << text;
  }
  std::string long_not(100'000, '!');
  long_not.push_back('a');
  EXPECT_EQ(Features(long_not), "refused");
  EXPECT_EQ(Features(std::string(100'000, '(')), "refused");
}

TEST(ParseFeatures, SortsAndDropsRepeats) {
  EXPECT_THAT(*ParseFeatures("b,a,b"), ElementsAre("a", "b"));
  EXPECT_FALSE(ParseFeatures("a,,b").ok());
  EXPECT_FALSE(ParseFeatures("a b").ok());
}

TEST(ParseLicenses, TakesCountsAndOneForNone) {
  EXPECT_THAT(*ParseLicenses("ansys:2,matlab"),
              ElementsAre(LicenseCount{"ansys", 2}, LicenseCount{"matlab", 1}));
  for (const char* text : {"", ",", "a:", "a:0", "a:-1", ":2", "a,a", "a:x", "a b", "a:2:3"}) {
    EXPECT_FALSE(ParseLicenses(text).ok()) << text;
  }
}

}  // namespace
}  // namespace muster::cli
