#pragma once

// A tree of lines, drawn with box characters, or with ASCII where the locale has no UTF-8.
//
// Invariants: one line for each node of the tree; children come in order below their parent.

#include <string>
#include <vector>

#include "cli/page/style.h"

namespace muster::cli {

struct Tree {
  std::string text;  // printable; may be painted
  std::vector<Tree> children;
};

// The lines, the root's first, each after `indent`.
std::string PrintTree(const Tree& tree, const Style& style, const std::string& indent = "");

}  // namespace muster::cli
