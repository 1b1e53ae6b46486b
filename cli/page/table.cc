#include "cli/page/table.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "cli/page/text.h"
#include "scheduler/base/status.h"

namespace muster::cli {
namespace {

constexpr std::size_t kGap = 2;  // blanks between columns

std::string Padded(const std::string& text, std::size_t shown, std::size_t width, bool right) {
  const std::string blanks(width - std::min(width, shown), ' ');
  return right ? blanks + text : text + blanks;
}

}  // namespace

void Table::Add(std::vector<Cell> cells) {
  MUSTER_CHECK(cells.size() == columns_.size());
  for (Cell& cell : cells) {
    cell.text = Printable(cell.text);
  }
  rows_.push_back(std::move(cells));
}

std::vector<std::size_t> Table::Widths(const Style& style, bool header, std::size_t indent) const {
  std::vector<std::size_t> widths;
  std::size_t total = indent + kGap * (columns_.size() - 1);
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::size_t width = header ? DisplayWidth(columns_[i].title) : 0;
    for (const std::vector<Cell>& row : rows_) {
      width = std::max(width, DisplayWidth(row[i].text));
    }
    widths.push_back(width);
    total += width;
  }
  // The last columns give way first: they hold sentences.
  for (std::size_t i = columns_.size(); style.width != 0 && total > style.width && i-- > 0;) {
    const std::size_t least = columns_[i].least;
    if (least != 0 && widths[i] > least) {
      const std::size_t cut = std::min(total - style.width, widths[i] - least);
      widths[i] -= cut;
      total -= cut;
    }
  }
  return widths;
}

std::string Table::Print(const Style& style, bool header, std::size_t indent) const {
  const std::vector<std::size_t> widths = Widths(style, header, indent);
  std::vector<std::vector<Cell>> lines;
  if (header) {
    lines.emplace_back();
    for (const Column& column : columns_) {
      lines.back().push_back({.text = column.title, .paint = Paint::kBold});
    }
  }
  lines.insert(lines.end(), rows_.begin(), rows_.end());
  std::string page;
  for (const std::vector<Cell>& cells : lines) {
    std::string line(indent, ' ');
    std::size_t content = line.size();  // up to the last character that is not a blank
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::string text = CutText(cells[i].text, widths[i], style);
      line += Padded(Painted(text, cells[i].paint, style), DisplayWidth(text), widths[i],
                     columns_[i].right);
      content = text.empty() ? content : line.find_last_not_of(' ') + 1;
      line += std::string(kGap, ' ');
    }
    absl::StrAppend(&page, line.substr(0, content), "\n");
  }
  return page;
}

}  // namespace muster::cli
