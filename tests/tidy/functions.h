#pragma once

// How long functions and files are: a function fits on a screen, a file in one head.
//
// Functions are found by matching braces in code whose comments and literals are blanked; a lambda
// counts as part of the function it stands in. Good enough for our formatting, which clang-format
// fixes. Thread promise: pure functions of their arguments.

#include <cstddef>
#include <string>
#include <vector>

#include "tests/tidy/source.h"

namespace muster::tidy {

inline constexpr size_t kFunctionLinesMax = 70;
inline constexpr size_t kFileLinesMax = 600;
inline constexpr size_t kMainLinesMax = 120;

struct Function {
  std::string name;
  size_t first_line = 0;  // Of the signature.
  size_t last_line = 0;   // Of the closing brace.
};

// The functions defined in `source`, in order.
std::vector<Function> FunctionsOf(const Source& source);

std::vector<Finding> CheckFunctionLengths(const Source& source);
std::vector<Finding> CheckFileLength(const Source& source);

}  // namespace muster::tidy
