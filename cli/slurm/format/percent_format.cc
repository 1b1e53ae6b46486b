#include "cli/slurm/format/percent_format.h"

#include <algorithm>
#include <utility>

namespace muster::cli::slurm {
namespace {

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

}  // namespace

PercentFormat ParsePercentFormat(std::string_view text) {
  PercentFormat format;
  std::size_t at = std::min(text.find('%'), text.size());
  format.prefix = text.substr(0, at);
  while (at < text.size()) {
    while (at < text.size() && text[at] == '%') {
      ++at;
    }
    PercentField field;
    if (at < text.size() && text[at] == '#') {
      field.flagged = true;
      ++at;
    }
    if (at < text.size() && text[at] == '.') {
      field.slot.right = true;
      ++at;
    }
    for (; at < text.size() && IsDigit(text[at]); ++at) {
      field.slot.width = std::min(field.slot.width * 10 + static_cast<std::size_t>(text[at] - '0'),
                                  kColumnWidthMax);
    }
    if (at == text.size()) {
      break;
    }
    field.letter = text[at++];
    const std::size_t end = std::min(text.find('%', at), text.size());
    field.slot.suffix = text.substr(at, end - at);
    at = end;
    format.fields.push_back(std::move(field));
  }
  return format;
}

}  // namespace muster::cli::slurm
