#include "tests/tidy/source.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

namespace muster::tidy {
namespace {

namespace fs = std::filesystem;

// One file larger than this is data, whatever its name says.
constexpr size_t kTextBytesMax = size_t{1} << 20;

// Walks a text once and copies its code and its comments apart; every other byte becomes a space,
// line breaks stay.
class Blanker {
 public:
  explicit Blanker(std::string_view text)
      : text_(text), code_(text.size(), ' '), comments_(text.size(), ' ') {}

  void Run() {
    while (at_ < text_.size()) {
      if (Starts("//") || Starts("/*")) {
        KeepComment();
      } else if (Starts("R\"") && (at_ == 0 || !IsWordCharacter(text_[at_ - 1]))) {
        SkipRawString();
      } else if (text_[at_] == '"' || IsCharacterLiteral()) {
        SkipLiteral(text_[at_]);
      } else {
        Keep();
      }
    }
  }

  std::string TakeCode() && { return std::move(code_); }
  std::string TakeComments() && { return std::move(comments_); }

 private:
  bool Starts(std::string_view what) const { return text_.substr(at_, what.size()) == what; }

  // A quote after a letter or digit separates digits: 1'000.
  bool IsCharacterLiteral() const {
    return text_[at_] == '\'' && (at_ == 0 || !IsWordCharacter(text_[at_ - 1]));
  }

  void Keep() {
    code_[at_] = text_[at_];
    if (text_[at_] == '\n') {
      comments_[at_] = '\n';
    }
    ++at_;
  }
  void KeepComment() {
    const size_t start = at_;
    if (Starts("//")) {
      SkipTo("\n");
    } else {
      SkipThrough("*/");
    }
    comments_.replace(start, at_ - start, text_.substr(start, at_ - start));
  }
  void Skip() {
    if (text_[at_] == '\n') {
      code_[at_] = '\n';
      comments_[at_] = '\n';
    }
    ++at_;
  }
  void SkipUntil(size_t end) {
    while (at_ < std::min(end, text_.size())) {
      Skip();
    }
  }
  void SkipTo(std::string_view mark) { SkipUntil(text_.find(mark, at_)); }
  void SkipThrough(std::string_view mark) {
    const size_t found = text_.find(mark, at_ + 2);
    SkipUntil(found == std::string_view::npos ? found : found + mark.size());
  }
  void SkipRawString() {
    const size_t open = text_.find('(', at_);
    if (open == std::string_view::npos) {
      SkipUntil(text_.size());
      return;
    }
    std::string mark(")");
    mark += text_.substr(at_ + 2, open - at_ - 2);
    mark += '"';
    SkipThrough(mark);
  }
  void SkipLiteral(char quote) {
    Keep();
    while (at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n') {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) {
        Skip();
      }
      Skip();
    }
    if (at_ < text_.size() && text_[at_] == quote) {
      Keep();
    }
  }

  std::string_view text_;
  std::string code_;
  std::string comments_;
  size_t at_ = 0;
};

bool IsSkippedFolder(const fs::path& folder, const std::string& from_root) {
  const std::string name = folder.filename().string();
  return (name.front() == '.' && name != ".ci") || from_root == "build" ||
         from_root == "tests/fixtures" || name == "__pycache__" ||
         fs::exists(folder / "CMakeCache.txt");
}

bool IsWrittenByPeople(const std::string& name) {
  constexpr std::array<std::string_view, 18> kEndings = {
      ".h",  ".cc",    ".c",  ".cu",   ".cuh",  ".proto", ".py", ".js", ".page",
      ".sh", ".cmake", ".md", ".toml", ".json", ".txt",   "",    ".7",  ".8"};
  return std::find(kEndings.begin(), kEndings.end(), Ending(name)) != kEndings.end();
}

std::string ReadText(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
}

}  // namespace

Source MakeSource(std::string path, std::string text) {
  Source source;
  source.path = std::move(path);
  if (IsCode(source) || Ending(source.path) == ".proto") {
    Blanker blanker(text);
    blanker.Run();
    source.code = IsCode(source) ? std::move(blanker).TakeCode() : text;
    source.comments = std::move(blanker).TakeComments();
  } else {
    source.code = text;
    source.comments.resize(text.size(), ' ');
  }
  source.text = std::move(text);
  return source;
}

std::vector<Source> LoadTree(const std::string& root) {
  std::vector<Source> sources;
  for (auto entry = fs::recursive_directory_iterator(root);
       entry != fs::recursive_directory_iterator(); ++entry) {
    const std::string from_root = entry->path().lexically_relative(root).generic_string();
    if (entry->is_directory()) {
      if (IsSkippedFolder(entry->path(), from_root)) {
        entry.disable_recursion_pending();
      }
    } else if (entry->is_regular_file() && IsWrittenByPeople(from_root) &&
               entry->file_size() <= kTextBytesMax) {
      sources.push_back(MakeSource(from_root, ReadText(entry->path())));
    }
  }
  std::sort(sources.begin(), sources.end(),
            [](const Source& a, const Source& b) { return a.path < b.path; });
  return sources;
}

std::string ToString(const Finding& finding) {
  std::string text = finding.path;
  if (finding.line > 0) {
    text += ":" + std::to_string(finding.line);
  }
  return text + ": " + finding.message;
}

size_t LineAt(std::string_view text, size_t offset) {
  return 1 + CountLines(text.substr(0, offset));
}

size_t CountLines(std::string_view text) {
  return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
}

bool IsWordCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

std::vector<size_t> FindWord(std::string_view code, std::string_view word) {
  std::vector<size_t> found;
  for (size_t at = code.find(word); at != std::string_view::npos; at = code.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || !IsWordCharacter(code[at - 1])) &&
        (end == code.size() || !IsWordCharacter(code[end]))) {
      found.push_back(at);
    }
  }
  return found;
}

std::string_view FileName(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::string_view Ending(std::string_view path) {
  const std::string_view name = FileName(path);
  const size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : name.substr(dot);
}

bool IsHeader(const Source& source) {
  const std::string_view ending = Ending(source.path);
  return ending == ".h" || ending == ".cuh";
}

bool IsCode(const Source& source) {
  const std::string_view ending = Ending(source.path);
  return IsHeader(source) || ending == ".cc" || ending == ".c" || ending == ".cu";
}

std::vector<Include> IncludesOf(const Source& source) {
  constexpr std::string_view kDirective = "#include";
  std::vector<Include> includes;
  for (const size_t at : FindWord(source.code, kDirective)) {
    const size_t open = source.text.find_first_of("<\"\n", at);
    if (open == std::string::npos || source.text[open] == '\n') {
      continue;
    }
    const char closing = source.text[open] == '<' ? '>' : '"';
    const size_t close = source.text.find(closing, open + 1);
    if (close != std::string::npos) {
      includes.push_back({source.text.substr(open + 1, close - open - 1), LineAt(source.text, at)});
    }
  }
  return includes;
}

}  // namespace muster::tidy
