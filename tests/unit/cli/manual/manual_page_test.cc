#include "cli/manual/manual_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Verb PlantVerb() {
  Verb verb;
  verb.name = "plant";
  verb.purpose = "Plant trees";
  verb.synopsis = "TREE…";
  verb.examples = {"muster plant 'oak \\ ash'"};
  verb.remarks = "Roots go down.\nLeaves go up.";
  verb.options = {{.name = "depth", .letter = 'd', .metavar = "N", .text = "How deep"},
                  {.name = "secret", .letter = 0, .metavar = "", .text = ""},
                  {.name = "water", .letter = 0, .metavar = "", .text = "Water them"}};
  return verb;
}

PageSource Read(const std::string& text) {
  return ReadPageSource("plant",
                        [&text](const std::string&) -> absl::StatusOr<std::string> { return text; })
      .value();
}

TEST(ManualPage, AVerbWithoutASourceHasAPage) {
  const std::string page = ManualPage(PlantVerb(), PageSource());
  EXPECT_THAT(page, HasSubstr(".Dt MUSTER-PLANT 1\n"));
  EXPECT_THAT(page, HasSubstr(".Nm muster-plant\n.Nd plant trees\n.Sh SYNOPSIS\n"
                              ".Nm muster plant\n.Oo Ar options Oc Ar TREE ...\n"
                              ".Sh DESCRIPTION\nRoots go down.\nLeaves go up.\n"));
  EXPECT_THAT(page, HasSubstr(".It Fl d Ar N , Fl -depth Ar N\nHow deep.\n"
                              ".It Fl -water\nWater them.\n.El\n"));
  EXPECT_THAT(page, Not(HasSubstr("secret")));
  EXPECT_THAT(page, HasSubstr(".Sh EXIT STATUS\n0 when done"));
  EXPECT_THAT(page, HasSubstr(".Sh EXAMPLES\n.Dl muster plant 'oak \\e ash'\n"));
  EXPECT_THAT(page, HasSubstr(".Sh SEE ALSO\n.Xr muster 1\n"));
}

TEST(ManualPage, EachWayToCallAVerbIsALineOfTheSynopsis) {
  Verb verb = PlantVerb();
  verb.forms = {"list [--json]", "one TREE"};
  EXPECT_THAT(ManualPage(verb, PageSource()),
              HasSubstr(".Nm muster plant\n.Cm list Oo Fl -json Oc\n"
                        ".Nm muster plant\n.Cm one Ar TREE\n"));
}

TEST(ManualPage, TheSourceStandsInPlaceOfTheHelpOrAfterIt) {
  const PageSource source = Read(
      "# DESCRIPTION\nOnly this.\n\n# OPTIONS\n--depth +\nIn feet.\n--water\nEach day.\n\n"
      "## Soil\nAny.\n\n# FILES\nNone.\n\n# EXIT STATUS\nThe tree's.\n\n# EXAMPLES\nAnd so on.\n");
  const std::string page = ManualPage(PlantVerb(), source);
  EXPECT_THAT(page, HasSubstr(".Sh DESCRIPTION\nOnly this.\n.Pp\nThe options are"));
  EXPECT_THAT(page, Not(HasSubstr("Roots")));
  EXPECT_THAT(page, HasSubstr("How deep.\nIn feet.\n.It Fl -water\nEach day.\n.El\n"
                              ".Ss Soil\nAny.\n.Sh FILES\nNone.\n"
                              ".Sh EXIT STATUS\nThe tree's.\n.Sh EXAMPLES\n.Dl"));
  EXPECT_THAT(page, HasSubstr("ash'\n.Pp\nAnd so on.\n.Sh SEE ALSO\n"));
}

TEST(ManualPage, PagesThatAreNamedAreListedAtTheEndInOrder) {
  const PageSource source = Read(
      "# DESCRIPTION\nAs hwloc(7) and muster-run(1) do (muster-plant(1)).\n\n"
      "# SEE ALSO\nmuster-alloc(1), muster-run(1)\n");
  EXPECT_THAT(ManualPage(PlantVerb(), source),
              HasSubstr(".Sh SEE ALSO\n.Xr muster 1 ,\n.Xr muster-alloc 1 ,\n.Xr muster-run 1 ,\n"
                        ".Xr hwloc 7\n"));
}

TEST(ManualPage, TheOverviewListsShownVerbsAndTheOptionsOfAll) {
  Verb hidden = PlantVerb();
  hidden.name = "hidden";
  hidden.purpose = "";
  const PageSource source = Read("# DESCRIPTION\nTrees.\n\n# SEE ALSO\nmuster-plant(1)\n");
  const std::string page = OverviewPage({PlantVerb(), hidden}, source);
  EXPECT_THAT(page, HasSubstr(".It Xr muster-plant 1\nPlant trees.\n.El\n"));
  EXPECT_THAT(page, Not(HasSubstr("hidden")));
  EXPECT_THAT(page, HasSubstr(".It Fl h , Fl -help\n"));
  EXPECT_THAT(page, HasSubstr(".It Fl -controller Ar ADDR\n"));
  EXPECT_THAT(page, HasSubstr(".It Fl -state Ar DIR\n"));
}

}  // namespace
}  // namespace muster::cli
