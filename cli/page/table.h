#pragma once

// A table: aligned columns that shrink to a terminal's width.
//
// The text of all cells stands in one piece, and each cell's width is reckoned once, when it is
// added: a list may have 100,000 lines. Thread promise: a value; one thread at a time. Invariants:
// (1) without a width nothing is cut; (2) a column that may not shrink is never cut; (3) no line
// ends in blanks.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "cli/page/style.h"

namespace muster::cli {

struct Column {
  std::string title;
  bool right = false;     // numbers
  std::size_t least = 0;  // may shrink to this on a narrow terminal; 0: never
};

struct Cell {
  std::string text;
  Paint paint = Paint::kPlain;
};

class Table {
 public:
  explicit Table(std::vector<Column> columns);

  // One cell for each column. Text is made printable here.
  void Add(const std::vector<Cell>& cells);

  // The lines, each after `indent` blanks; the titles first unless `header` is false.
  std::string Print(const Style& style, bool header = true, std::size_t indent = 0) const;

  // The lines that were added since the last call, and forgets them: a long list in pieces, whose
  // columns become no narrower from one to the next.
  std::string TakeLines(const Style& style, bool header = true);

 private:
  // A cell's text is text_ from the end of the one before it on.
  struct Place {
    std::size_t end = 0;
    std::size_t width = 0;
    Paint paint = Paint::kPlain;
  };

  void AddCell(std::string_view printable, Paint paint);
  std::vector<std::size_t> Widths(const Style& style, bool header, std::size_t indent) const;
  void AppendLine(std::size_t row, const std::vector<std::size_t>& widths, const Style& style,
                  std::string& page) const;

  std::vector<Column> columns_;
  std::string text_;
  std::vector<Place> cells_;         // row by row; the first one's are the titles
  std::vector<std::size_t> widest_;  // of each column, without its title
  bool titled_ = false;              // TakeLines has given the titles
};

}  // namespace muster::cli
