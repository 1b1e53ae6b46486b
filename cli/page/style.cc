#include "cli/page/style.h"

#include "absl/strings/str_cat.h"

namespace muster::cli {
namespace {

const char* Escape(Paint paint) {
  switch (paint) {
    case Paint::kPlain:
      return "";
    case Paint::kBold:
      return "\x1b[1m";
    case Paint::kFaint:
      return "\x1b[2m";
    case Paint::kGreen:
      return "\x1b[32m";
    case Paint::kYellow:
      return "\x1b[33m";
    case Paint::kRed:
      return "\x1b[31m";
  }
  return "";
}

}  // namespace

std::string Painted(const std::string& text, Paint paint, const Style& style) {
  if (!style.colour || paint == Paint::kPlain || text.empty()) {
    return text;
  }
  return absl::StrCat(Escape(paint), text, "\x1b[0m");
}

}  // namespace muster::cli
