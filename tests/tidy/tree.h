#pragma once

// What holds for the tree as a whole: every header introduces itself, every source is built, names
// say something, every folder has its page, and nothing is left half done or tied to one machine.
//
// Thread promise: pure functions of their arguments.

#include <vector>

#include "tests/tidy/source.h"

namespace muster::tidy {

inline constexpr size_t kReadmeLinesMax = 150;
inline constexpr size_t kOpeningLinesMin = 3;

// A header starts with #pragma once and a paragraph: purpose, thread promise, invariants.
std::vector<Finding> CheckHeaderOpening(const Source& source);

// Marks of unfinished work, in any text.
std::vector<Finding> CheckLeftovers(const Source& source);

// Absolute paths of the machine somebody worked on.
std::vector<Finding> CheckWorkspacePaths(const Source& source);

// Folder and file names that say nothing.
std::vector<Finding> CheckNames(const Source& source);

// Sources that no CMakeLists.txt lists, listed sources that do not exist, and CMakeLists.txt files
// that no other adds.
std::vector<Finding> CheckBuildLists(const std::vector<Source>& tree);

// Every top-level folder that holds code has a README.md of bounded length.
std::vector<Finding> CheckReadmes(const std::vector<Source>& tree);

}  // namespace muster::tidy
