#include "cli/slurm/format/field_list.h"

#include <algorithm>
#include <utility>

namespace muster::cli::slurm {
namespace {

// The number at the head of `text`, which it is taken from.
std::size_t TakeNumber(std::string_view& text) {
  std::size_t number = 0;
  while (!text.empty() && text[0] >= '0' && text[0] <= '9') {
    number = std::min(number * 10 + static_cast<std::size_t>(text[0] - '0'), kColumnWidthMax);
    text.remove_prefix(1);
  }
  return number;
}

// What stands before the next comma, which is taken away with it.
std::string_view TakeItem(std::string_view& text) {
  const std::size_t end = std::min(text.find(','), text.size());
  const std::string_view item = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return item;
}

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && text[0] == ' ') {
    text.remove_prefix(1);
  }
  while (!text.empty() && text.back() == ' ') {
    text.remove_suffix(1);
  }
  return text;
}

}  // namespace

std::vector<NamedField> ParseWideFormat(std::string_view text) {
  std::vector<NamedField> fields;
  while (!text.empty()) {
    const std::string_view item = TakeItem(text);
    const std::size_t colon = std::min(item.find(':'), item.size());
    NamedField field{std::string(Trimmed(item.substr(0, colon))), {.width = kWideColumn}};
    if (colon < item.size()) {
      std::string_view rest = item.substr(colon + 1);
      if (!rest.empty() && rest[0] == '.') {
        field.slot.right = true;
        rest.remove_prefix(1);
      }
      field.slot.width = TakeNumber(rest);
      field.slot.suffix = rest;
    }
    if (!field.name.empty()) {
      fields.push_back(std::move(field));
    }
  }
  return fields;
}

std::vector<SizedField> ParseSizedFormat(std::string_view text) {
  std::vector<SizedField> fields;
  while (!text.empty()) {
    const std::string_view item = TakeItem(text);
    const std::size_t percent = std::min(item.find('%'), item.size());
    SizedField field{.name = std::string(Trimmed(item.substr(0, percent)))};
    if (percent < item.size()) {
      std::string_view rest = item.substr(percent + 1);
      const bool left = !rest.empty() && rest[0] == '-';
      rest.remove_prefix(left ? 1 : 0);
      const int width = static_cast<int>(TakeNumber(rest));
      if (width > 0) {
        field.width = left ? -width : width;
      }
    }
    if (!field.name.empty()) {
      fields.push_back(std::move(field));
    }
  }
  return fields;
}

}  // namespace muster::cli::slurm
