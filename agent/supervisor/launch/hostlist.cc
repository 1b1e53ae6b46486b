#include "agent/supervisor/launch/hostlist.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace muster::agent {
namespace {

// More digits would not fit the number; such a name is written as it is.
constexpr std::size_t kDigitsMax = 9;

// The hosts of one prefix and, for zero-padded numbers, one width.
struct Group {
  std::string prefix;
  std::size_t width = 0;  // of zero-padded numbers; 0: not padded
  std::vector<std::uint32_t> numbers;
  bool numbered = false;
};

Group GroupOf(const std::string& name) {
  const std::size_t last = name.find_last_not_of("0123456789");
  const std::size_t begin = last == std::string::npos ? 0 : last + 1;
  const std::string digits = name.substr(begin);
  Group group;
  group.prefix = name;
  if (!digits.empty() && digits.size() <= kDigitsMax) {
    group.prefix = name.substr(0, begin);
    group.width = digits.size() > 1 && digits[0] == '0' ? digits.size() : 0;
    group.numbers.push_back(static_cast<std::uint32_t>(std::stoul(digits)));
    group.numbered = true;
  }
  return group;
}

std::string Padded(std::uint32_t number, std::size_t width) {
  const std::string text = absl::StrCat(number);
  return text.size() < width ? std::string(width - text.size(), '0') + text : text;
}

std::string TextOf(const Group& group) {
  if (!group.numbered) {
    return group.prefix;
  }
  if (group.numbers.size() == 1) {
    return group.prefix + Padded(group.numbers.front(), group.width);
  }
  std::vector<std::string> ranges;
  for (std::size_t i = 0; i < group.numbers.size();) {
    std::size_t last = i;
    while (last + 1 < group.numbers.size() && group.numbers[last + 1] == group.numbers[last] + 1) {
      ++last;
    }
    std::string range = Padded(group.numbers[i], group.width);
    if (last > i) {
      absl::StrAppend(&range, "-", Padded(group.numbers[last], group.width));
    }
    ranges.push_back(std::move(range));
    i = last + 1;
  }
  return absl::StrCat(group.prefix, "[", absl::StrJoin(ranges, ","), "]");
}

// A padded number joins a group of its width; one that needs no padding joins if it has as many
// digits.
bool Joins(const Group& group, const Group& name) {
  if (!group.numbered || !name.numbered || group.prefix != name.prefix) {
    return false;
  }
  if (group.width == name.width) {
    return true;
  }
  return name.width == 0 && absl::StrCat(name.numbers.front()).size() == group.width;
}

}  // namespace

std::string CompressHostlist(const std::vector<std::string>& names) {
  std::vector<Group> groups;
  for (const std::string& name : names) {
    Group one = GroupOf(name);
    const auto group = std::find_if(groups.begin(), groups.end(),
                                    [&](const Group& known) { return Joins(known, one); });
    if (group == groups.end()) {
      groups.push_back(std::move(one));
    } else {
      group->numbers.push_back(one.numbers.front());
    }
  }
  std::vector<std::string> texts;
  texts.reserve(groups.size());
  for (const Group& group : groups) {
    texts.push_back(TextOf(group));
  }
  return absl::StrJoin(texts, ",");
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

}  // namespace muster::agent
