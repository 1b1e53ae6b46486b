#pragma once

// The page of sacct and its like: aligned columns, or values between delimiters.
//
// Pure. Invariants: what an aligned column cuts ends with "+"; no value brings a delimiter of its
// own.

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace muster::cli::slurm {

struct PageColumn {
  std::string title;
  int width = 0;  // negative: to the left
};

struct PageStyle {
  bool header = true;
  bool parsable = false;
  bool ends_with_delimiter = false;
  std::string delimiter = "|";
};

// Titles and the line under them.
std::string PageHead(std::span<const PageColumn> columns, const PageStyle& style);
// REQUIRES: a value for each column, harmless to print before the delimiter.
std::string PageLine(std::span<const PageColumn> columns, const std::vector<std::string>& values,
                     const PageStyle& style);

}  // namespace muster::cli::slurm
