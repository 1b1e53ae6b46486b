#include "cli/parse/request/licenses.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "cli/parse/number.h"
#include "scheduler/base/text/words.h"

namespace muster::cli {
namespace {

constexpr std::size_t kNameBytesMax = 64;
constexpr std::size_t kLicensesMax = 256;

bool IsLicenseCharacter(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' ||
         c == '_' || c == '-';
}

}  // namespace

absl::StatusOr<std::vector<LicenseCount>> ParseLicenses(std::string_view text) {
  std::vector<LicenseCount> licenses;
  std::string_view rest = text;
  for (bool more = true; more;) {
    const std::size_t comma = rest.find(',');
    const std::string_view piece = rest.substr(0, comma);
    const std::size_t colon = piece.find(':');
    const std::string name(piece.substr(0, colon));
    const absl::StatusOr<std::uint32_t> count =
        colon == std::string_view::npos ? 1 : ParseCount(piece.substr(colon + 1));
    const bool twice = std::any_of(licenses.begin(), licenses.end(),
                                   [&name](const LicenseCount& one) { return one.name == name; });
    if (!count.ok() || twice || name.empty() || name.size() > kNameBytesMax ||
        licenses.size() == kLicensesMax ||
        !std::all_of(name.begin(), name.end(), IsLicenseCharacter)) {
      return absl::InvalidArgumentError(absl::StrCat(
          Quote(text), " is not a list of licences: use NAME:COUNT, each name once, like ansys:2"));
    }
    licenses.push_back({name, *count});
    more = comma != std::string_view::npos;
    rest = more ? rest.substr(comma + 1) : std::string_view();
  }
  return licenses;
}

}  // namespace muster::cli
