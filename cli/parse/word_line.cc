#include "cli/parse/word_line.h"

#include <utility>

namespace muster::cli {
namespace {

bool IsBlank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

// What a backslash between double quotes takes its meaning from.
bool IsSpecialInQuotes(char c) {
  return c == '"' || c == '\\' || c == '$' || c == '`';
}

// Reads what a quote at the front of `rest` begins; false when nothing ends it.
bool TakeQuoted(std::string_view* rest, std::string* word) {
  const char quote = rest->front();
  for (rest->remove_prefix(1); !rest->empty(); rest->remove_prefix(1)) {
    if (rest->front() == quote) {
      rest->remove_prefix(1);
      return true;
    }
    if (quote == '"' && rest->front() == '\\' && rest->size() > 1 &&
        IsSpecialInQuotes((*rest)[1])) {
      rest->remove_prefix(1);
    }
    word->push_back(rest->front());
  }
  return false;
}

}  // namespace

absl::StatusOr<std::vector<std::string>> ParseWordLine(std::string_view line) {
  std::vector<std::string> words;
  for (std::string_view rest = line; !rest.empty();) {
    if (IsBlank(rest.front())) {
      rest.remove_prefix(1);
      continue;
    }
    if (rest.front() == '#') {
      break;
    }
    std::string word;
    while (!rest.empty() && !IsBlank(rest.front())) {
      if (rest.front() == '\'' || rest.front() == '"') {
        if (!TakeQuoted(&rest, &word)) {
          return absl::InvalidArgumentError("a quote is never closed: end it on the same line");
        }
        continue;
      }
      if (rest.front() == '\\' && rest.size() > 1) {
        rest.remove_prefix(1);
      }
      word.push_back(rest.front());
      rest.remove_prefix(1);
    }
    words.push_back(std::move(word));
  }
  return words;
}

}  // namespace muster::cli
