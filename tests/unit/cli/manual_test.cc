// The manual pages against what the program says of itself.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <regex>
#include <set>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "tests/unit/cli/program.h"

namespace muster::cli {
namespace {

// The first words of the lines that are indented by two blanks, between "Verbs:" and the next
// title.
std::vector<std::string> VerbsOfHelp() {
  std::istringstream lines(RunMuster({"help"}).out);
  std::vector<std::string> verbs;
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("  ", 0) != 0) {
      inside = line == "Verbs:";
    } else if (inside) {
      verbs.push_back(line.substr(2, line.find(' ', 2) - 2));
    }
  }
  return verbs;
}

// Every --name in `text`.
std::set<std::string> OptionsOfHelp(const std::string& text) {
  const std::regex option("--([a-z][a-z-]*)");
  std::set<std::string> names;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    const std::size_t head = line.find_first_not_of(' ');
    if (head != std::string::npos && line[head] == '-' && std::regex_search(line, match, option)) {
      names.insert(match[1]);
    }
  }
  return names;
}

// Every option that has an entry of its own: ".It Fl n Ar N , Fl -nodes Ar N".
std::multiset<std::string> OptionsOfManual(const std::string& text) {
  const std::regex option("Fl -([a-z][a-z-]*)");
  std::multiset<std::string> names;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (line.rfind(".It ", 0) == 0 && std::regex_search(line, match, option)) {
      names.insert(match[1]);
    }
  }
  return names;
}

std::string PageOf(const std::string& name) {
  return ReadFile(absl::StrCat(MUSTER_MANUAL, "/", name, ".1")).value();
}

// What `command` prints on both of its outputs.
std::string OutputOf(const std::string& command) {
  std::string output;
  std::FILE* pipe = popen(command.c_str(), "r");
  for (char buffer[4096]; pipe != nullptr && std::fgets(buffer, sizeof buffer, pipe) != nullptr;) {
    output += buffer;
  }
  EXPECT_TRUE(pipe != nullptr && pclose(pipe) != -1) << command;
  return output;
}

TEST(Manual, EveryVerbHasAPageAndEveryPageAVerb) {
  std::set<std::string> wanted = {"muster.1"};
  for (const std::string& verb : VerbsOfHelp()) {
    wanted.insert("muster-" + verb + ".1");
  }
  std::set<std::string> there;
  for (const auto& entry : std::filesystem::directory_iterator(MUSTER_MANUAL)) {
    there.insert(entry.path().filename().string());
  }
  EXPECT_EQ(there, wanted);
  EXPECT_GT(wanted.size(), 10U);
}

TEST(Manual, EveryOptionThatAVerbTakesStandsInItsPageOnce) {
  // Every verb has these; muster(1) describes them.
  const std::set<std::string> everywhere = {"help", "controller", "state"};
  for (const std::string& verb : VerbsOfHelp()) {
    std::set<std::string> names = OptionsOfHelp(RunMuster({verb, "--help"}).out);
    std::multiset<std::string> described = OptionsOfManual(PageOf("muster-" + verb));
    for (const std::string& option : everywhere) {
      names.erase(option);
      described.erase(option);
    }
    EXPECT_EQ(described, std::multiset<std::string>(names.begin(), names.end())) << verb;
  }
  EXPECT_EQ(OptionsOfManual(PageOf("muster")),
            std::multiset<std::string>(everywhere.begin(), everywhere.end()));
}

TEST(Manual, EveryPageSaysWhatPagesSay) {
  for (const std::string& verb : VerbsOfHelp()) {
    const std::string page = PageOf("muster-" + verb);
    for (const char* section :
         {"NAME", "SYNOPSIS", "DESCRIPTION", "EXIT STATUS", "EXAMPLES", "SEE ALSO"}) {
      EXPECT_THAT(page, ::testing::HasSubstr(absl::StrCat("\n.Sh ", section, "\n"))) << verb;
    }
    EXPECT_THAT(page, ::testing::HasSubstr("\n.Dl ")) << verb;
  }
}

TEST(Manual, TheOverviewNamesEveryVerb) {
  const std::string overview = PageOf("muster");
  for (const std::string& verb : VerbsOfHelp()) {
    EXPECT_THAT(overview, ::testing::HasSubstr(".It Xr muster-" + verb + " 1\n"));
  }
}

TEST(Manual, NoPageHasWhatMandocObjectsTo) {
  if (OutputOf("command -v mandoc").empty()) {
    GTEST_SKIP() << "MANDOC IS NOT INSTALLED HERE: the language of the pages is not checked";
  }
  // Pages that are not installed here are named all the same. One at a time: what a run says on
  // stderr comes into the middle of a line when stdout has more than a buffer of them.
  const std::string found =
      OutputOf(absl::StrCat("for page in ", MUSTER_MANUAL,
                            "/*.1; do mandoc -T lint -W style $page 2>&1; done | grep -v "
                            "'referenced manual not found\\|outdated mandoc.db lacks'"));
  EXPECT_EQ(found, "");
}

TEST(Manual, ASourceThatNoVerbHasAndATextThatNoPageShowsAreErrors) {
  const TempDirectory sources;
  const TempDirectory pages;
  const auto write = [&sources](const std::string& name, const std::string& text) {
    return WriteFileAtomically(sources / name, text, 0600);
  };
  const auto error = [&sources, &pages] {
    return RunMuster({"manual", sources.path(), pages.path()}).err;
  };
  EXPECT_EQ(error(), "");
  EXPECT_TRUE(std::filesystem::exists(pages / "muster-submit.1"));
  ASSERT_TRUE(write("version.page", "# OPTIONS\n--json\nNo.\n").ok());
  EXPECT_THAT(error(), ::testing::HasSubstr("version.page:2: muster version has no option --json"));
  ASSERT_TRUE(write("version.page", "# OPTIONS\n@include more\n").ok());
  ASSERT_TRUE(write("more.page", "# OPTIONS\n--json\nNo.\n").ok());
  EXPECT_THAT(error(), ::testing::HasSubstr("more.page:2: no page shows this option's text"));
  ASSERT_TRUE(write("version.page", "# DESCRIPTION\nText.\n").ok());
  EXPECT_THAT(error(), ::testing::HasSubstr("more.page: no verb has this name"));
}

TEST(Manual, HelpAndCompletionDoNotNameTheVerbThatWritesThePages) {
  EXPECT_THAT(RunMuster({"help"}).out, ::testing::Not(::testing::HasSubstr("  manual")));
  EXPECT_THAT(RunMuster({"completion", "bash"}).out,
              ::testing::Not(::testing::HasSubstr("manual) words")));
}

}  // namespace
}  // namespace muster::cli
