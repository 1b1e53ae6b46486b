#include "scheduler/base/text/host_list.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"

namespace muster {
namespace {

constexpr std::size_t kHostBytesMax = 255;
// More digits than these do not fit a number: a name with more is written as it is.
constexpr std::size_t kDigitsMax = 18;
constexpr std::uint64_t kNumberMax = 999'999'999'999'999'999;
constexpr std::size_t kBracketsMax = 4;

absl::Status Bad() {
  return absl::InvalidArgumentError("");
}

absl::Status TooMany() {
  return absl::ResourceExhaustedError("");
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

// Names that share everything but their last number.
struct HostGroup {
  std::string prefix;
  int digits = 0;      // 0: numbers without zeros in front
  bool plain = false;  // no number at all
  std::vector<std::uint64_t> numbers;
};

HostGroup GroupOf(const std::string& name) {
  const std::size_t last = name.find_last_not_of("0123456789");
  const std::size_t begin = last == std::string::npos ? 0 : last + 1;
  const std::string number = name.substr(begin);
  if (number.empty() || number.size() > kDigitsMax) {
    return {.prefix = name, .digits = 0, .plain = true, .numbers = {}};
  }
  const bool padded = number.size() > 1 && number[0] == '0';
  return {.prefix = name.substr(0, begin),
          .digits = padded ? static_cast<int>(number.size()) : 0,
          .plain = false,
          .numbers = {std::stoull(number)}};
}

// A padded number joins a group of its width; one without zeros in front joins when it is as wide.
bool Joins(const HostGroup& group, const HostGroup& one) {
  if (group.plain || one.plain || group.prefix != one.prefix) {
    return false;
  }
  return group.digits == one.digits ||
         (one.digits == 0 &&
          absl::StrCat(one.numbers[0]).size() == static_cast<std::size_t>(group.digits));
}

// "1,3-5", in the order of `numbers`.
std::string Runs(const std::vector<std::uint64_t>& numbers, int digits) {
  std::string list;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t end = i + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) {
      ++end;
    }
    absl::StrAppend(&list, list.empty() ? "" : ",", absl::StrFormat("%0*d", digits, numbers[i]));
    if (end - i > 1) {
      absl::StrAppend(&list, "-", absl::StrFormat("%0*d", digits, numbers[end - 1]));
    }
    i = end;
  }
  return list;
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

absl::StatusOr<std::vector<std::string>> NodeNames(std::string_view text) {
  absl::StatusOr<std::vector<std::string>> names = ExpandHostlist(text);
  if (absl::IsResourceExhausted(names.status())) {
    return absl::InvalidArgumentError(
        absl::StrCat(Quote(text), " names too many nodes: use at most ", kHostsMax));
  }
  if (!names.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(Quote(text), " is not a list of nodes: use names like n1,n[3-5,07]"));
  }
  std::set<std::string> seen;
  names->erase(std::remove_if(names->begin(), names->end(),
                              [&](const std::string& name) { return !seen.insert(name).second; }),
               names->end());
  return names;
}

std::string CompressHostlist(const std::vector<std::string>& names, HostOrder order) {
  std::vector<HostGroup> groups;
  for (const std::string& name : names) {
    HostGroup one = GroupOf(name);
    const auto group = std::find_if(groups.begin(), groups.end(),
                                    [&one](const HostGroup& known) { return Joins(known, one); });
    if (group == groups.end()) {
      groups.push_back(std::move(one));
    } else {
      group->numbers.push_back(one.numbers[0]);
    }
  }
  std::string list;
  for (const HostGroup& group : groups) {
    const std::string numbers = order == HostOrder::kSorted
                                    ? NumberList(group.numbers, group.digits)
                                    : Runs(group.numbers, group.digits);
    const bool several = numbers.find_first_of(",-") != std::string::npos;
    absl::StrAppend(&list, list.empty() ? "" : ",", group.prefix,
                    several ? absl::StrCat("[", numbers, "]") : numbers);
  }
  return list;
}

std::string NumberList(std::vector<std::uint64_t> numbers, int digits) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return Runs(numbers, digits);
}

std::string CompressCounts(const std::vector<std::uint32_t>& counts) {
  std::vector<std::string> runs;
  for (std::size_t i = 0; i < counts.size();) {
    std::size_t end = i;
    while (end < counts.size() && counts[end] == counts[i]) {
      ++end;
    }
    runs.push_back(end - i > 1 ? absl::StrCat(counts[i], "(x", end - i, ")")
                               : absl::StrCat(counts[i]));
    i = end;
  }
  return absl::StrJoin(runs, ",");
}

}  // namespace muster
