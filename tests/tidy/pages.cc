#include "tests/tidy/pages.h"

#include <algorithm>
#include <array>
#include <cctype>
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

// What a page may name: every file, every folder, and every file without its ending.
std::set<std::string, std::less<>> NamesOf(const std::vector<Source>& tree) {
  std::set<std::string, std::less<>> names;
  for (const Source& source : tree) {
    names.insert(source.path);
    names.insert(source.path.substr(0, source.path.size() - Ending(source.path).size()));
    for (size_t slash = source.path.rfind('/'); slash != std::string::npos && slash > 0;
         slash = source.path.rfind('/', slash - 1)) {
      names.insert(source.path.substr(0, slash));
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
  constexpr std::array<std::string_view, 13> kEndings = {"",    ".c",    ".cc", ".cmake", ".cu",
                                                         ".h",  ".json", ".md", ".proto", ".py",
                                                         ".sh", ".toml", ".txt"};
  return std::find(kEndings.begin(), kEndings.end(), Ending(path)) != kEndings.end();
}

// True for "daemon/store" and its like, false for words, commands, patterns and placeholders.
bool IsPathFromRoot(std::string_view span, const std::set<std::string, std::less<>>& names) {
  const size_t slash = span.find('/');
  return slash != std::string_view::npos && names.count(span.substr(0, slash)) != 0 &&
         std::all_of(
             span.begin(), span.end(),
             [](char c) { return IsWordCharacter(c) || c == '/' || c == '.' || c == '-'; }) &&
         !span.starts_with("tests/fixtures") && HasReadEnding(span) && !HasPlaceholder(span);
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

std::vector<Finding> CheckPagePaths(const std::vector<Source>& tree,
                                    const std::set<std::string>& unread) {
  std::set<std::string, std::less<>> names = NamesOf(tree);
  names.insert(unread.begin(), unread.end());
  std::vector<Finding> findings;
  for (const Source& source : tree) {
    if (!IsPage(source)) {
      continue;
    }
    const std::string_view text = source.text;
    for (size_t open = text.find('`'); open != std::string_view::npos;) {
      const size_t close = text.find('`', open + 1);
      if (close == std::string_view::npos) {
        break;
      }
      std::string_view span = text.substr(open + 1, close - open - 1);
      span.remove_suffix(span.ends_with('/') ? 1 : 0);
      if (IsPathFromRoot(span, names) && names.count(span) == 0) {
        findings.push_back({source.path, LineAt(text, open),
                            "names " + std::string(span) +
                                ", which is not there. Name the file or folder that has its part "
                                "now: the page sends readers to nothing"});
      }
      open = text.find('`', close + 1);
    }
  }
  return findings;
}

}  // namespace muster::tidy
