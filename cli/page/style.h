#pragma once

// How a page of text is drawn: how wide, in colour or not, with box characters or ASCII.
//
// Renderers are pure functions from views, a moment and a Style to text; cli/frame/output asks the
// terminal. Invariants: a default Style is that of a file or a pipe: nothing is cut and nothing is
// coloured.

#include <cstddef>
#include <string>

#include "absl/time/time.h"

namespace muster::cli {

struct Style {
  std::size_t width = 0;  // columns of the terminal; 0: no limit
  bool colour = false;
  bool utf8 = true;                           // false: ASCII only in what we draw ourselves
  absl::TimeZone zone = absl::UTCTimeZone();  // of the times that are shown
};

enum class Paint { kPlain, kBold, kFaint, kGreen, kYellow, kRed };

// `text` between the escapes of `paint`, or `text` itself where there is no colour.
std::string Painted(const std::string& text, Paint paint, const Style& style);

}  // namespace muster::cli
