#include "cli/parse/export_list.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "scheduler/base/text/words.h"
#include "scheduler/base/utf8.h"

namespace muster::cli {
namespace {

bool IsIdentifier(std::string_view text) {
  return !text.empty() && !absl::ascii_isdigit(static_cast<unsigned char>(text.front())) &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_';
         });
}

// Where the value of NAME='…' or NAME="…" begins, whose commas are its own; npos for other items.
std::size_t QuoteIn(std::string_view text) {
  const std::size_t equals = text.substr(0, text.find(',')).find('=');
  const std::size_t quote = equals == std::string_view::npos ? equals : equals + 1;
  const bool quoted = quote < text.size() && (text[quote] == '\'' || text[quote] == '"') &&
                      text.find(text[quote], quote + 1) != std::string_view::npos;
  return quoted ? quote : std::string_view::npos;
}

// Of the first item.
std::size_t EndOfItem(std::string_view text) {
  const std::size_t quote = QuoteIn(text);
  return text.find(',', quote == std::string_view::npos ? 0 : text.find(text[quote], quote + 1));
}

// An item whose whole value is quoted, without the quotes.
std::string WithoutQuotes(std::string_view item) {
  const std::size_t quote = QuoteIn(item);
  std::string plain(item);
  if (quote != std::string_view::npos && item.find(item[quote], quote + 1) == item.size() - 1) {
    plain.pop_back();
    plain.erase(quote, 1);
  }
  return plain;
}

}  // namespace

absl::StatusOr<ExportList> ParseExport(std::string_view text) {
  if (text == "NONE" || text == "NIL") {
    return ExportList{.all = false, .names = {}, .assignments = {}, .nil = text == "NIL"};
  }
  ExportList list{.all = false, .names = {}, .assignments = {}};
  std::string_view rest = text;
  for (;;) {
    const std::size_t comma = EndOfItem(rest);
    const std::string item = WithoutQuotes(rest.substr(0, comma));
    const std::size_t equals = item.find('=');
    if (!IsIdentifier(std::string_view(item).substr(0, equals)) || !IsUtf8(item)) {
      return absl::InvalidArgumentError(absl::StrCat(
          Quote(text), " is not a list of variables: use ALL, NONE or NAME[=VALUE],…"));
    }
    if (item == "ALL") {
      list.all = true;
    } else if (equals == std::string_view::npos) {
      list.names.push_back(item);
    } else {
      list.assignments.push_back(item);
    }
    if (comma == std::string_view::npos) {
      return list;
    }
    rest.remove_prefix(comma + 1);
  }
}

}  // namespace muster::cli
