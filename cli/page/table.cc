#include "cli/page/table.h"

#include <algorithm>

#include "cli/page/text.h"
#include "scheduler/base/plain_text.h"
#include "scheduler/base/status.h"

namespace muster::cli {
namespace {

constexpr std::size_t kGap = 2;  // blanks between columns

void AppendLine(const std::vector<Column>& columns, const std::vector<Cell>& cells,
                const std::vector<std::size_t>& widths, const Style& style, std::size_t indent,
                std::string& page) {
  page.append(indent, ' ');
  std::size_t content = page.size();  // up to the last character that is not a blank
  std::string cut;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string* text = &cells[i].text;
    std::size_t shown = DisplayWidth(*text);
    if (shown > widths[i]) {
      cut = CutText(*text, widths[i], style);
      text = &cut;
      shown = DisplayWidth(cut);
    }
    const std::size_t blanks = widths[i] - std::min(widths[i], shown);
    page.append(columns[i].right ? blanks : 0, ' ');
    if (cells[i].paint == Paint::kPlain) {
      page.append(*text);
    } else {
      page.append(Painted(*text, cells[i].paint, style));
    }
    if (!text->empty()) {
      content = std::max(content, page.find_last_not_of(' ') + 1);
    }
    page.append((columns[i].right ? 0 : blanks) + kGap, ' ');
  }
  page.resize(content);
  page.push_back('\n');
}

}  // namespace

void Table::Add(std::vector<Cell> cells) {
  MUSTER_CHECK(cells.size() == columns_.size());
  for (Cell& cell : cells) {
    if (!IsPrintableAscii(cell.text)) {
      cell.text = Printable(cell.text);
    }
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
  // The last columns shrink first: they hold sentences.
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
  std::string page;
  if (header) {
    std::vector<Cell> titles;
    for (const Column& column : columns_) {
      titles.push_back({.text = column.title, .paint = Paint::kBold});
    }
    AppendLine(columns_, titles, widths, style, indent, page);
  }
  for (const std::vector<Cell>& cells : rows_) {
    AppendLine(columns_, cells, widths, style, indent, page);
  }
  return page;
}

}  // namespace muster::cli
