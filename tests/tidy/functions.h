#pragma once

// How large functions, classes and files are: a function fits on a screen, a class and a file in
// one head.
//
// Functions are found by matching braces in code whose comments and literals are blanked; a lambda
// counts as part of the function it stands in. Good enough for our formatting, which clang-format
// fixes.

#include <cstddef>
#include <string>
#include <vector>

#include "tests/tidy/source.h"

namespace muster::tidy {

inline constexpr size_t kFunctionLinesMax = 70;
inline constexpr size_t kFileLinesMax = 600;
inline constexpr size_t kMainLinesMax = 120;
inline constexpr size_t kClassFunctionsMax = 25;
inline constexpr size_t kClassMembersMax = 20;

struct Function {
  std::string name;
  size_t first_line = 0;  // Of the signature.
  size_t last_line = 0;   // Of the closing brace.
};

// The functions defined in `source`, in order.
std::vector<Function> FunctionsOf(const Source& source);

// A type that is declared with `class`: values are structs, and may have as many members as they
// have to say.
struct Class {
  std::string name;  // "Outer::Inner" for a nested one
  size_t line = 0;
  size_t functions = 0;  // declared, also constructors; not what is deleted
  size_t members = 0;    // that each object has
};

// The classes defined in `source`, in the order of their ends.
std::vector<Class> ClassesOf(const Source& source);

// Classes of the product with more than kClassFunctionsMax functions or kClassMembersMax members.
// `larger`: those that have more, a line each, "PATH CLASS FUNCTIONS MEMBERS"; the numbers may only
// shrink.
std::vector<Finding> CheckClassSizes(const std::vector<Source>& tree, const Source& larger);

std::vector<Finding> CheckFunctionLengths(const Source& source);
std::vector<Finding> CheckFileLength(const Source& source);

}  // namespace muster::tidy
