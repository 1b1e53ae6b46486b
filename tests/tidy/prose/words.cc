#include "tests/tidy/prose/words.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>

namespace muster::tidy {
namespace {

struct PlainWord {
  std::string_view word;
  std::string_view instead;
  bool in_comments = false;  // and not in what users see alone
};

constexpr std::array<PlainWord, 13> kPlainWords = {{
    {"anew", "again", true},
    {"told of", "informed of, or reported", true},
    {"give way", "yield, or be preempted", true},
    {"gives way", "yields, or is preempted", true},
    {"the house", "the tree, or the layers", true},
    {"so many", "that many, or the number of", true},
    {"came to", "the result was", false},
    {"doorbell", "notification socket", false},
    {"onlooker", "attached client", false},
    {"onlookers", "attached clients", false},
    {"whoever", "a user who, or a program that", false},
    {"somebody", "the user or program that acts", false},
    {"nobody", "no user, no controller, no job", false},
}};

bool IsPageForUsers(const Source& source) {
  const std::string_view name = FileName(source.path);
  return name == "README.md" || name == "CONTRIBUTING.md" || name == "SECURITY.md" ||
         name == "CHANGELOG.md" || source.path.starts_with("cli/man/") ||
         source.path.starts_with("packaging/man/") || source.path.starts_with("packaging/etc/") ||
         source.path.starts_with("daemon/gateway/page/");
}

// The insides of the literals of `source`, all else as spaces.
std::string LiteralsOf(const Source& source) {
  std::string literals = source.text;
  for (size_t i = 0; i < literals.size(); ++i) {
    if (source.code[i] != ' ' || source.comments[i] != ' ') {
      literals[i] = ' ';
    }
  }
  return literals;
}

// Where what stands after the word that ends at `end` goes on: past line ends and their marks.
size_t PastGap(std::string_view text, size_t end) {
  return std::min(text.find_first_not_of(" \n\t/*#\"\\|", end), text.size());
}

// Whether `rest`, the words of a phrase after its first, follows the word that ends at `end`.
bool GoesOn(std::string_view text, size_t end, std::string_view rest) {
  while (!rest.empty()) {
    const std::string_view word = rest.substr(0, rest.find(' '));
    const size_t at = PastGap(text, end);
    end = at + word.size();
    if (text.substr(at, word.size()) != word || (end < text.size() && IsWordCharacter(text[end]))) {
      return false;
    }
    rest.remove_prefix(std::min(word.size() + 1, rest.size()));
  }
  return true;
}

// "`doorbell`", "/doorbell" at the end of a literal and 'nobody' are names.
bool IsName(std::string_view text, size_t at, size_t size) {
  constexpr std::string_view kMarks = "\"'`/";
  return at > 0 && at + size < text.size() && kMarks.find(text[at - 1]) != std::string_view::npos &&
         kMarks.find(text[at + size]) != std::string_view::npos;
}

void FindWords(const Source& source, std::string prose, bool comments,
               std::vector<Finding>& findings) {
  std::transform(prose.begin(), prose.end(), prose.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const PlainWord& plain : kPlainWords) {
    if (comments && !plain.in_comments) {
      continue;
    }
    const std::string_view first = plain.word.substr(0, plain.word.find(' '));
    const std::string_view rest = plain.word.substr(std::min(first.size() + 1, plain.word.size()));
    for (const size_t at : FindWord(prose, first)) {
      if (GoesOn(prose, at + first.size(), rest) && !IsName(source.text, at, first.size())) {
        findings.push_back({source.path, LineAt(source.text, at),
                            "says \"" + std::string(plain.word) + "\". Say " +
                                std::string(plain.instead) +
                                ": a reader stops at a word that is used here alone"});
      }
    }
  }
}

}  // namespace

std::vector<Finding> CheckWords(const Source& source) {
  std::vector<Finding> findings;
  if (IsPageForUsers(source)) {
    FindWords(source, source.text, false, findings);
    return findings;
  }
  FindWords(source, source.comments, true, findings);
  if (IsCode(source) && !source.path.starts_with("tests/")) {
    FindWords(source, LiteralsOf(source), false, findings);
  }
  return findings;
}

}  // namespace muster::tidy
