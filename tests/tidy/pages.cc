#include "tests/tidy/pages.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace muster::tidy {
namespace {

bool IsPage(const Source& source) {
  const std::string_view name = FileName(source.path);
  return name == "README.md" || name == "CONTRIBUTING.md";
}

// Characters of UTF-8, not bytes.
size_t WidthOf(std::string_view line) {
  return static_cast<size_t>(std::count_if(line.begin(), line.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

// What text may name: every file, every folder, and every file without its ending, each by its path
// from the root or from any folder on the way down to it.
struct TreeNames {
  std::set<std::string, std::less<>> paths;
  std::set<std::string, std::less<>> folders;  // the last parts of their paths alone
};

void AddPath(std::string_view path, TreeNames& names) {
  names.paths.emplace(path);
  for (size_t slash = path.find('/'); slash != std::string_view::npos;
       slash = path.find('/', slash + 1)) {
    names.paths.emplace(path.substr(slash + 1));
  }
}

TreeNames NamesOf(const std::vector<Source>& tree, const std::set<std::string>& unread) {
  TreeNames names;
  for (const std::string& path : unread) {
    AddPath(path, names);
  }
  for (const Source& source : tree) {
    const std::string_view path = source.path;
    AddPath(path, names);
    AddPath(path.substr(0, path.size() - Ending(path).size()), names);
    for (size_t slash = path.rfind('/'); slash != std::string_view::npos && slash > 0;
         slash = path.rfind('/', slash - 1)) {
      AddPath(path.substr(0, slash), names);
      names.folders.emplace(FileName(path.substr(0, slash)));
    }
  }
  return names;
}

// "NAME" and its like stand for a name that the reader chooses.
bool HasPlaceholder(std::string_view path) {
  const auto is_upper = [](char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; };
  return std::adjacent_find(path.begin(), path.end(), [&is_upper](char a, char b) {
           return is_upper(a) && is_upper(b);
         }) != path.end();
}

bool HasReadEnding(std::string_view path) {
  constexpr std::array<std::string_view, 17> kEndings = {
      "",      ".7",  ".8",    ".c",     ".cc", ".cmake", ".cu",   ".h",  ".js",
      ".json", ".md", ".page", ".proto", ".py", ".sh",    ".toml", ".txt"};
  return std::find(kEndings.begin(), kEndings.end(), Ending(path)) != kEndings.end();
}

bool IsPathCharacter(char c) {
  return IsWordCharacter(c) || c == '/' || c == '.' || c == '-';
}

// True for "daemon/store", "store/rows" and their like, false for words, commands, patterns and
// placeholders.
bool IsPathInTree(std::string_view span, const TreeNames& names) {
  const size_t slash = span.find('/');
  return slash != std::string_view::npos && names.folders.count(span.substr(0, slash)) != 0 &&
         std::all_of(span.begin(), span.end(), IsPathCharacter) &&
         !span.starts_with("tests/fixtures") && HasReadEnding(span) && !HasPlaceholder(span);
}

struct QuotedName {
  size_t at = 0;
  std::string_view name;  // without a slash at its end
};

// What a page has between backquotes.
std::vector<QuotedName> QuotedNamesOf(std::string_view page) {
  std::vector<QuotedName> quoted;
  for (size_t open = page.find('`'); open != std::string_view::npos;) {
    const size_t close = page.find('`', open + 1);
    if (close == std::string_view::npos) {
      break;
    }
    std::string_view name = page.substr(open + 1, close - open - 1);
    name.remove_suffix(name.ends_with('/') ? 1 : 0);
    quoted.push_back({open, name});
    open = page.find('`', close + 1);
  }
  return quoted;
}

// The words of comments that look like paths: no part of a longer path, a pattern or quoted text.
std::vector<QuotedName> NamesInComments(const Source& source) {
  constexpr std::string_view kMarks = "*<{$~@:";
  std::vector<QuotedName> names;
  const std::string_view text = source.comments;
  bool quoted = false;
  for (size_t at = 0; at < text.size(); ++at) {
    quoted = text[at] != '\n' && quoted != (text[at] == '"');
    const size_t start = at;
    while (at < text.size() && IsPathCharacter(text[at])) {
      ++at;
    }
    std::string_view name = text.substr(start, at - start);
    name = name.substr(0, name.find_last_not_of("/.-") + 1);
    const bool patterned =
        (start > 0 && kMarks.find(text[start - 1]) != std::string_view::npos) ||
        (at < text.size() && kMarks.substr(0, 4).find(text[at]) != std::string_view::npos);
    if (!patterned && !quoted && !name.empty()) {
      names.push_back({start, name});
    }
    at -= at > start ? 1 : 0;
  }
  return names;
}

// The page without the paragraphs that say what its room may include.
std::string WithoutMayInclude(std::string_view page) {
  constexpr std::string_view kOpening = "\nMay include:";
  std::string rest;
  for (size_t at = page.find(kOpening); at != std::string_view::npos; at = page.find(kOpening)) {
    rest += page.substr(0, at);
    page.remove_prefix(std::min(page.find("\n\n", at + 1), page.size()));
  }
  rest += page;
  return rest;
}

// By the folder of each README.md: what it names.
using PageNames = std::map<std::string, std::set<std::string, std::less<>>, std::less<>>;

PageNames NamesOnPages(const std::vector<Source>& tree) {
  PageNames pages;
  for (const Source& source : tree) {
    const size_t slash = source.path.rfind('/');
    if (slash == std::string::npos || FileName(source.path) != "README.md") {
      continue;
    }
    std::set<std::string, std::less<>>& names = pages[source.path.substr(0, slash)];
    const std::string text = WithoutMayInclude(source.text);
    for (const QuotedName& quoted : QuotedNamesOf(text)) {
      names.emplace(quoted.name);
    }
  }
  return pages;
}

// Whether the page of `above`, a folder over `room`, names it: from the root or from a folder on
// the way down to `above`.
bool IsNamedBy(const std::set<std::string, std::less<>>& names, std::string_view room,
               std::string_view above) {
  size_t start = 0;
  while (names.count(room.substr(start)) == 0) {
    if (start > above.size()) {
      return false;
    }
    start = room.find('/', start) + 1;
  }
  return true;
}

// The folder whose page should name `room`, because none of those above does: the nearest with a
// page, or else the wing. Nothing if one does.
std::string_view WhoShouldName(std::string_view room, const PageNames& pages) {
  std::string_view nearest;
  std::string_view above = room;
  for (size_t slash = room.rfind('/'); slash != std::string_view::npos; slash = above.rfind('/')) {
    above = above.substr(0, slash);
    const auto page = pages.find(above);
    if (page != pages.end() && IsNamedBy(page->second, room, above)) {
      return {};
    }
    nearest = nearest.empty() && page != pages.end() ? above : nearest;
  }
  return nearest.empty() ? above : nearest;
}

}  // namespace

std::vector<Finding> CheckPageWidth(const Source& source) {
  std::vector<Finding> findings;
  if (!IsPage(source)) {
    return findings;
  }
  size_t number = 1;
  for (size_t at = 0; at < source.text.size(); ++number) {
    const size_t end = std::min(source.text.find('\n', at), source.text.size());
    const std::string_view line = std::string_view(source.text).substr(at, end - at);
    if (const size_t width = WidthOf(line); width > kPageWidthMax) {
      findings.push_back({source.path, number,
                          std::to_string(width) + " characters, over " +
                              std::to_string(kPageWidthMax) +
                              ". Break the line, shorten the cell, or make the table a list: "
                              "people read pages as text, beside the code"});
    }
    at = end + 1;
  }
  return findings;
}

std::vector<Finding> CheckNamedPaths(const std::vector<Source>& tree,
                                     const std::set<std::string>& unread) {
  const TreeNames names = NamesOf(tree, unread);
  std::vector<Finding> findings;
  for (const Source& source : tree) {
    const bool commented = IsCode(source) || Ending(source.path) == ".proto";
    if (!commented && !IsPage(source) && FileName(source.path) != "SECURITY.md") {
      continue;
    }
    for (const QuotedName& named :
         commented ? NamesInComments(source) : QuotedNamesOf(source.text)) {
      if (IsPathInTree(named.name, names) && names.paths.count(named.name) == 0) {
        findings.push_back({source.path, LineAt(source.text, named.at),
                            "names " + std::string(named.name) +
                                ", which is not there. Name the file or folder that has its part "
                                "now: the text sends readers to nothing"});
      }
    }
  }
  return findings;
}

std::vector<Finding> CheckRoomsAreNamed(const std::vector<Source>& tree) {
  const PageNames pages = NamesOnPages(tree);
  std::vector<Finding> findings;
  for (const auto& [room, names] : pages) {
    if (room.find('/') == std::string::npos) {
      continue;  // a wing
    }
    if (const std::string_view folder = WhoShouldName(room, pages); !folder.empty()) {
      findings.push_back({std::string(folder) + "/README.md", 0,
                          "does not name " + room + ", nor does a page above it. Add \"`" + room +
                              "`\" with what it holds, to its table or after \"Its rooms:\"; "
                              "\"May include:\" does not count: who looks for the place of a "
                              "change goes down from page to page"});
    }
  }
  return findings;
}

}  // namespace muster::tidy
