#include "cli/parse/export_list.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "cli/parse/number.h"
#include "scheduler/base/utf8.h"

namespace muster {
namespace {

bool IsIdentifier(std::string_view text) {
  return !text.empty() && !absl::ascii_isdigit(static_cast<unsigned char>(text.front())) &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_';
         });
}

}  // namespace

absl::StatusOr<ExportList> ParseExport(std::string_view text) {
  if (text == "NONE" || text == "NIL") {
    return ExportList{.all = false, .names = {}, .assignments = {}};
  }
  ExportList list{.all = false, .names = {}, .assignments = {}};
  std::string_view rest = text;
  for (;;) {
    const std::size_t comma = rest.find(',');
    const std::string_view item = rest.substr(0, comma);
    const std::size_t equals = item.find('=');
    if (!IsIdentifier(item.substr(0, equals)) || !IsUtf8(item)) {
      return absl::InvalidArgumentError(absl::StrCat(
          Quote(text), " is not a list of variables: use ALL, NONE or NAME[=VALUE],…"));
    }
    if (item == "ALL") {
      list.all = true;
    } else if (equals == std::string_view::npos) {
      list.names.emplace_back(item);
    } else {
      list.assignments.emplace_back(item);
    }
    if (comma == std::string_view::npos) {
      return list;
    }
    rest.remove_prefix(comma + 1);
  }
}

}  // namespace muster
