// The manual pages against what the program says of itself.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <set>
#include <sstream>

#include "tests/unit/cli/program.h"

namespace muster {
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
std::set<std::string> OptionsOfManual(const std::string& text) {
  const std::regex option("Fl -([a-z][a-z-]*)");
  std::set<std::string> names;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (line.rfind(".It ", 0) == 0 && std::regex_search(line, match, option)) {
      names.insert(match[1]);
    }
  }
  return names;
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

TEST(Manual, APageDescribesTheOptionsThatItsVerbTakes) {
  // Every verb has these; muster(1) describes them.
  const std::set<std::string> everywhere = {"help", "controller", "state"};
  for (const std::string& verb : VerbsOfHelp()) {
    const std::string page =
        ReadFile(std::string(MUSTER_MANUAL) + "/muster-" + verb + ".1").value();
    std::set<std::string> wanted = OptionsOfHelp(RunMuster({verb, "--help"}).out);
    std::set<std::string> described = OptionsOfManual(page);
    for (const std::string& option : everywhere) {
      wanted.erase(option);
      described.erase(option);
    }
    EXPECT_EQ(described, wanted) << verb;
  }
  EXPECT_EQ(OptionsOfManual(ReadFile(std::string(MUSTER_MANUAL) + "/muster.1").value()),
            everywhere);
}

TEST(Manual, TheOverviewNamesEveryVerb) {
  const std::string overview = ReadFile(std::string(MUSTER_MANUAL) + "/muster.1").value();
  for (const std::string& verb : VerbsOfHelp()) {
    EXPECT_THAT(overview, testing::HasSubstr(".It Xr muster-" + verb + " 1\n"));
  }
}

}  // namespace
}  // namespace muster
