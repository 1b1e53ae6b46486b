#pragma once

// The first word of a verb that has several commands: `muster keys rotate`.
//
// Invariant: the refusal names every command of the table, in its order.

#include <algorithm>
#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "scheduler/base/text/words.h"

namespace muster::cli {

// The entry of `commands`, whose elements have a `name`, that is called `word`; InvalidArgument,
// one line, when there is none.
template <class Commands>
absl::StatusOr<const typename Commands::value_type*> FindSubcommand(const Commands& commands,
                                                                    const std::string& verb,
                                                                    const std::string& word) {
  const auto found = std::find_if(commands.begin(), commands.end(),
                                  [&word](const auto& each) { return word == each.name; });
  if (found != commands.end()) {
    return &*found;
  }
  std::string names;
  for (std::size_t i = 0; i < commands.size(); ++i) {
    absl::StrAppend(&names,
                    i == 0                     ? ""
                    : i + 1 == commands.size() ? " or "
                                               : ", ",
                    commands[i].name);
  }
  return absl::InvalidArgumentError(
      absl::StrCat(Quote(word), " is not a ", verb, " command: use ", names));
}

}  // namespace muster::cli
