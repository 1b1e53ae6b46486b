#include "cli/parse/request/directives.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"

namespace muster::cli {
namespace {

bool IsBlank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

// Splits one directive's text into words.
class WordReader {
 public:
  explicit WordReader(std::string_view text) : rest_(text) {}

  // The next word; nothing at the end of the text or at a comment.
  absl::StatusOr<std::optional<std::string>> Next() {
    while (!rest_.empty() && IsBlank(rest_.front())) {
      rest_.remove_prefix(1);
    }
    if (rest_.empty() || rest_.front() == '#') {
      return std::optional<std::string>();
    }
    std::string word;
    while (!rest_.empty() && !IsBlank(rest_.front())) {
      RETURN_IF_ERROR(TakePiece(&word));
    }
    return std::optional<std::string>(std::move(word));
  }

 private:
  char TakeCharacter() {
    const char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }

  // One character, one escaped character, or one quoted stretch.
  absl::Status TakePiece(std::string* word) {
    const char c = TakeCharacter();
    if (c == '\\' && !rest_.empty()) {
      word->push_back(TakeCharacter());
    } else if (c == '"' || c == '\'') {
      return TakeQuoted(c, word);
    } else {
      word->push_back(c);
    }
    return absl::OkStatus();
  }

  absl::Status TakeQuoted(char quote, std::string* word) {
    while (!rest_.empty()) {
      const char c = TakeCharacter();
      if (c == quote) {
        return absl::OkStatus();
      }
      const bool escape = quote == '"' && c == '\\' && !rest_.empty() &&
                          (rest_.front() == '"' || rest_.front() == '\\');
      word->push_back(escape ? TakeCharacter() : c);
    }
    return absl::InvalidArgumentError(
        absl::StrCat("a ", std::string(1, quote), " is never closed: close it on the same line"));
  }

  std::string_view rest_;
};

constexpr std::string_view kOfSlurm = "#SBATCH";

// What follows "#MUSTER" or "#SBATCH" on `line`, if it is a directive.
std::optional<std::string_view> DirectiveText(std::string_view line) {
  for (const std::string_view marker : {std::string_view("#MUSTER"), kOfSlurm}) {
    if (line.substr(0, marker.size()) == marker) {
      const std::string_view rest = line.substr(marker.size());
      if (rest.empty() || IsBlank(rest.front())) {
        return rest;
      }
    }
  }
  return std::nullopt;
}

// True for blank lines and comments: directives may still follow.
bool IsPreamble(std::string_view line) {
  while (!line.empty() && IsBlank(line.front())) {
    line.remove_prefix(1);
  }
  return line.empty() || line.front() == '#';
}

absl::StatusOr<std::vector<std::string>> Words(std::string_view text) {
  std::vector<std::string> words;
  WordReader reader(text);
  for (;;) {
    ASSIGN_OR_RETURN(std::optional<std::string> word, reader.Next());
    if (!word.has_value()) {
      return words;
    }
    words.push_back(*std::move(word));
  }
}

}  // namespace

absl::StatusOr<std::vector<DirectiveLine>> ParseDirectives(std::string_view script) {
  std::vector<DirectiveLine> lines;
  int number = 0;
  while (!script.empty()) {
    const std::size_t end = script.find('\n');
    const std::string_view line = script.substr(0, end);
    script.remove_prefix(end == std::string_view::npos ? script.size() : end + 1);
    ++number;
    if (!IsPreamble(line)) {
      break;
    }
    const std::optional<std::string_view> text = DirectiveText(line);
    if (!text.has_value()) {
      continue;
    }
    absl::StatusOr<std::vector<std::string>> words = Words(*text);
    if (!words.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat(number, ": ", std::string(words.status().message())));
    }
    if (!words->empty()) {
      lines.push_back({.line = number,
                       .words = *std::move(words),
                       .of_slurm = line.substr(0, kOfSlurm.size()) == kOfSlurm});
    }
  }
  return lines;
}

std::vector<std::vector<DirectiveLine>> SplitComponents(const std::vector<DirectiveLine>& lines) {
  std::vector<std::vector<DirectiveLine>> components(1);
  for (const DirectiveLine& line : lines) {
    if (line.words == std::vector<std::string>{"hetjob"} ||
        line.words == std::vector<std::string>{"packjob"}) {
      components.emplace_back();
    } else {
      components.back().push_back(line);
    }
  }
  return components;
}

}  // namespace muster::cli
