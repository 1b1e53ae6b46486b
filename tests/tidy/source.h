#pragma once

// The tree as the rules see it: files with their text, and with comments and literals blanked
// out.
//
// Every check is a function from sources to findings, so that its own test can hand it a bad
// snippet. A finding says what is wrong, what to do instead, and why. Invariant: `code` and
// `comments` have the length and the line breaks of `text`, so an offset means the same in all.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace muster::tidy {

struct Finding {
  std::string path;
  size_t line = 0;  // From 1; 0 means the file as a whole.
  std::string message;
};

struct Source {
  std::string path;  // From the root, with '/'.
  std::string text;
  std::string code;      // `text` with comments and the insides of literals as spaces.
  std::string comments;  // The comments of `text`, of code and .proto, all else as spaces.
};

Source MakeSource(std::string path, std::string text);

// Every text file under `root` that people write: not build folders, hidden folders (but .ci) or
// tests/fixtures. Sorted by path.
std::vector<Source> LoadTree(const std::string& root);

// "PATH:LINE: MESSAGE".
std::string ToString(const Finding& finding);

// The line of `offset`, from 1.
size_t LineAt(std::string_view text, size_t offset);
size_t CountLines(std::string_view text);

// Offsets where `word` stands in `code` with no letter, digit or underscore beside it.
std::vector<size_t> FindWord(std::string_view code, std::string_view word);
bool IsWordCharacter(char c);

// The last part of a path; its ending from the last dot (".cc"), or nothing.
std::string_view FileName(std::string_view path);
std::string_view Ending(std::string_view path);
bool IsHeader(const Source& source);
// C, C++ or CUDA, header or not.
bool IsCode(const Source& source);

struct Include {
  std::string target;
  size_t line = 0;
};

// What `source` includes, in order; not what a comment or a string mentions.
std::vector<Include> IncludesOf(const Source& source);

}  // namespace muster::tidy
