#include "cli/manual/page_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

absl::StatusOr<PageSource> Read(const std::map<std::string, std::string>& files) {
  return ReadPageSource("page", [&files](const std::string& name) -> absl::StatusOr<std::string> {
    const auto found = files.find(name);
    return found == files.end() ? absl::StatusOr<std::string>(absl::NotFoundError(name))
                                : found->second;
  });
}

TEST(PageSource, HoldsSectionsPartsAndTextsOfOptions) {
  const PageSource source = Read({{"page",
                                   "# DESCRIPTION\nOne.\n\nTwo.\n\n# OPTIONS\n--mem +\nMore.\n"
                                   "--time\nOther.\n\n## The file\n--json here is text.\n"}})
                                .value();
  ASSERT_EQ(source.sections.size(), 3U);
  EXPECT_THAT(FindSection(source, "DESCRIPTION")->lines, ElementsAre("One.", "", "Two."));
  EXPECT_TRUE(source.sections[2].part);
  EXPECT_THAT(source.sections[2].lines, ElementsAre("--json here is text."));
  EXPECT_TRUE(source.options.at("mem").after_help);
  EXPECT_FALSE(source.options.at("time").after_help);
  EXPECT_THAT(source.options.at("time").lines, ElementsAre("Other."));
  EXPECT_EQ(FindSection(source, "FILES"), nullptr);
}

TEST(PageSource, ThePagesOwnTextGoesBeforeThatOfAnIncludedFile) {
  const PageSource source =
      Read({{"page", "# OPTIONS\n@include a\n@include b\n--mem\nMine.\n"},
            {"a", "# OPTIONS\n--mem\nShared.\n--time\nFirst.\n--nice\nKept.\n"},
            {"b", "# OPTIONS\n--time\nLast.\n"}})
          .value();
  EXPECT_THAT(source.options.at("mem").lines, ElementsAre("Mine."));
  EXPECT_FALSE(source.options.at("mem").included);
  EXPECT_THAT(source.options.at("time").lines, ElementsAre("Last."));
  EXPECT_THAT(source.options.at("nice").lines, ElementsAre("Kept."));
  EXPECT_EQ(source.options.at("nice").origin, "a.page:6");
}

TEST(PageSource, AnIncludedFileMayBePartOfASection) {
  const PageSource source =
      Read({{"page", "# DESCRIPTION\nOne.\n\n@include keys\n"}, {"keys", "Keys are names.\n"}})
          .value();
  EXPECT_THAT(FindSection(source, "DESCRIPTION")->lines,
              ElementsAre("One.", "", "Keys are names."));
}

TEST(PageSource, MistakesAreNamedWithTheirPlace) {
  const auto error = [](const std::map<std::string, std::string>& files) {
    return std::string(Read(files).status().message());
  };
  EXPECT_THAT(error({{"page", "Text\n"}}), HasSubstr("page.page:1: begin with a title"));
  EXPECT_THAT(error({{"page", "# OPTIONS\n--a\nx\n--a\ny\n"}}),
              HasSubstr("page.page:4: --a has a text already, at page.page:2"));
  EXPECT_THAT(error({{"page", "# OPTIONS\n--a\nx\n@include b\n"}, {"b", "--a\ny\n"}}),
              HasSubstr("b.page:1: --a has a text already, at page.page:2: include before"));
  EXPECT_THAT(error({{"page", "# OPTIONS\n@include page\n"}}), HasSubstr("includes itself"));
  EXPECT_THAT(error({{"page", "# OPTIONS\n@include none\n"}}), HasSubstr("none"));
}

}  // namespace
}  // namespace muster::cli
