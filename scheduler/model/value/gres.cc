#include "scheduler/model/value/gres.h"

#include <algorithm>
#include <limits>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/size_text.h"
#include "scheduler/base/text/words.h"

namespace muster {
namespace {

constexpr std::size_t kNameBytesMax = 64;
constexpr std::size_t kListMax = 64;
constexpr std::uint64_t kCountMax = std::numeric_limits<std::uint32_t>::max();

GresList::iterator PlaceOf(GresList& list, const std::string& name) {
  return std::lower_bound(
      list.begin(), list.end(), name,
      [](const GresCount& gres, const std::string& other) { return gres.name < other; });
}

absl::StatusOr<GresCount> ParseOne(const std::string& item) {
  const std::size_t colon = item.find(':');
  GresCount gres{item.substr(0, colon), 1};
  if (!IsGresName(gres.name)) {
    return BadText(item, "names nothing countable: write NAME:COUNT");
  }
  if (colon == std::string::npos) {
    return gres;
  }
  std::string digits = item.substr(colon + 1);
  unsigned shift = 0;
  const char unit =
      digits.empty() ? '\0' : absl::ascii_toupper(static_cast<unsigned char>(digits.back()));
  if (unit == 'K' || unit == 'M' || unit == 'G') {
    shift = unit == 'K' ? 10 : unit == 'M' ? 20 : 30;
    digits.pop_back();
  }
  const bool is_number = !digits.empty() && std::all_of(digits.begin(), digits.end(), [](char c) {
    return absl::ascii_isdigit(static_cast<unsigned char>(c));
  });
  if (!is_number || !absl::SimpleAtoi(digits, &gres.count) || gres.count == 0 ||
      gres.count > (kCountMax >> shift)) {
    return BadText(item, "has no count from 1 to 4294967295: write NAME:COUNT");
  }
  gres.count <<= shift;
  return gres;
}

}  // namespace

std::string HugePagesName(std::uint64_t page_bytes) {
  return absl::StrCat(kHugePages, SizeText(page_bytes));
}

bool IsHugePages(const GresCount& gres) {
  return absl::StartsWith(gres.name, kHugePages);
}

std::uint64_t CountOf(const GresList& list, const std::string& name) {
  const auto found = std::find_if(list.begin(), list.end(),
                                  [&name](const GresCount& gres) { return gres.name == name; });
  return found == list.end() ? 0 : found->count;
}

void AddTo(GresList& list, const GresList& more) {
  for (const GresCount& gres : more) {
    const auto at = PlaceOf(list, gres.name);
    if (at != list.end() && at->name == gres.name) {
      at->count += gres.count;
    } else {
      list.insert(at, gres);
    }
  }
}

void TakeFrom(GresList& list, const GresList& less) {
  for (const GresCount& gres : less) {
    const auto at = PlaceOf(list, gres.name);
    if (at == list.end() || at->name != gres.name) {
      continue;
    }
    at->count -= std::min(at->count, gres.count);
    if (at->count == 0) {
      list.erase(at);
    }
  }
}

std::string ToText(const GresList& list) {
  std::string text;
  for (const GresCount& gres : list) {
    absl::StrAppend(&text, text.empty() ? "" : ",", gres.name, ":", gres.count);
  }
  return text;
}

bool IsGresName(const std::string& name) {
  return !name.empty() && name.size() <= kNameBytesMax && !absl::EqualsIgnoreCase(name, "gpu") &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '_' ||
                  c == '-';
         });
}

absl::StatusOr<GresList> ParseGresList(const std::string& text) {
  GresList list;
  const std::vector<std::string> items = absl::StrSplit(text, ',', absl::SkipEmpty());
  if (items.size() > kListMax) {
    return absl::InvalidArgumentError(absl::StrCat("more than ", kListMax, " countable things"));
  }
  for (const std::string& item : items) {
    ASSIGN_OR_RETURN(GresCount gres, ParseOne(item));
    const auto at = PlaceOf(list, gres.name);
    if (at != list.end() && at->name == gres.name) {
      return BadText(item, "is named twice; name it once");
    }
    list.insert(at, std::move(gres));
  }
  return list;
}

}  // namespace muster
