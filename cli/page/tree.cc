#include "cli/page/tree.h"

#include "absl/strings/str_cat.h"

namespace muster::cli {
namespace {

struct Strokes {
  const char* branch;
  const char* last;
  const char* bar;
};

constexpr Strokes kBoxes = {"├─ ", "└─ ", "│  "};
constexpr Strokes kAscii = {"|- ", "`- ", "|  "};

void AddChildren(const Tree& tree, const Strokes& strokes, const std::string& indent,
                 std::string& page) {
  for (const Tree& child : tree.children) {
    const bool last = &child == &tree.children.back();
    absl::StrAppend(&page, indent, last ? strokes.last : strokes.branch, child.text, "\n");
    AddChildren(child, strokes, indent + (last ? "   " : strokes.bar), page);
  }
}

}  // namespace

std::string PrintTree(const Tree& tree, const Style& style, const std::string& indent) {
  std::string page = absl::StrCat(indent, tree.text, "\n");
  AddChildren(tree, style.utf8 ? kBoxes : kAscii, indent, page);
  return page;
}

}  // namespace muster::cli
