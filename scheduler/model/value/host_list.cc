#include "scheduler/model/value/host_list.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"

namespace muster {
namespace {

constexpr std::size_t kHostBytesMax = 255;
constexpr std::uint64_t kNumberMax = 999'999'999'999'999'999;  // as cli/page/hostlist
constexpr std::size_t kBracketsMax = 4;

absl::Status Bad() {
  return absl::InvalidArgumentError("");
}

absl::Status TooMany() {
  return absl::ResourceExhaustedError("");
}

bool IsNameCharacter(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' ||
         c == '_' || c == '-';
}

// Digits alone, at most kNumberMax.
std::optional<std::uint64_t> Number(std::string_view text) {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  const bool whole = !text.empty() && error == std::errc() && stop == end && value <= kNumberMax;
  return whole ? std::optional(value) : std::nullopt;
}

// The numbers of "3-5,07" as they are written, in order.
absl::StatusOr<std::vector<std::string>> ParseNumbers(std::string_view text) {
  std::vector<std::string> numbers;
  for (bool more = true; more;) {
    const std::size_t comma = text.find(',');
    const std::string_view range = text.substr(0, comma);
    const std::size_t dash = range.find('-');
    const std::string_view first = range.substr(0, dash);
    const std::string_view last = dash == std::string_view::npos ? first : range.substr(dash + 1);
    const std::optional<std::uint64_t> low = Number(first);
    const std::optional<std::uint64_t> high = Number(last);
    if (!low.has_value() || !high.has_value() || *high < *low) {
      return Bad();
    }
    if (*high - *low >= kHostsMax - numbers.size()) {
      return TooMany();
    }
    for (std::uint64_t number = *low; number <= *high; ++number) {
      const std::string digits = absl::StrCat(number);
      numbers.push_back(std::string(first.size() - std::min(first.size(), digits.size()), '0') +
                        digits);
    }
    more = comma != std::string_view::npos;
    text = more ? text.substr(comma + 1) : std::string_view();
  }
  return numbers;
}

// One name with its brackets, as all the names that it stands for.
absl::StatusOr<std::vector<std::string>> Expand(std::string_view text) {
  std::vector<std::string> names = {""};
  std::size_t brackets = 0;
  while (!text.empty()) {
    std::vector<std::string> pieces;
    if (text.front() == '[') {
      const std::size_t end = text.find(']');
      if (end == std::string_view::npos || ++brackets > kBracketsMax) {
        return Bad();
      }
      ASSIGN_OR_RETURN(pieces, ParseNumbers(text.substr(1, end - 1)));
      text.remove_prefix(end + 1);
    } else {
      const std::string_view plain = text.substr(0, text.find('['));
      if (!std::all_of(plain.begin(), plain.end(), IsNameCharacter)) {
        return Bad();
      }
      pieces.emplace_back(plain);
      text.remove_prefix(plain.size());
    }
    if (pieces.size() > kHostsMax / names.size()) {
      return TooMany();
    }
    std::vector<std::string> longer;
    longer.reserve(names.size() * pieces.size());
    for (const std::string& name : names) {
      for (const std::string& piece : pieces) {
        longer.push_back(name + piece);
      }
    }
    names = std::move(longer);
  }
  const bool fits = std::all_of(names.begin(), names.end(), [](const std::string& name) {
    return !name.empty() && name.size() <= kHostBytesMax;
  });
  return fits ? absl::StatusOr<std::vector<std::string>>(std::move(names)) : Bad();
}

// The length of the first name: up to a comma outside brackets.
std::size_t FirstLength(std::string_view text) {
  bool inside = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    inside = text[i] == '[' || (inside && text[i] != ']');
    if (text[i] == ',' && !inside) {
      return i;
    }
  }
  return text.size();
}

}  // namespace

absl::StatusOr<std::vector<std::string>> ExpandHostlist(std::string_view text) {
  std::vector<std::string> names;
  for (bool more = true; more;) {
    const std::size_t length = FirstLength(text);
    ASSIGN_OR_RETURN(std::vector<std::string> some, Expand(text.substr(0, length)));
    if (names.size() + some.size() > kHostsMax) {
      return TooMany();
    }
    std::move(some.begin(), some.end(), std::back_inserter(names));
    more = length < text.size();
    text = more ? text.substr(length + 1) : std::string_view();
  }
  return names;
}

absl::StatusOr<std::vector<std::string>> NodeNames(const std::string& text) {
  absl::StatusOr<std::vector<std::string>> names = ExpandHostlist(text);
  if (!names.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "\"", absl::CHexEscape(text.substr(0, 80)),
        absl::IsResourceExhausted(names.status()) ? "\" names too many nodes: use at most 65536"
                                                  : "\" is not a list of nodes: write n1,n[3-5]"));
  }
  std::set<std::string> seen;
  names->erase(std::remove_if(names->begin(), names->end(),
                              [&](const std::string& name) { return !seen.insert(name).second; }),
               names->end());
  return names;
}

}  // namespace muster
