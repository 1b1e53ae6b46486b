#pragma once

// Options of the form name=value,name=value, as `muster simulate` has several.
//
// InvalidArgument is one line that quotes the text; the caller puts the option in front.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/frame/verb.h"

namespace muster::cli {

using Words = std::map<std::string, std::string>;

// "a=1,b=2" with these names only, each once.
absl::StatusOr<Words> ReadWords(const std::string& text, const std::vector<std::string>& known);
// Whole seconds, rounded up; `otherwise` when it is not there.
absl::StatusOr<std::int64_t> SecondsOf(const Words& words, const std::string& name,
                                       std::int64_t otherwise);
// A whole number up to `most`; `otherwise` when it is not there.
absl::StatusOr<std::uint32_t> NumberOf(const Words& words, const std::string& name,
                                       std::uint32_t most, std::uint32_t otherwise);

}  // namespace muster::cli
