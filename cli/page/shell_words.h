#pragma once

// A command as a line that a shell would read back as the same words.
//
// Pure. Invariants: words without special characters stand as they are; others stand in single
// quotes.

#include <string>
#include <vector>

namespace muster::cli {

std::string ShellWords(const std::vector<std::string>& words);

}  // namespace muster::cli
