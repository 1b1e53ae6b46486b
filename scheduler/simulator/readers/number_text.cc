#include "scheduler/simulator/readers/number_text.h"

#include <charconv>

#include "absl/strings/str_cat.h"

namespace muster::sim {

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && IsBlank(text.front())) {
    text.remove_prefix(1);
  }
  while (!text.empty() && IsBlank(text.back())) {
    text.remove_suffix(1);
  }
  return text;
}

std::string_view NextWord(std::string_view* text) {
  std::size_t begin = 0;
  while (begin < text->size() && IsBlank((*text)[begin])) {
    ++begin;
  }
  std::size_t end = begin;
  while (end < text->size() && !IsBlank((*text)[end])) {
    ++end;
  }
  const std::string_view word = text->substr(begin, end - begin);
  text->remove_prefix(end);
  return word;
}

bool ReadWholeWord(std::string_view* text, std::int64_t* number) {
  const char* at = text->data();
  const char* const end = at + text->size();
  while (at != end && IsBlank(*at)) {
    ++at;
  }
  const bool is_negative = at != end && *at == '-';
  at += is_negative ? 1 : 0;
  const char* const digits = at;
  std::int64_t value = 0;
  while (at != end && *at >= '0' && *at <= '9' && at - digits < 18) {
    value = value * 10 + (*at++ - '0');
  }
  if (at == digits || (at != end && !IsBlank(*at))) {
    return false;
  }
  *number = is_negative ? -value : value;
  text->remove_prefix(static_cast<std::size_t>(at - text->data()));
  return true;
}

bool ReadWhole(std::string_view word, std::int64_t* number) {
  const bool is_negative = !word.empty() && word[0] == '-';
  const std::string_view digits = word.substr(is_negative ? 1 : 0);
  if (digits.empty() || digits.size() > 18) {
    return false;
  }
  std::int64_t value = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9') {
      return false;
    }
    value = value * 10 + (c - '0');
  }
  *number = is_negative ? -value : value;
  return true;
}

bool ReadDecimal(std::string_view word, double* number) {
  std::int64_t whole = 0;
  if (ReadWhole(word, &whole)) {
    *number = static_cast<double>(whole);
    return true;
  }
  if (word.find_first_not_of("+-.0123456789eE") != std::string_view::npos) {
    return false;
  }
  const std::from_chars_result read =
      std::from_chars(word.data(), word.data() + word.size(), *number);
  return read.ec == std::errc() && read.ptr == word.data() + word.size();
}

std::string Shown(std::string_view word) {
  std::string text(word.substr(0, 24));
  for (char& c : text) {
    c = c < ' ' || c > '~' ? '?' : c;
  }
  return absl::StrCat("\"", text, word.size() > 24 ? "…\"" : "\"");
}

}  // namespace muster::sim
