#pragma once

// A table: aligned columns that shrink to a terminal's width.
//
// Thread promise: a value; one thread at a time. Invariants: (1) without a width nothing is cut;
// (2) a column that may not shrink is never cut; (3) no line ends in blanks.

#include <cstddef>
#include <string>
#include <utility>
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
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // One cell for each column. Text is made printable here.
  void Add(std::vector<Cell> cells);

  // The lines, each after `indent` blanks; the titles first unless `header` is false.
  std::string Print(const Style& style, bool header = true, std::size_t indent = 0) const;

 private:
  std::vector<std::size_t> Widths(const Style& style, bool header, std::size_t indent) const;

  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace muster::cli
