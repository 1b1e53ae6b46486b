#include "tests/tidy/tree.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>

namespace muster::tidy {
namespace {

// Written in halves, so that this file does not find itself.
const std::array<std::string, 3>& LeftoverMarks() {
  static const std::array<std::string, 3> marks = {
      std::string("TO") + "DO", std::string("FIX") + "ME", std::string("XX") + "X"};
  return marks;
}

const std::array<std::string, 4>& WorkspacePrefixes() {
  static const std::array<std::string, 4> prefixes = {
      std::string("/wor") + "k/", std::string("/workspac") + "e/", std::string("/Use") + "rs/",
      std::string("/roo") + "t/"};
  return prefixes;
}

// As whole words of a path, where '_' and '-' part words.
constexpr std::array<std::string_view, 8> kEmptyNames = {
    "util", "utils", "common", "misc", "helper", "helpers", "manager", "managers"};

std::string_view FirstLine(std::string_view* text) {
  const size_t end = std::min(text->find('\n'), text->size());
  const std::string_view line = text->substr(0, end);
  text->remove_prefix(std::min(end + 1, text->size()));
  return line;
}

// The lines of the comment that `text` starts with, blank lines before it aside.
size_t OpeningCommentLines(std::string_view text) {
  while (text.starts_with("\n")) {
    text.remove_prefix(1);
  }
  if (text.starts_with("/*")) {
    const std::string_view comment = text.substr(0, text.find("*/"));
    return CountLines(comment) + 1;
  }
  size_t lines = 0;
  while (FirstLine(&text).starts_with("//")) {
    ++lines;
  }
  return lines;
}

bool HasBuildRule(const Source& source) {
  const std::string_view ending = Ending(source.path);
  return ending == ".cc" || ending == ".c" || ending == ".cu" || ending == ".proto";
}

bool IsBuildList(const Source& source) {
  return FileName(source.path) == "CMakeLists.txt" || Ending(source.path) == ".cmake";
}

std::string FolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

// "a/b" + "../c" is "a/c".
std::string Resolve(const std::string& folder, const std::string& name) {
  std::vector<std::string> parts;
  std::string part;
  std::string joined = folder;
  joined += "/";
  joined += name;
  joined += "/";
  for (const char c : joined) {
    if (c != '/') {
      part += c;
      continue;
    }
    if (part == ".." && !parts.empty()) {
      parts.pop_back();
    } else if (!part.empty() && part != ".") {
      parts.push_back(part);
    }
    part.clear();
  }
  std::string path;
  for (const std::string& each : parts) {
    path += (path.empty() ? "" : "/") + each;
  }
  return path;
}

struct Token {
  std::string text;
  size_t line = 0;
};

// The words of a CMake file; comments dropped, quotes and parentheses taken as spaces.
std::vector<Token> TokensOf(const Source& list) {
  std::vector<Token> tokens;
  std::string word;
  size_t line = 1;
  bool comment = false;
  for (const char c : list.text + "\n") {
    comment = comment || c == '#';
    const bool ends = comment || c == ' ' || c == '\n' || c == '"' || c == '(' || c == ')' ||
                      c == ';' || c == '\t';
    if (!ends) {
      word += c;
    } else if (!word.empty()) {
      tokens.push_back({word, line});
      word.clear();
    }
    if (c == '\n') {
      comment = false;
      ++line;
    }
  }
  return tokens;
}

// The path from the root that a token in `list` names; empty when a variable hides it.
std::string PathOf(const Source& list, std::string token) {
  std::string folder = FolderOf(list.path);
  for (const std::string_view root : {"${CMAKE_SOURCE_DIR}/", "${PROJECT_SOURCE_DIR}/"}) {
    if (token.starts_with(root)) {
      token.erase(0, root.size());
      folder.clear();
    }
  }
  const std::string_view here = "${CMAKE_CURRENT_SOURCE_DIR}/";
  if (token.starts_with(here)) {
    token.erase(0, here.size());
  }
  return token.find('$') == std::string::npos ? Resolve(folder, token) : "";
}

struct Listing {
  std::map<std::string, std::pair<std::string, size_t>> sources;  // Path → list file and line.
  std::set<std::string> added_folders;
  std::set<std::string> folders_adding_by_variable;
};

Listing ReadLists(const std::vector<Source>& tree) {
  Listing listing;
  for (const Source& list : tree) {
    if (!IsBuildList(list)) {
      continue;
    }
    const std::vector<Token> tokens = TokensOf(list);
    for (size_t i = 0; i < tokens.size(); ++i) {
      const std::string path = PathOf(list, tokens[i].text);
      const bool after_add = i > 0 && tokens[i - 1].text == "add_subdirectory";
      if (after_add && path.empty()) {
        listing.folders_adding_by_variable.insert(FolderOf(list.path));
      } else if (after_add) {
        listing.added_folders.insert(path);
      } else if (!path.empty() && HasBuildRule(Source{path, "", ""})) {
        listing.sources.insert({path, {list.path, tokens[i].line}});
      }
    }
  }
  return listing;
}

bool IsAdded(const Listing& listing, const std::string& folder) {
  return folder.empty() || listing.added_folders.count(folder) != 0 ||
         listing.folders_adding_by_variable.count(FolderOf(folder)) != 0;
}

}  // namespace

std::vector<Finding> CheckHeaderOpening(const Source& source) {
  std::vector<Finding> findings;
  if (!IsHeader(source)) {
    return findings;
  }
  std::string_view text = source.text;
  if (FirstLine(&text) != "#pragma once") {
    findings.push_back({source.path, 1,
                        "does not start with #pragma once. Put it first: one guard form "
                        "everywhere, with no name to get wrong"});
    return findings;
  }
  if (OpeningCommentLines(text) < kOpeningLinesMin) {
    findings.push_back({source.path, 2,
                        "has no opening paragraph. After #pragma once say in " +
                            std::to_string(kOpeningLinesMin) +
                            " to 10 lines what it is for, what threads may do and what always "
                            "holds: a reader decides there whether to read on"});
  }
  return findings;
}

std::vector<Finding> CheckLeftovers(const Source& source) {
  std::vector<Finding> findings;
  for (const std::string& mark : LeftoverMarks()) {
    for (const size_t at : FindWord(source.text, mark)) {
      findings.push_back({source.path, LineAt(source.text, at),
                          mark + " left behind. Do it now, or open an issue and say here what "
                                 "is so: a mark in the code is a promise nobody keeps"});
    }
  }
  return findings;
}

std::vector<Finding> CheckWorkspacePaths(const Source& source) {
  std::vector<Finding> findings;
  const std::string_view text = source.text;
  for (const std::string& prefix : WorkspacePrefixes()) {
    for (size_t at = text.find(prefix); at != std::string_view::npos;
         at = text.find(prefix, at + 1)) {
      const std::string_view before = at == 0 ? " " : text.substr(at - 1, 1);
      if (std::string_view(" \t\n\"'`(=:,<").find(before) != std::string_view::npos) {
        findings.push_back({source.path, LineAt(text, at),
                            "names " + prefix +
                                ", a path of one machine. Use a path from the "
                                "root of the tree, or a temporary directory: it must work in any "
                                "clone"});
      }
    }
  }
  return findings;
}

std::vector<Finding> CheckNames(const Source& source) {
  std::vector<Finding> findings;
  std::string words = source.path;
  std::replace(words.begin(), words.end(), '_', ' ');
  for (const std::string_view name : kEmptyNames) {
    if (!FindWord(words, name).empty()) {
      findings.push_back({source.path, 0,
                          "'" + std::string(name) +
                              "' says nothing. Name the file after the noun "
                              "or verb of the field that it holds: such folders collect everything "
                              "and end in include cycles"});
    }
  }
  return findings;
}

std::vector<Finding> CheckBuildLists(const std::vector<Source>& tree) {
  const Listing listing = ReadLists(tree);
  std::set<std::string> present;
  std::vector<Finding> findings;
  for (const Source& source : tree) {
    present.insert(source.path);
    if (HasBuildRule(source) && listing.sources.count(source.path) == 0) {
      findings.push_back({source.path, 0,
                          "no CMakeLists.txt lists it. Add it to its target by name, or delete "
                          "it: code that is not built is not true"});
    }
    if (FileName(source.path) == "CMakeLists.txt" && !IsAdded(listing, FolderOf(source.path))) {
      findings.push_back({source.path, 0,
                          "no add_subdirectory reaches it. Add its folder in the parent's "
                          "CMakeLists.txt: its targets are never built"});
    }
  }
  for (const auto& [path, where] : listing.sources) {
    if (present.count(path) == 0) {
      findings.push_back({where.first, where.second,
                          "lists " + path +
                              ", which does not exist. Remove the line, or commit "
                              "the file: a clean clone cannot build"});
    }
  }
  return findings;
}

std::vector<Finding> CheckReadmes(const std::vector<Source>& tree) {
  std::set<std::string> folders;
  std::map<std::string, size_t> lines_of_readme;
  for (const Source& source : tree) {
    const size_t slash = source.path.find('/');
    if (slash == std::string::npos) {
      continue;
    }
    const std::string folder = source.path.substr(0, slash);
    if (IsCode(source) || Ending(source.path) == ".proto") {
      folders.insert(folder);
    }
    if (source.path == folder + "/README.md") {
      lines_of_readme[folder] = CountLines(source.text);
    }
  }
  std::vector<Finding> findings;
  for (const std::string& folder : folders) {
    const std::string path = folder + "/README.md";
    const auto found = lines_of_readme.find(folder);
    if (found == lines_of_readme.end()) {
      findings.push_back({path, 0,
                          "is missing. Write its purpose, its words, one drawing and its "
                          "decisions with their reasons: the newcomer starts there"});
    } else if (found->second > kReadmeLinesMax) {
      findings.push_back({path, 0,
                          std::to_string(found->second) + " lines, over " +
                              std::to_string(kReadmeLinesMax) +
                              ". Keep what a newcomer needs and move details to the headers: a "
                              "long page is not read"});
    }
  }
  return findings;
}

}  // namespace muster::tidy
