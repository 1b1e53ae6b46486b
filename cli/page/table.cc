#include "cli/page/table.h"

#include <algorithm>
#include <utility>

#include "cli/page/text.h"
#include "scheduler/base/plain_text.h"
#include "scheduler/base/status.h"

namespace muster::cli {
namespace {

constexpr std::size_t kGap = 2;  // blanks between columns

// Cuts the blanks off the end of the line that begins at `from`.
void TrimLine(std::size_t from, std::string& page) {
  std::size_t end = page.size();
  while (end > from && page[end - 1] == ' ') {
    --end;
  }
  page.resize(end);
}

}  // namespace

Table::Table(std::vector<Column> columns)
    : columns_(std::move(columns)), widest_(columns_.size(), 0) {
  for (const Column& column : columns_) {
    AddCell(column.title, Paint::kBold);
  }
}

void Table::AddCell(std::string_view printable, Paint paint) {
  text_.append(printable);
  cells_.push_back({.end = text_.size(), .width = DisplayWidth(printable), .paint = paint});
}

void Table::Add(const std::vector<Cell>& cells) {
  MUSTER_CHECK(cells.size() == columns_.size());
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string& text = cells[i].text;
    if (IsPrintableAscii(text)) {
      text_.append(text);
      cells_.push_back({.end = text_.size(), .width = text.size(), .paint = cells[i].paint});
    } else {
      AddCell(Printable(text), cells[i].paint);
    }
    widest_[i] = std::max(widest_[i], cells_.back().width);
  }
}

std::vector<std::size_t> Table::Widths(const Style& style, bool header, std::size_t indent) const {
  std::vector<std::size_t> widths = widest_;
  std::size_t total = indent + kGap * (columns_.size() - 1);
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    widths[i] = std::max(widths[i], header ? cells_[i].width : 0);
    total += widths[i];
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

void Table::AppendLine(std::size_t row, const std::vector<std::size_t>& widths, const Style& style,
                       std::string& page) const {
  const std::size_t begin = page.size();
  const std::size_t first = row * columns_.size();
  std::size_t from = first == 0 ? 0 : cells_[first - 1].end;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const Place& cell = cells_[first + i];
    std::string_view text = std::string_view(text_).substr(from, cell.end - from);
    from = cell.end;
    std::size_t shown = cell.width;
    std::string cut;
    if (shown > widths[i]) {
      cut = CutText(std::string(text), widths[i], style);
      text = cut;
      shown = DisplayWidth(cut);
    }
    const std::size_t blanks = widths[i] - std::min(widths[i], shown);
    page.append(columns_[i].right ? blanks : 0, ' ');
    if (cell.paint == Paint::kPlain || !style.colour) {
      page.append(text);
    } else {
      page.append(Painted(std::string(text), cell.paint, style));
    }
    page.append((columns_[i].right ? 0 : blanks) + kGap, ' ');
  }
  TrimLine(begin, page);
  page.push_back('\n');
}

std::string Table::TakeLines(const Style& style, bool header) {
  std::string lines;
  const std::vector<std::size_t> widths = Widths(style, header, 0);
  for (std::size_t row = header && !std::exchange(titled_, true) ? 0 : 1;
       row * columns_.size() < cells_.size(); ++row) {
    AppendLine(row, widths, style, lines);
  }
  cells_.resize(columns_.size());
  text_.resize(cells_.back().end);
  return lines;
}

std::string Table::Print(const Style& style, bool header, std::size_t indent) const {
  const std::vector<std::size_t> widths = Widths(style, header, indent);
  const std::size_t rows = columns_.empty() ? 0 : cells_.size() / columns_.size();
  std::string page;
  std::size_t blanks = indent;  // at most, in a line: none after the last column
  for (std::size_t i = 0; i + 1 < widths.size(); ++i) {
    blanks += widths[i] + kGap;
  }
  page.reserve(text_.size() + rows * (blanks + kGap + 1));
  for (std::size_t row = header ? 0 : 1; row < rows; ++row) {
    page.append(indent, ' ');
    AppendLine(row, widths, style, page);
  }
  return page;
}

}  // namespace muster::cli
