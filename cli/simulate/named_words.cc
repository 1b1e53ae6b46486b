#include "cli/simulate/named_words.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "cli/parse/number.h"
#include "scheduler/base/text/duration_text.h"
#include "scheduler/base/text/words.h"

namespace muster::cli {

absl::StatusOr<Words> ReadWords(const std::string& text, const std::vector<std::string>& known) {
  Words words;
  for (const std::string& piece : std::vector<std::string>(absl::StrSplit(text, ','))) {
    const std::pair<std::string, std::string> word = absl::StrSplit(piece, absl::MaxSplits('=', 1));
    if (std::find(known.begin(), known.end(), word.first) == known.end() || word.second.empty()) {
      std::string names;
      for (const std::string& name : known) {
        absl::StrAppend(&names, names.empty() ? "" : ", ", name);
      }
      return absl::InvalidArgumentError(
          absl::StrCat(Quote(piece), " is not NAME=VALUE with one of the names ", names));
    }
    if (!words.insert(word).second) {
      return absl::InvalidArgumentError(absl::StrCat(word.first, " is there twice: say it once"));
    }
  }
  return words;
}

absl::StatusOr<std::int64_t> SecondsOf(const Words& words, const std::string& name,
                                       std::int64_t otherwise) {
  const auto found = words.find(name);
  if (found == words.end()) {
    return otherwise;
  }
  const absl::StatusOr<std::chrono::milliseconds> duration = ParseDuration(found->second);
  if (!duration.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": ", std::string(duration.status().message())));
  }
  return std::chrono::ceil<std::chrono::seconds>(*duration).count();
}

absl::StatusOr<std::uint32_t> NumberOf(const Words& words, const std::string& name,
                                       std::uint32_t most, std::uint32_t otherwise) {
  const auto found = words.find(name);
  if (found == words.end()) {
    return otherwise;
  }
  const absl::StatusOr<std::uint32_t> number = ParseCount(found->second, most);
  if (!number.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": ", Quote(found->second), " is not a whole number from 0 to ", most));
  }
  return *number;
}

}  // namespace muster::cli
