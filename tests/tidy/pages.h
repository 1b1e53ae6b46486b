#pragma once

// What holds for every page (README.md, CONTRIBUTING.md), whatever its folder: its lines, the paths
// that it, SECURITY.md and comments name, and the way to it from the pages above.
//
// Which folders need a page, how long it is and which units it names is tree.h's part.

#include <set>
#include <string>
#include <vector>

#include "tests/tidy/source.h"

namespace muster::tidy {

inline constexpr size_t kPageWidthMax = 120;

// No line of a page, tables and drawings included, has more than kPageWidthMax characters.
std::vector<Finding> CheckPageWidth(const Source& source);

// What a page names between backquotes, and what a comment of C++ or of a .proto names, exists if
// it is a path whose first part is the name of a folder: a file, a folder, or a unit (the path of a
// file without its ending), from the root or from any folder down. Not checked: captured files,
// endings that LoadTree does not read, quoted text in comments, and paths with a placeholder
// (`cli/cmd_VERB.cc`). `unread`: folders that hold only files that LoadTree does not read.
std::vector<Finding> CheckNamedPaths(const std::vector<Source>& tree,
                                     const std::set<std::string>& unread);

// A reader who looks for a room goes down from page to page. So each folder below the top level
// that has a page is named between backquotes by the page of a folder above it, by its path from
// the root or from any folder down to that page's own. What a page says its room may include does
// not count.
std::vector<Finding> CheckRoomsAreNamed(const std::vector<Source>& tree);

}  // namespace muster::tidy
