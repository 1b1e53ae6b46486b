#include "cli/page/hostlist.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace muster::cli {
namespace {

// More digits than this do not fit a number: such a name stays as it is.
constexpr std::size_t kDigitsMax = 18;

// Names that share everything but their last number.
struct Group {
  std::string prefix;
  int digits = 0;      // 0: numbers without zeros in front
  bool plain = false;  // no number at all
  std::vector<std::uint64_t> numbers;
};

Group Split(const std::string& name) {
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

// True when `number`, which has no zeros in front, is as wide as the padded ones of `group`.
bool Fits(const Group& group, const Group& one) {
  if (group.plain || one.plain || group.prefix != one.prefix) {
    return false;
  }
  return group.digits == one.digits ||
         (one.digits == 0 &&
          absl::StrCat(one.numbers[0]).size() == static_cast<std::size_t>(group.digits));
}

}  // namespace

std::string NumberList(std::vector<std::uint64_t> numbers, int digits) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
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

std::string Hostlist(const std::vector<std::string>& names) {
  std::vector<Group> groups;
  for (const std::string& name : names) {
    Group one = Split(name);
    const auto group = std::find_if(groups.begin(), groups.end(), [&one](const Group& candidate) {
      return Fits(candidate, one);
    });
    if (group == groups.end()) {
      groups.push_back(std::move(one));
    } else {
      group->numbers.push_back(one.numbers[0]);
    }
  }
  std::string list;
  for (const Group& group : groups) {
    const std::string numbers = NumberList(group.numbers, group.digits);
    const bool several = numbers.find_first_of(",-") != std::string::npos;
    absl::StrAppend(&list, list.empty() ? "" : ",", group.prefix,
                    several ? absl::StrCat("[", numbers, "]") : numbers);
  }
  return list;
}

}  // namespace muster::cli
