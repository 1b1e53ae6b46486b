#include "cli/slurm/format/cell.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "cli/page/text.h"

namespace muster::cli::slurm {
namespace {

bool IsPlain(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
}

bool IsSeparator(char c) {
  return c > 0x20 && c < 0x7f && (c < '0' || c > '9') && (c < 'A' || c > 'Z') &&
         (c < 'a' || c > 'z');
}

}  // namespace

std::string Harmless(std::string_view text, std::string_view suffix) {
  if (!suffix.empty() && suffix[0] == '"') {
    const std::string quoted =
        absl::StrReplaceAll(std::string(text), {{"\\", "\\\\"}, {"\"", "\\\""}});
    return absl::StrReplaceAll(Printable(quoted), {{"\\x", "\\u00"}});
  }
  std::string safe = IsPlain(text) ? std::string(text) : Printable(text);
  if (suffix.empty() || !IsSeparator(suffix[0])) {
    return safe;
  }
  return absl::StrReplaceAll(safe, {{std::string(suffix.substr(0, 1)),
                                     absl::StrFormat("\\x%02x", static_cast<int>(suffix[0]))}});
}

std::string InSlot(std::string_view text, const Slot& slot) {
  if (slot.width == 0) {
    return std::string(text) + slot.suffix;
  }
  const std::string_view shown =
      IsPlain(text) ? text.substr(0, slot.width) : FirstColumns(text, slot.width);
  const std::string blanks(slot.width - DisplayWidth(shown), ' ');
  return slot.right ? blanks + std::string(shown) + slot.suffix
                    : std::string(shown) + blanks + slot.suffix;
}

}  // namespace muster::cli::slurm
