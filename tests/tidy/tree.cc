#include "tests/tidy/tree.h"

#include <algorithm>
#include <array>
#include <functional>
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

// Whether `text` starts with a comment, blank lines before it aside.
bool HasOpeningComment(std::string_view text) {
  const std::string_view rest = text.substr(std::min(text.find_first_not_of('\n'), text.size()));
  return rest.starts_with("//") || rest.starts_with("/*");
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
  std::vector<Finding> faults;  // in the lists themselves
};

// Within one call, the sources of one folder stand in order, and none twice.
void CheckOrder(const Source& list, const std::vector<Token>& tokens, Listing& listing) {
  const Token* before = nullptr;
  for (const Token& token : tokens) {
    const bool source = HasBuildRule(MakeSource(token.text, "")) &&
                        token.text.find_first_of("/$") == std::string::npos;
    if (source && before != nullptr && token.text <= before->text) {
      listing.faults.push_back({list.path, token.line,
                                "lists " + token.text + " after " + before->text +
                                    ". Keep lists in order, so that nothing stands in one twice"});
    }
    before = source ? &token : nullptr;
  }
}

Listing ReadLists(const std::vector<Source>& tree) {
  Listing listing;
  for (const Source& list : tree) {
    if (!IsBuildList(list)) {
      continue;
    }
    const std::vector<Token> tokens = TokensOf(list);
    CheckOrder(list, tokens, listing);
    std::set<std::string> paths;
    bool adds_by_variable = false;
    for (size_t i = 0; i < tokens.size(); ++i) {
      const std::string path = PathOf(list, tokens[i].text);
      const bool after_add = i > 0 && tokens[i - 1].text == "add_subdirectory";
      adds_by_variable = adds_by_variable || (after_add && path.empty());
      paths.insert(path);
      if (after_add) {
        listing.added_folders.insert(path);
      } else if (!path.empty() && HasBuildRule(MakeSource(path, ""))) {
        listing.sources.insert({path, {list.path, tokens[i].line}});
      }
    }
    if (adds_by_variable) {  // a loop over folders: each of its words may be one
      listing.added_folders.merge(paths);
    }
  }
  return listing;
}

struct TypeDefinition {
  std::string name;  // with its namespaces
  size_t line = 0;
};

// "struct Name", "class Name final : Base", "enum class Name : int": the name, or nothing.
std::string DefinedName(std::string_view line) {
  for (const std::string_view keyword :
       {"struct ", "class ", "enum class ", "enum struct ", "enum ", "union "}) {
    if (!line.starts_with(keyword)) {
      continue;
    }
    const std::string_view rest = line.substr(keyword.size());
    size_t end = rest.find_first_of(" ;<{[*&");
    end -= end != std::string_view::npos && end > 0 && rest[end - 1] == ':' ? 1 : 0;
    const std::string_view name = rest.substr(0, end);
    const size_t past = rest.find_first_of(";{<(*&");
    const bool defines = past == std::string_view::npos || rest[past] == '{';
    if (defines && !name.empty() && name != "class" && name != "struct") {
      return std::string(name);
    }
  }
  return {};
}

// The types that the file defines at a namespace's scope where other files see them. The tree is
// formatted, so what stands at a line's start is at namespace scope, and a namespace's end is
// named.
std::vector<TypeDefinition> TypesOf(const Source& source) {
  std::vector<TypeDefinition> types;
  std::vector<std::string> spaces;
  std::string_view text = source.text;
  for (size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = FirstLine(&text);
    if (line.starts_with("namespace ") && line.ends_with("{")) {
      const std::string_view name = line.substr(10, line.size() - 11);
      spaces.emplace_back(name.substr(0, name.find(' ')));
    } else if (line.starts_with("}  // namespace") && !spaces.empty()) {
      spaces.pop_back();
    } else if (const std::string name = DefinedName(line);
               !name.empty() && std::count(spaces.begin(), spaces.end(), "") == 0) {
      std::string whole;
      for (const std::string& space : spaces) {
        whole += space + "::";
      }
      types.push_back({whole + name, number});
    }
  }
  return types;
}

bool IsAdded(const Listing& listing, const std::string& folder) {
  return folder.empty() || listing.added_folders.count(folder) != 0;
}

struct Room {
  size_t sources = 0;
  std::set<std::string, std::less<>> units;
  const Source* page = nullptr;
};

// The product's folders below the top level, by path. C programs alone (examples) make no room.
std::map<std::string, Room> RoomsOf(const std::vector<Source>& tree) {
  std::map<std::string, Room> rooms;
  for (const Source& source : tree) {
    const std::string folder = FolderOf(source.path);
    if (folder.find('/') == std::string::npos || folder.starts_with("tests/")) {
      continue;
    }
    if (IsCode(source)) {
      const std::string_view name = FileName(source.path);
      rooms[folder].units.emplace(name.substr(0, name.rfind('.')));
      rooms[folder].sources += Ending(source.path) == ".c" ? 0 : 1;
    } else if (FileName(source.path) == "README.md") {
      rooms[folder].page = &source;
    }
  }
  std::erase_if(rooms, [](const auto& room) { return room.second.sources < kRoomSourcesMin; });
  return rooms;
}

size_t CountWords(std::string_view text) {
  size_t words = 0;
  bool inside = false;
  for (const char c : text) {
    const bool blank = c == ' ' || c == '\n' || c == '\t';
    words += !blank && !inside ? 1 : 0;
    inside = !blank;
  }
  return words;
}

// The unit that a row of a page's table begins with, or nothing: "| `unit` | …".
std::string_view UnitOfRow(std::string_view line) {
  constexpr std::string_view kOpen = "| `";
  if (!line.starts_with(kOpen)) {
    return {};
  }
  line.remove_prefix(kOpen.size());
  const size_t close = line.find('`');
  return close != std::string_view::npos && line.substr(close).starts_with("` |")
             ? line.substr(0, close)
             : std::string_view();
}

std::vector<Finding> CheckPageSize(const Source& page) {
  std::vector<Finding> findings;
  const auto hold = [&](size_t has, size_t limit, const std::string& what) {
    if (has > limit) {
      findings.push_back({page.path, 0,
                          std::to_string(has) + " " + what + ", over " + std::to_string(limit) +
                              ". Keep what finds the file to change and move the rest to the "
                              "headers: a long page is not read"});
    }
  };
  hold(CountLines(page.text), kPageLinesMax, "lines");
  hold(CountWords(page.text), kPageWordsMax, "words");
  return findings;
}

std::vector<Finding> CheckPageUnits(const Source& page, const Room& room) {
  std::vector<Finding> findings;
  std::set<std::string, std::less<>> named;
  std::string_view text = page.text;
  for (size_t number = 1; !text.empty(); ++number) {
    const std::string_view unit = UnitOfRow(FirstLine(&text));
    if (unit.empty()) {
      continue;
    }
    if (room.units.find(unit) == room.units.end()) {
      findings.push_back({page.path, number,
                          "names " + std::string(unit) +
                              ", which is not in this folder. Remove the row: the page sends "
                              "readers to a file that is not there"});
    } else if (!named.emplace(unit).second) {
      findings.push_back({page.path, number,
                          "names " + std::string(unit) +
                              " again. Keep one row for it, which says all that it does"});
    }
  }
  for (const std::string& unit : room.units) {
    if (named.count(unit) == 0) {
      findings.push_back({page.path, 0,
                          "does not name " + unit + ". Add a row, \"| `" + unit +
                              "` | what it does |\": who looks for a place to change something "
                              "reads the page and not the folder"});
    }
  }
  return findings;
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
  if (!HasOpeningComment(text)) {
    findings.push_back({source.path, 2,
                        "has no opening comment. After #pragma once say in 1 to 10 lines what it "
                        "is for, what always holds and, where some of it is not safe from any "
                        "thread, what threads may do: a reader decides there whether to read on"});
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
  std::vector<Finding> findings = listing.faults;
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

std::vector<Finding> CheckTypeNames(const std::vector<Source>& tree) {
  std::map<std::string, std::string> defined;  // qualified name → path and line
  std::vector<Finding> findings;
  for (const Source& source : tree) {
    if (!IsCode(source) || source.path.starts_with("tests/") || Ending(source.path) == ".c") {
      continue;
    }
    for (const TypeDefinition& type : TypesOf(source)) {
      const std::string here = source.path + ":" + std::to_string(type.line);
      const auto [first, is_new] = defined.emplace(type.name, here);
      if (!is_new) {
        findings.push_back({source.path, type.line,
                            "defines " + type.name + ", which " + first->second +
                                " defines, too. Rename one: two types of one name in one program "
                                "are undefined behaviour that no compiler reports"});
      }
    }
  }
  return findings;
}

std::vector<Finding> CheckFolderSizes(const std::vector<Source>& tree) {
  std::map<std::string, size_t> sizes;
  for (const Source& source : tree) {
    sizes[FolderOf(source.path)] += IsCode(source) ? 1 : 0;
  }
  std::vector<Finding> findings;
  for (const auto& [folder, size] : sizes) {
    if (size > kFolderSourcesMax) {
      findings.push_back({folder, 0,
                          std::to_string(size) + " source files, over " +
                              std::to_string(kFolderSourcesMax) +
                              ". Divide the folder by what its files are about: nobody holds "
                              "more in one head"});
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

std::vector<Finding> CheckRoomPages(const std::vector<Source>& tree,
                                    const std::set<std::string>& without) {
  const std::map<std::string, Room> rooms = RoomsOf(tree);
  std::vector<Finding> findings;
  for (const std::string& folder : without) {
    const auto room = rooms.find(folder);
    if (room == rooms.end() || room->second.page != nullptr) {
      findings.push_back({folder, 0,
                          "is on the list of rooms without a page, but has one or is no room. "
                          "Remove it from the list, which may only shrink"});
    }
  }
  const auto report = [&findings](const std::vector<Finding>& more) {
    findings.insert(findings.end(), more.begin(), more.end());
  };
  for (const auto& [folder, room] : rooms) {
    if (room.page != nullptr) {
      report(CheckPageSize(*room.page));
      report(CheckPageUnits(*room.page, room));
    } else if (without.count(folder) == 0) {
      findings.push_back({folder + "/README.md", 0,
                          "is missing. Say what the room is for, and name each of its units in a "
                          "row of a table: nobody should have to open every file"});
    }
  }
  return findings;
}

}  // namespace muster::tidy
