#include "cli/parse/request/switches.h"

#include "absl/strings/str_cat.h"
#include "cli/parse/number.h"
#include "scheduler/base/text/duration_text.h"
#include "scheduler/base/text/words.h"

namespace muster::cli {

absl::StatusOr<SwitchLimit> ParseSwitches(std::string_view text) {
  const std::size_t at = text.find('@');
  const absl::StatusOr<std::uint32_t> count = ParseCount(text.substr(0, at));
  const absl::StatusOr<Duration> wait = at == std::string_view::npos
                                            ? absl::StatusOr<Duration>(kSwitchesWait)
                                            : ParseTimeLimit(text.substr(at + 1));
  if (!count.ok() || !wait.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(Quote(text), " is not a number of leaf switches: use N or N@TIME, like 1@30"));
  }
  return SwitchLimit{*count, *wait};
}

}  // namespace muster::cli
