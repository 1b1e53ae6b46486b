#include "cli/slurm/format/page_table.h"

#include <cstdlib>

#include "cli/page/text.h"
#include "cli/slurm/format/cell.h"

namespace muster::cli::slurm {
namespace {

std::string Aligned(const std::string& value, int width, std::string_view mark) {
  const Slot slot{.width = static_cast<std::size_t>(std::abs(width)), .right = width > 0};
  if (DisplayWidth(value) <= slot.width || mark.empty()) {
    return InSlot(value, slot) + " ";
  }
  return InSlot(std::string(FirstColumns(value, slot.width - 1)) + std::string(mark), slot) + " ";
}

std::string Delimited(const std::vector<std::string>& values, const PageStyle& style) {
  std::string line;
  for (std::size_t i = 0; i < values.size(); ++i) {
    line += values[i];
    line += i + 1 < values.size() || style.ends_with_delimiter ? style.delimiter : "";
  }
  return line + "\n";
}

}  // namespace

std::string PageHead(std::span<const PageColumn> columns, const PageStyle& style) {
  if (!style.header) {
    return "";
  }
  if (style.parsable) {
    std::vector<std::string> titles;
    for (const PageColumn& column : columns) {
      titles.push_back(column.title);
    }
    return Delimited(titles, style);
  }
  std::string titles;
  std::string rule;
  for (const PageColumn& column : columns) {
    titles += Aligned(column.title, column.width, "");
    rule += std::string(static_cast<std::size_t>(std::abs(column.width)), '-') + " ";
  }
  return titles + "\n" + rule + "\n";
}

std::string PageLine(std::span<const PageColumn> columns, const std::vector<std::string>& values,
                     const PageStyle& style) {
  if (style.parsable) {
    return Delimited(values, style);
  }
  std::string line;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    line += Aligned(values[i], columns[i].width, "+");
  }
  return line + "\n";
}

}  // namespace muster::cli::slurm
