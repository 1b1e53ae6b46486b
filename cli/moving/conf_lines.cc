#include "cli/moving/conf_lines.h"

#include <cctype>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"

namespace muster::cli {
namespace {

constexpr int kDepthMax = 8;

bool IsBlank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

// Without its comment: a # that stands in no quotes and behind no backslash.
std::string WithoutComment(const std::string& line) {
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    quoted = quoted != (line[i] == '"');
    if (line[i] == '#' && !quoted && (i == 0 || line[i - 1] != '\\')) {
      return line.substr(0, i);
    }
  }
  return line;
}

// The words of a line, blanks within quotes kept and the quotes dropped.
std::vector<std::string> WordsIn(const std::string& line) {
  std::vector<std::string> words;
  std::string word;
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') {
      quoted = !quoted;
    } else if (IsBlank(c) && !quoted) {
      if (!word.empty()) {
        words.push_back(std::move(word));
        word.clear();
      }
    } else {
      word += c;
    }
  }
  if (!word.empty()) {
    words.push_back(std::move(word));
  }
  return words;
}

std::string FolderOf(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

class Reader {
 public:
  explicit Reader(const ConfReader& read) : read_(read) {}

  absl::Status Read(const std::string& path, int depth) {
    if (depth > kDepthMax) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": is included ", depth, " deep: does a file include itself?"));
    }
    ASSIGN_OR_RETURN(const std::string text, read_(path));
    std::string joined;
    int number = 0;
    int begun = 0;
    for (const std::string& raw : std::vector<std::string>(absl::StrSplit(text, '\n'))) {
      ++number;
      std::string line = WithoutComment(raw);
      line = std::string(absl::StripTrailingAsciiWhitespace(line));
      begun = joined.empty() ? number : begun;
      if (!line.empty() && line.back() == '\\') {
        line.back() = ' ';
        joined += line;
        continue;
      }
      joined += line;
      RETURN_IF_ERROR(Take(absl::StrCat(path, ":", begun), WordsIn(joined), path, depth));
      joined.clear();
    }
    return absl::OkStatus();
  }

  std::vector<ConfLine> lines;

 private:
  absl::Status Take(const std::string& place, const std::vector<std::string>& words,
                    const std::string& path, int depth) {
    if (words.empty()) {
      return absl::OkStatus();
    }
    if (absl::EqualsIgnoreCase(words[0], "include") && words.size() == 2) {
      return Read(words[1].front() == '/' ? words[1] : FolderOf(path) + words[1], depth + 1);
    }
    ConfLine line{place, {}};
    for (const std::string& word : words) {
      const std::size_t equals = word.find('=');
      if (equals == std::string::npos || equals == 0) {
        return absl::InvalidArgumentError(
            absl::StrCat(place, ": ", Quote(word), " is not KEY=VALUE"));
      }
      line.words.push_back({word.substr(0, equals), word.substr(equals + 1)});
    }
    lines.push_back(std::move(line));
    return absl::OkStatus();
  }

  const ConfReader& read_;
};

}  // namespace

absl::StatusOr<std::vector<ConfLine>> ReadConfLines(const std::string& path,
                                                    const ConfReader& read) {
  Reader reader(read);
  RETURN_IF_ERROR(reader.Read(path, 0));
  return std::move(reader.lines);
}

}  // namespace muster::cli
