#include "tests/tidy/prose/words.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace muster::tidy {
namespace {

size_t Found(const std::string& path, const std::string& text) {
  return CheckWords(MakeSource(path, text)).size();
}

TEST(Words, PagesForUsersHaveTheLongerList) {
  for (const char* page :
       {"README.md", "a/README.md", "CHANGELOG.md", "cli/man/run.page", "packaging/man/musterd.8",
        "packaging/etc/agent.toml", "daemon/gateway/page/js/plan.js"}) {
    EXPECT_EQ(Found(page, "Nobody waits.\nWhoever knows it, tells\nso  many. It came to\nan end."),
              4U)
        << page;
    EXPECT_EQ(Found(page, "No job waits. `doorbell`, 'nobody', state/doorbell`, anewer"), 0U);
  }
  EXPECT_EQ(Found("notes.txt", "Nobody waits."), 0U);
}

TEST(Words, LiteralsOfTheProductAreForUsers) {
  EXPECT_EQ(Found("a/x.cc", "Say(\"somebody did it\");"), 1U);
  EXPECT_EQ(Found("a/x.cc", "Say(\"it was told \"\n    \"of the end\");"), 1U);
  EXPECT_EQ(Found("a/x.cc", "int nobody = User(\"nobody\") + Path(\"/doorbell\");"), 0U);
  EXPECT_EQ(Found("tests/x_test.cc", "Say(\"somebody did it anew\");"), 0U);
}

TEST(Words, CommentsHaveTheShorterList) {
  const std::vector<Finding> found = CheckWords(MakeSource(
      "tests/x.h", "// Nobody is\n//   told\n//   of it.\nint a;  /* It begins Anew. */\n"));
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(ToString(found[0]).rfind("tests/x.h:4: says \"anew\". Say again:", 0), 0U);
  EXPECT_EQ(found[1].line, 2U);
  EXPECT_EQ(Found("a/x.proto", "string a = 1;  // so many of it\n"), 1U);
  EXPECT_EQ(Found("a/x.cc", "// whoever, \"anew\", so manyfold\nint anew = 1;\n"), 0U);
}

}  // namespace
}  // namespace muster::tidy
