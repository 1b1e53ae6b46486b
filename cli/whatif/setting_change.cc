#include "cli/whatif/setting_change.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"

namespace muster::cli {
namespace {

constexpr std::size_t kNamesNear = 3;
constexpr std::size_t kLettersMax = 100;  // of a key; the distance takes their square

std::vector<std::string> SplitOutsideQuotes(const std::string& text) {
  std::vector<std::string> pieces(1);
  bool is_quoted = false;
  for (const char c : text) {
    is_quoted = is_quoted != (c == '"');
    if (c == ',' && !is_quoted) {
      pieces.emplace_back();
    } else {
      pieces.back().push_back(c);
    }
  }
  return pieces;
}

absl::StatusOr<SettingChange> ReadChange(const std::string& text) {
  const std::size_t equals = text.find('=');
  SettingChange change;
  if (equals != std::string::npos && equals > 0) {
    const char before = text[equals - 1];
    change.sign = before == '+' || before == '-' || before == '*' ? before : '=';
    change.key = std::string(
        absl::StripAsciiWhitespace(text.substr(0, equals - (change.sign != '=' ? 1 : 0))));
    change.value = std::string(absl::StripAsciiWhitespace(text.substr(equals + 1)));
  }
  if (change.key.empty()) {
    return absl::InvalidArgumentError("write KEY=VALUE, KEY+=N, KEY-=N or KEY*=N");
  }
  if (change.sign == '=') {
    return change;
  }
  const absl::StatusOr<std::uint64_t> by = ParseDigits(change.value, kChangeMax);
  if (!by.ok() || *by == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(Quote(change.value), " is not a whole number from 1 to ", kChangeMax));
  }
  change.by = static_cast<std::int64_t>(*by);
  return change;
}

std::size_t EditDistance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) {
    row[j] = j;
  }
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

}  // namespace

absl::StatusOr<std::vector<SettingChange>> ReadChanges(const std::string& text) {
  std::vector<SettingChange> changes;
  for (const std::string& piece : SplitOutsideQuotes(text)) {
    ASSIGN_OR_RETURN(SettingChange change, ReadChange(piece));
    changes.push_back(std::move(change));
  }
  return changes;
}

absl::StatusOr<std::int64_t> ChangedNumber(const SettingChange& change, std::int64_t number,
                                           std::int64_t max) {
  std::int64_t changed = change.by;
  const bool overflows =
      change.sign == '*' ? __builtin_mul_overflow(number, change.by, &changed)
      : change.sign == '+'
          ? __builtin_add_overflow(number, change.by, &changed)
          : change.sign == '-' && __builtin_sub_overflow(number, change.by, &changed);
  if (overflows || changed < 1 || changed > max) {
    return absl::InvalidArgumentError(absl::StrCat("gives none, or more than ", max));
  }
  return changed;
}

std::string NearestNames(const std::string& key, const std::set<std::string>& known) {
  const std::string written = key.substr(0, kLettersMax);
  std::vector<std::pair<std::size_t, std::string>> names;
  names.reserve(known.size());
  for (const std::string& name : known) {
    names.emplace_back(EditDistance(written, name), name);
  }
  std::sort(names.begin(), names.end());
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kNamesNear); ++i) {
    absl::StrAppend(&text, i == 0 ? "" : ", ", names[i].second);
  }
  return text;
}

}  // namespace muster::cli
