#pragma once

// Text as a terminal shows it: how many columns it takes, what is safe to print, where to cut.
//
// Jobs carry names and sentences that other people wrote, so every renderer passes them through
// Printable (scheduler/base/utf8.h) first. Pure. Invariant: CutText never splits a character.

#include <cstddef>
#include <string>
#include <string_view>

#include "cli/page/style.h"
#include "scheduler/base/utf8.h"

namespace muster::cli {

// `text`, or a dash where there is none: a cell is never empty.
std::string OrDash(const std::string& text);

// Columns that printable `text` takes: none for combining marks, two for East Asian wide ones.
std::size_t DisplayWidth(std::string_view text);

// At most the first `width` columns of printable `text`.
std::string_view FirstColumns(std::string_view text, std::size_t width);

// At most `width` columns of printable `text`, its loss marked by an ellipsis at the end.
std::string CutText(const std::string& text, std::size_t width, const Style& style);

}  // namespace muster::cli
