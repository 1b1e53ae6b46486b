#pragma once

// What holds for the tree as a whole: every header introduces itself, every source is built, names
// say something, every folder has its page, and nothing is left half done or tied to one machine.

#include <set>
#include <string>
#include <vector>

#include "tests/tidy/source.h"

namespace muster::tidy {

inline constexpr size_t kReadmeLinesMax = 150;
inline constexpr size_t kFolderSourcesMax = 25;
inline constexpr size_t kRoomSourcesMin = 2;
inline constexpr size_t kPageLinesMax = 60;
inline constexpr size_t kPageWordsMax = 600;

// A header starts with #pragma once and a comment: purpose and invariants, and what it promises
// about threads where not all of it is safe from any thread (prose/promises.h).
std::vector<Finding> CheckHeaderOpening(const Source& source);

// Marks of unfinished work, in any text.
std::vector<Finding> CheckLeftovers(const Source& source);

// Absolute paths of the machine somebody worked on.
std::vector<Finding> CheckWorkspacePaths(const Source& source);

// Folder and file names that say nothing.
std::vector<Finding> CheckNames(const Source& source);

// Sources that no CMakeLists.txt lists, listed sources that do not exist, lists out of order, and
// CMakeLists.txt files that no other adds.
std::vector<Finding> CheckBuildLists(const std::vector<Source>& tree);

// Types whose qualified name is defined twice in product code (one-definition rule).
std::vector<Finding> CheckTypeNames(const std::vector<Source>& tree);

// A folder holds at most kFolderSourcesMax source files.
std::vector<Finding> CheckFolderSizes(const std::vector<Source>& tree);

// Every top-level folder that holds code has a README.md of bounded length.
std::vector<Finding> CheckReadmes(const std::vector<Source>& tree);

// A room is a folder of the product, below the top level, with kRoomSourcesMin C++ or CUDA sources
// or more. It has a short README.md with a table whose rows begin with a unit, "| `unit` |": each
// unit of the room (the files of one name, whatever their endings) once, and nothing else.
// `without`: the rooms that have no page yet; the list may only shrink.
std::vector<Finding> CheckRoomPages(const std::vector<Source>& tree,
                                    const std::set<std::string>& without);

}  // namespace muster::tidy
