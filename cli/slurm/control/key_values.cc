#include "cli/slurm/control/key_values.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace muster::cli::slurm {

absl::StatusOr<KeyValues> ReadKeyValues(const std::vector<std::string>& words) {
  KeyValues pairs;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::size_t equals = words[i].find('=');
    const std::string key = absl::AsciiStrToLower(words[i].substr(0, equals));
    if (equals == std::string::npos && i == 0 && i + 1 < words.size() && key == "job") {
      pairs.push_back({"jobid", words[++i], "JobId"});
    } else if (key == "resetaccruetime") {
      pairs.push_back({key, "", words[i]});
    } else if (equals == std::string::npos || equals == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("scontrol: error: Invalid input: ", words[i], "  Request aborted"));
    } else {
      pairs.push_back({key, words[i].substr(equals + 1), words[i].substr(0, equals)});
    }
  }
  return pairs;
}

bool HasKey(const KeyValues& pairs, const std::string& key) {
  return std::any_of(pairs.begin(), pairs.end(),
                     [&key](const KeyValue& pair) { return pair.key == key; });
}

std::string ValueOf(const KeyValues& pairs, const std::string& key) {
  const auto found = std::find_if(pairs.begin(), pairs.end(),
                                  [&key](const KeyValue& pair) { return pair.key == key; });
  return found == pairs.end() ? "" : found->value;
}

}  // namespace muster::cli::slurm
